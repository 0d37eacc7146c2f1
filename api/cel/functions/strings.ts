// Functions on strings. Positions and sizes count code points, as the language has it, not UTF-16 units.
import { isEqual } from '../engine/equality.ts'
import { celError } from '../engine/errors.ts'
import { checkElements, checkLength, type Frame } from '../engine/frame.ts'
import { type CelFunction, intArg, listArg, method, textArg } from '../engine/function-table.ts'
import { chargeCurrent } from '../engine/meter.ts'

/** Unicode White_Space; `\s` also matches the byte order mark, which is not white space. */
const EDGE_SPACE =
  /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g

const SURROGATE = /[\ud800-\udfff]/

/** The text as a sequence of code points; the string itself when each is one unit. */
function codePoints(text: string): string | readonly string[] {
  if (!SURROGATE.test(text)) return text
  chargeCurrent(text.length >>> 2)
  return Array.from(text)
}

export function codePointCount(text: string): number {
  return codePoints(text).length
}

function sliceOf(points: string | readonly string[], start: number, end: number): string {
  const part = points.slice(start, end)
  return typeof part === 'string' ? part : part.join('')
}

/** A position from 0 to `max`. @throws {CelError} */
function position(value: unknown, max: number, name: string): number {
  const at = intArg(value, name)
  if (at < 0n || at > BigInt(max)) throw celError(`${name}(): index out of range: ${at}`)
  return Number(at)
}

function charAt(text: unknown, index: unknown): string {
  const points = codePoints(textArg(text, 'charAt'))
  const at = position(index, points.length, 'charAt')
  return sliceOf(points, at, at + 1)
}

function indexOf(text: unknown, searched: unknown, from: unknown): bigint {
  const subject = textArg(text, 'indexOf')
  const points = codePoints(subject)
  const start = from === undefined ? 0 : position(from, points.length, 'indexOf')
  const unit = typeof points === 'string' ? start : sliceOf(points, 0, start).length
  return toPointIndex(subject, subject.indexOf(textArg(searched, 'indexOf'), unit))
}

function lastIndexOf(text: unknown, searched: unknown, from: unknown): bigint {
  const subject = textArg(text, 'lastIndexOf')
  const points = codePoints(subject)
  const start = from === undefined ? points.length : position(from, points.length, 'lastIndexOf')
  const unit = typeof points === 'string' ? start : sliceOf(points, 0, start).length
  return toPointIndex(subject, subject.lastIndexOf(textArg(searched, 'lastIndexOf'), unit))
}

function toPointIndex(text: string, unit: number): bigint {
  return BigInt(unit <= 0 ? unit : codePointCount(text.slice(0, unit)))
}

function substring(text: unknown, start: unknown, end: unknown): string {
  const points = codePoints(textArg(text, 'substring'))
  const from = position(start, points.length, 'substring')
  const to = end === undefined ? points.length : position(end, points.length, 'substring')
  if (from > to) throw celError('substring(): the end is before the start')
  return sliceOf(points, from, to)
}

function join(list: unknown, separator: unknown, frame: Frame): string {
  const glue = separator === undefined ? '' : textArg(separator, 'join')
  const parts = listArg(list, 'join').map((item) => textArg(item, 'join'))
  const length = parts.reduce((sum, part) => sum + part.length + glue.length, 0)
  checkLength(length)
  frame.charge(length >>> 6)
  return parts.join(glue)
}

function replace(args: readonly [unknown, unknown, unknown, unknown], frame: Frame): string {
  const subject = textArg(args[0], 'replace')
  const searched = textArg(args[1], 'replace')
  const inserted = textArg(args[2], 'replace')
  const limit = args[3] === undefined ? -1n : intArg(args[3], 'replace')
  const pieces = splitAt(subject, searched, limit < 0n ? -1n : limit + 1n)
  const length = subject.length + (pieces.length - 1) * inserted.length
  checkLength(length)
  frame.charge(length >>> 6)
  return pieces.join(inserted)
}

function split(text: unknown, separator: unknown, limit: unknown, frame: Frame): string[] {
  const count = limit === undefined ? -1n : intArg(limit, 'split')
  const pieces = splitAt(textArg(text, 'split'), textArg(separator, 'split'), count, true)
  checkElements(pieces.length)
  frame.charge(pieces.length >>> 2)
  return pieces
}

/**
 * At most `limit` pieces; the last one holds the rest. A negative limit means no limit. An empty separator cuts between
 * code points; for `replace` it also matches before the first and after the last one.
 */
function splitAt(text: string, separator: string, limit: bigint, isSplit = false): string[] {
  if (limit === 0n) return []
  chargeCurrent(separator === '' ? text.length >>> 1 : text.length >>> 3)
  const all = separator === '' ? pointPieces(text, isSplit) : text.split(separator)
  if (limit < 0n || BigInt(all.length) <= limit) return all
  const kept = Number(limit) - 1
  return [...all.slice(0, kept), all.slice(kept).join(separator)]
}

function pointPieces(text: string, isSplit: boolean): string[] {
  const points = Array.from(text)
  return isSplit ? points : ['', ...points, '']
}

function lowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function upperAscii(text: string): string {
  return text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase())
}

function reverse(text: string): string {
  chargeCurrent(text.length >>> 1)
  return Array.from(text).reverse().join('')
}

function stripPrefix(text: unknown, prefix: unknown): string {
  const subject = textArg(text, 'stripPrefix')
  const start = textArg(prefix, 'stripPrefix')
  return subject.startsWith(start) ? subject.slice(start.length) : subject
}

function stripSuffix(text: unknown, suffix: unknown): string {
  const subject = textArg(text, 'stripSuffix')
  const end = textArg(suffix, 'stripSuffix')
  return end !== '' && subject.endsWith(end) ? subject.slice(0, -end.length) : subject
}

/** `contains` of a string; of a list, whether an element is equal. */
function contains(container: unknown, value: unknown, frame: Frame): boolean {
  if (!Array.isArray(container)) return textArg(container, 'contains').includes(textArg(value, 'contains'))
  frame.charge(container.length >>> 3)
  return container.some((item) => isEqual(item, value, frame))
}

export const STRING_FUNCTIONS: readonly CelFunction[] = [
  method('contains', 2, (a, b, _c, _d, frame) => contains(a, b, frame)),
  method('startsWith', 2, (a, b) => textArg(a, 'startsWith').startsWith(textArg(b, 'startsWith'))),
  method('endsWith', 2, (a, b) => textArg(a, 'endsWith').endsWith(textArg(b, 'endsWith'))),
  method('charAt', 2, charAt),
  method('indexOf', [2, 3], indexOf),
  method('lastIndexOf', [2, 3], lastIndexOf),
  method('substring', [2, 3], substring),
  method('lowerAscii', 1, (a) => lowerAscii(textArg(a, 'lowerAscii'))),
  method('upperAscii', 1, (a) => upperAscii(textArg(a, 'upperAscii'))),
  method('trim', 1, (a) => textArg(a, 'trim').replaceAll(EDGE_SPACE, '')),
  method('reverse', 1, (a) => reverse(textArg(a, 'reverse'))),
  method('replace', [3, 4], (a, b, c, d, frame) => replace([a, b, c, d], frame)),
  method('stripPrefix', 2, stripPrefix),
  method('stripSuffix', 2, stripSuffix),
]

/** `split` and `join` live with the header view, which has methods of the same name. */
export const splitText = split
export const joinTexts = join
