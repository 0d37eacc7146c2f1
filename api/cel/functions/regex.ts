// Regular expressions in RE2 syntax: time linear in the text, whatever the pattern.
import type { RE2JS } from 're2js'
import { re2 } from '../../late-re2.ts'
import { celError } from '../engine/errors.ts'
import { checkLength, type Frame } from '../engine/frame.ts'
import { type CelFunction, type FixedCall, method, textArg } from '../engine/function-table.ts'

/** Patterns that are not constant are kept, the oldest leaving first: they may come from requests. */
const CACHE_ENTRIES_MAX = 64
const DYNAMIC_PATTERN_LENGTH_MAX = 256

/** Compiling takes some microseconds for each instruction; a step stands for some tens of nanoseconds. */
const STEPS_PER_INSTRUCTION = 50

/** Programs up to this size run at a constant cost for each character; larger ones may fall back to a slower engine. */
const SMALL_PROGRAM_MAX = 256
const STEPS_PER_MATCH = 8

const cache = new Map<string, RE2JS>()

/** @throws {CelError} when the text is not a valid pattern. */
function compilePattern(pattern: string): RE2JS {
  const library = re2()
  try {
    return library.RE2JS.compile(pattern)
  } catch (error) {
    throw celError(error instanceof Error ? error.message : 'invalid regular expression')
  }
}

function cachedPattern(pattern: string, frame: Frame): RE2JS {
  const known = cache.get(pattern)
  if (known !== undefined) return known
  if (pattern.length > DYNAMIC_PATTERN_LENGTH_MAX) throw celError('regular expression is too long')
  const compiled = compilePattern(pattern)
  frame.charge(compiled.programSize() * STEPS_PER_INSTRUCTION)
  if (cache.size >= CACHE_ENTRIES_MAX) cache.delete(cache.keys().next().value ?? '')
  cache.set(pattern, compiled)
  return compiled
}

/** A step for about four characters of a small program, many for each character of a large one. */
function chargeMatch(pattern: RE2JS, text: string, frame: Frame): void {
  const size = pattern.programSize()
  frame.charge(STEPS_PER_MATCH + (size <= SMALL_PROGRAM_MAX ? text.length >>> 2 : text.length * (size >>> 4)))
}

function isMatch(pattern: RE2JS, text: unknown, frame: Frame): boolean {
  const subject = textArg(text, 'matches')
  chargeMatch(pattern, subject, frame)
  return pattern.test(subject)
}

function replaceFirst(pattern: RE2JS, text: unknown, replacement: unknown, frame: Frame): string {
  const subject = textArg(text, 'regexReplace')
  const template = textArg(replacement, 'regexReplace')
  chargeMatch(pattern, subject, frame)
  const matcher = pattern.matcher(subject)
  if (!matcher.find()) return subject
  const names = pattern.namedGroups()
  const inserted = template.replaceAll(/\$(?:(\$)|(\w+)|\{(\w+)\})/g, (_all, dollar, plain, braced) => {
    if (dollar !== undefined) return '$'
    const name = String(plain ?? braced)
    if (/^\d{1,4}$/.test(name)) return Number(name) <= matcher.groupCount() ? (matcher.group(Number(name)) ?? '') : ''
    return Object.hasOwn(names, name) ? (matcher.group(name) ?? '') : ''
  })
  checkLength(subject.length + inserted.length)
  return subject.slice(0, matcher.start()) + inserted + subject.slice(matcher.end())
}

function prepareMatches(argument: string): FixedCall {
  const pattern = compilePattern(argument)
  return (text, _pattern, _c, _d, frame) => isMatch(pattern, text, frame)
}

function prepareReplace(argument: string): FixedCall {
  const pattern = compilePattern(argument)
  return (text, _pattern, replacement, _d, frame) => replaceFirst(pattern, text, replacement, frame)
}

export const REGEX_FUNCTIONS: readonly CelFunction[] = [
  method(
    'matches',
    2,
    (text, pattern, _c, _d, frame) => isMatch(cachedPattern(textArg(pattern, 'matches'), frame), text, frame),
    { prepare: prepareMatches },
  ),
  method(
    'regexReplace',
    3,
    (text, pattern, replacement, _d, frame) =>
      replaceFirst(cachedPattern(textArg(pattern, 'regexReplace'), frame), text, replacement, frame),
    { prepare: prepareReplace },
  ),
]
