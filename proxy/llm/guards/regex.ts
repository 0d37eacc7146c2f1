// The regex guard: built-in patterns and expressions in the syntax of RE2, all on the same text; overlapping matches
// are one mask (data-plane supplement section 3.6). Matching takes time linear in the text and is bounded; a guard that
// reaches a bound has failed, and rejects the request.
import { setImmediate as turn } from 'node:timers/promises'
import type { RE2JS } from 're2js'
import { re2 } from '#api/late-re2.ts'
import type { GuardRegex } from '#api/ir/types.gen.ts'
import { ServiceError } from '../../chain/service.ts'
import { BUILTIN_PATTERNS } from './builtin-patterns.ts'
import { type Guard, type GuardPhase, type GuardVerdict, PASS } from './guard.ts'
import type { Match, Search } from './search.ts'

/** Processor time of one check. */
const CHECK_MS_MAX = 5000
/** Then other requests of the worker get a turn. */
const SLICE_MS = 5
/** A search cannot pause between two matches: characters times the cost of the program for each of them. */
const SEARCH_STEPS_MAX = 2 ** 24
/** Programs up to this size have a constant cost for each character; larger ones may use a slower engine. */
const SMALL_PROGRAM_MAX = 256
const SLOW_SIZE_PER_STEP = 16
/** Of one check; more than any real conversation has. */
const MATCHES_MAX = 100_000
const MASK = '<masked>'

interface Pattern {
  /** For logs: never the text, which may be a secret itself. */
  readonly name: string
  readonly mask: string
  readonly search: Search
}

/** An invalid expression makes a guard that always fails: the status of the policy reports which. */
export function regexGuard({ patterns = [], builtins = [], action }: GuardRegex, phase: GuardPhase): Guard {
  const rejects = action === 'Reject' && phase === 'Request'
  const searches: readonly Pattern[] = [
    ...patterns.map((source, index) => ({ name: `matches[${index}]`, mask: MASK, search: expressionSearch(source) })),
    ...builtins.map((name) => ({ name, ...BUILTIN_PATTERNS[name] })),
  ]
  return {
    name: 'regex',
    failureMode: 'FailClosed',
    async check({ spans }) {
      const found = new Found()
      const texts: string[] = []
      for (const { text } of spans) {
        texts.push(masked(text, await matchesIn(text, searches, found)))
        if (rejects && found.names.size > 0) break
      }
      return verdictOf(texts, found, rejects)
    },
  }
}

function verdictOf(texts: readonly string[], { names }: Found, rejects: boolean): GuardVerdict {
  if (names.size === 0) return PASS
  return rejects ? { kind: 'reject', matched: [...names] } : { kind: 'mask', texts, matched: [...names] }
}

function expressionSearch(source: string): Search {
  const compiled = compile(source)
  return function* search(text) {
    if (compiled === undefined) throw new ServiceError('an expression of the guard is not valid')
    const size = compiled.programSize()
    const steps = size <= SMALL_PROGRAM_MAX ? text.length : text.length * (size / SLOW_SIZE_PER_STEP)
    if (steps > SEARCH_STEPS_MAX) throw new ServiceError('the text is too long for an expression of the guard')
    const matcher = compiled.matcher(text)
    while (matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()]
      yield start === end ? undefined : { start, end }
    }
  }
}

function compile(source: string): RE2JS | undefined {
  const library = re2()
  try {
    return library.RE2JS.compile(source)
  } catch {
    return undefined
  }
}

interface NamedMatch extends Match {
  readonly mask: string
}

/** What one check has found and used. */
class Found {
  readonly names = new Set<string>()
  #matches = 0
  #usedMs = 0
  #sliceStart = performance.now()
  #processor = process.threadCpuUsage()

  /** @throws {ServiceError} */
  count(): void {
    if (++this.#matches > MATCHES_MAX) throw new ServiceError(`the texts have more than ${MATCHES_MAX} matches`)
  }

  /** A promise if it is the turn of others. @throws {ServiceError} */
  rest(): Promise<void> | undefined {
    const sliceMs = performance.now() - this.#sliceStart
    if (sliceMs < SLICE_MS) return undefined
    // Not the time that passed: other threads and processes may have had the processor.
    const { user, system } = process.threadCpuUsage(this.#processor)
    this.#usedMs += (user + system) / 1000
    if (this.#usedMs > CHECK_MS_MAX) throw new ServiceError(`the check took longer than ${CHECK_MS_MAX} ms`)
    return turn().then(() => {
      this.#sliceStart = performance.now()
      this.#processor = process.threadCpuUsage()
    })
  }
}

async function matchesIn(text: string, patterns: readonly Pattern[], found: Found): Promise<readonly NamedMatch[]> {
  const matches: NamedMatch[] = []
  for (const { name, mask, search } of patterns) {
    for (const match of search(text)) {
      const pause = found.rest()
      if (pause !== undefined) await pause
      if (match === undefined) continue
      found.count()
      found.names.add(name)
      matches.push({ ...match, mask })
    }
    const pause = found.rest()
    if (pause !== undefined) await pause
  }
  return matches
}

/** Overlapping matches get the mask of the first of them. */
function masked(text: string, matches: readonly NamedMatch[]): string {
  if (matches.length === 0) return text
  let out = ''
  let end = 0
  // The sort keeps the order of patterns for matches with the same start.
  for (const match of matches.toSorted((a, b) => a.start - b.start)) {
    if (match.start < end) {
      end = Math.max(end, match.end)
      continue
    }
    out += text.slice(end, match.start) + match.mask
    end = match.end
  }
  return out + text.slice(end)
}
