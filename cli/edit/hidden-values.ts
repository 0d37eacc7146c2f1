// Hides credentials in the text of a configuration file, so that a page can show and change the rest, and puts them
// back. Positions of the hidden text are those of the page. Pure.
import { Composer, type Document, isMap, isScalar, isSeq, Lexer, Parser, type YAMLMap, type YAMLSeq } from 'yaml'
import { lineStartsOf } from '#api/source/document.ts'
import { knownPlaces } from './known-places.ts'
import { hasCredentialForm, isCredentialPlace, isVariable, mayHoldCredential, type Place } from './credential-places.ts'

export interface HiddenText {
  readonly text: string
  /** By number, as they stand in the file. */
  readonly hidden: readonly string[]
}

export interface ShownText {
  readonly text: string
  /** The line of the hidden text from one of this text. */
  lineOf(line: number): number
}

interface Range {
  readonly start: number
  readonly end: number
  /** Stands between quotes. */
  readonly isValue: boolean
}

const MARK = /(["']?)<hidden:(\d{1,6})>\1/g
/** As in the expansion of variables, which happens before the file is parsed. */
const VARIABLE = /\$\{[^}\n]*\}/g

/** `known`: credentials that the loader found. undefined: the text is not YAML, so that its credentials are unknown. */
export function hideValues(text: string, known: readonly string[]): HiddenText | undefined {
  const ranges = rangesOf(text)
  if (ranges === undefined) return undefined
  const places = knownPlaces(text, known).map((place) => ({ ...place, isValue: false }))
  const hidden: string[] = []
  let shown = ''
  let rest = 0
  for (const { start, end, isValue } of [...ranges, ...places].toSorted(byStart)) {
    if (start < rest) continue
    hidden.push(text.slice(start, end))
    shown += text.slice(rest, start) + markOf(hidden.length, isValue)
    rest = end
  }
  return { text: shown + text.slice(rest), hidden }
}

function markOf(number: number, isValue: boolean): string {
  return isValue ? `"<hidden:${number}>"` : `<hidden:${number}>`
}

function byStart(one: Range, other: Range): number {
  return one.start - other.start
}

/** `problem`: a mark of a value that the file does not have. */
export function showValues(text: string, hidden: readonly string[]): ShownText | { problem: string; line: number } {
  let unknown: { problem: string; line: number } | undefined
  /** Of the lines of the shown text that a value adds. */
  const added: { readonly line: number; readonly count: number }[] = []
  let lines = 0
  const places = lineStartsOf(text)
  const shown = text.replace(MARK, (mark: string, _quote: string, number: string, offset: number) => {
    const value = hidden[Number(number) - 1]
    const { line } = places.linePos(offset)
    if (value === undefined) {
      unknown ??= { problem: `the file has no hidden value ${number}`, line }
      return mark
    }
    const count = value.split('\n').length - 1
    if (count > 0) added.push({ line: line + lines, count })
    lines += count
    return value
  })
  if (unknown !== undefined) return unknown
  return { text: shown, lineOf: (line) => lineBefore(line, added) }
}

function lineBefore(line: number, added: readonly { readonly line: number; readonly count: number }[]): number {
  let less = 0
  for (const { line: at, count } of added) if (line > at) less += Math.min(count, line - at)
  return line - less
}

/** Of values that are credentials by their place or form, and of comments that may hold some. */
function rangesOf(text: string): Range[] | undefined {
  const ranges: Range[] = []
  for (const { contents, errors } of documentsOf(text, ranges)) {
    if (errors.length > 0) return undefined
    const kind = isMap(contents) ? contents.get('kind') : undefined
    if (contents !== null) collect(contents, { text, ranges, kind: typeof kind === 'string' ? kind : undefined })
  }
  return ranges
}

interface Collected {
  readonly text: string
  readonly ranges: Range[]
  readonly kind: string | undefined
  readonly place?: Place
  /** The field `name` beside the value, and the item before it in a list. */
  readonly sibling?: string | undefined
  readonly before?: string | undefined
}

function collect(node: unknown, given: Collected): void {
  if (isMap(node)) collectMap(node, given)
  else if (isSeq(node)) collectList(node, given)
  else if (isScalar(node) && node.range) addScalar(node.range, node.value, given)
}

function collectMap(node: YAMLMap, given: Collected): void {
  const name = node.get('name')
  const sibling = typeof name === 'string' ? name : undefined
  for (const { key, value } of node.items) {
    if (!isScalar(key)) continue
    collect(value, { ...given, place: [...(given.place ?? []), String(key.value)], sibling, before: undefined })
  }
}

function collectList(node: YAMLSeq, given: Collected): void {
  let before: string | undefined
  for (const [index, item] of node.items.entries()) {
    collect(item, { ...given, place: [...(given.place ?? []), index], sibling: undefined, before })
    before = isScalar(item) && typeof item.value === 'string' ? item.value : undefined
  }
}

function addScalar([start, end]: readonly [number, number, number], value: unknown, given: Collected): void {
  const { text, ranges, kind, place = [], sibling, before } = given
  if (value === null || typeof value === 'boolean') return
  const written = text.slice(start, end).replace(/\s+$/, '')
  const bare = written.replace(/^(["'])([\s\S]*)\1$/, '$2')
  if (bare === '' || isVariable(bare)) return
  if (!isCredentialPlace(place, kind, sibling) && !hasCredentialForm(bare, before)) return
  ranges.push({ start, end: start + written.length, isValue: true })
}

/** Reads the text once, for its values and its comments: a long one takes most of the time of a page. */
function* documentsOf(text: string, comments: Range[]): Generator<Document.Parsed | Document> {
  const parser = new Parser()
  const composer = new Composer({ prettyErrors: false })
  let start = 0
  for (const piece of new Lexer().lex(text.replace(VARIABLE, (all) => 'x'.repeat(all.length)))) {
    if (piece.startsWith('#') && mayHoldCredential(text.slice(start, start + piece.length))) {
      comments.push({ start: start + 1, end: start + piece.length, isValue: false })
    }
    const isMark = piece === '\u0002' || piece === '\u0018' || piece === '\u001F'
    if (!isMark) start += piece.length
    for (const token of parser.next(piece)) yield* composer.next(token)
  }
  for (const token of parser.end()) yield* composer.next(token)
  yield* composer.end()
}
