// JSON text with its parsed value, so that an edit changes its own bytes only: numbers beyond doubles, their
// spelling (`1.0`), and white space stay unchanged.
import { endOfString } from '#api/bounded-json.ts'
import { isRecord, parseJson } from '#api/json.ts'
import { parseExactObject, parseObject, type JsonObject } from './json.ts'

/** A JSON object as text and as a value. Its owner changes `members` on the first level, by replacement. */
export interface JsonText {
  /** The original text. */
  readonly received: string
  readonly members: JsonObject
  /** The original values of `members`. */
  readonly original: Readonly<JsonObject>
  /** False: it contains a member twice, or one of its objects does. */
  readonly isUnambiguous: boolean
  /** A number of the text has more digits than a double holds. */
  readonly hasLongNumber: boolean
}

/** Places in the text; `valueEnd` is behind the value, white space not included. */
interface MemberPlace {
  readonly name: string
  readonly start: number
  readonly valueStart: number
  readonly valueEnd: number
}

/** undefined: not the text of a JSON object. */
export function readJsonText(text: string): JsonText | undefined {
  const members = parseObject(text)
  if (members === undefined) return undefined
  const { count, hasLongNumber } = surveyOf(text, UNREAD)
  const isUnambiguous = countMembers(members) === count
  return { received: text, members, original: { ...members }, isUnambiguous, hasLongNumber }
}

/**
 * The text with the changes of `members`. A text with a repeated member is written as a whole: the last one counts
 * here, and a reader behind the gateway may take the first.
 */
export function editedText(json: JsonText): string {
  const { received, members, original, isUnambiguous, hasLongNumber } = json
  if (isUnambiguous) return changedObject(received, original, members)
  return JSON.stringify(hasLongNumber ? withLongNumbers(json) : members)
}

/** The members; whole numbers that a double does not hold are as they came where a member is unchanged. */
function withLongNumbers({ received, members, original }: JsonText): JsonObject {
  const exact = parseExactObject(received) ?? {}
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      value === original[name] && Object.hasOwn(exact, name) ? exact[name] : value,
    ]),
  )
}

function countMembers(value: object): number {
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) count += countIn(item)
    return count
  }
  // Not a list, so a JSON object: its enumerable members are its own. `Object.values` takes five times as long.
  const members = value as Readonly<JsonObject>
  for (const name in members) count += 1 + countIn(members[name])
  return count
}

function countIn(value: unknown): number {
  return typeof value === 'object' && value !== null ? countMembers(value) : 0
}

function changedValue(text: string, before: unknown, after: unknown): string {
  if (before === after) return text
  if (isRecord(before) && isRecord(after)) return changedObject(text, before, after)
  if (Array.isArray(before) && Array.isArray(after)) return changedArray(text, before, after)
  return JSON.stringify(after)
}

function changedObject(text: string, before: Readonly<JsonObject>, after: Readonly<JsonObject>): string {
  const keeps = keepsAll(before, after)
  const added = addedMembers(before, after)
  if (keeps && added === '') return text
  if (keeps && Object.keys(before).length > 0) return extendedObject(text, added)
  const { places } = new MemberPlaces(text)
  let out = ''
  // The end of the previous member, and with that the comma and the white space between the two.
  let gapStart = text.indexOf('{') + 1
  let isFirst = true
  for (const { name, start, valueStart, valueEnd } of places) {
    if (Object.hasOwn(after, name) && after[name] !== undefined) {
      const gap = text.slice(gapStart, start)
      out += isFirst ? gap.replace(',', '') : gap
      out += text.slice(start, valueStart) + changedValue(text.slice(valueStart, valueEnd), before[name], after[name])
      isFirst = false
    }
    gapStart = valueEnd
  }
  out += isFirst ? added.slice(1) : added
  return text.slice(0, text.indexOf('{') + 1) + out + text.slice(gapStart)
}

/** All members of `before` are as they were. Both are JSON objects: their enumerable members are their own. */
function keepsAll(before: Readonly<JsonObject>, after: Readonly<JsonObject>): boolean {
  for (const name in before) if (before[name] !== after[name] || !Object.hasOwn(after, name)) return false
  return true
}

/** The text of the new members, each with a comma in front of it. */
function addedMembers(before: Readonly<JsonObject>, after: Readonly<JsonObject>): string {
  let added = ''
  for (const name in after) {
    if (isAdded(before, after, name)) added += `,${JSON.stringify(name)}:${JSON.stringify(after[name])}`
  }
  return added
}

/** Behind the last value of an object that has members. */
function extendedObject(text: string, added: string): string {
  const end = text.slice(0, text.lastIndexOf('}')).trimEnd().length
  return text.slice(0, end) + added + text.slice(end)
}

function isAdded(before: Readonly<JsonObject>, after: Readonly<JsonObject>, name: string): boolean {
  return after[name] !== undefined && !Object.hasOwn(before, name)
}

/** Elements replaced, or added at the start and the end; any other change is written as a whole. */
function changedArray(text: string, before: readonly unknown[], after: readonly unknown[]): string {
  if (before.length === after.length && before.length > 0) return replacedElements(text, before, after)
  const first = before.length === 0 ? -1 : after.findIndex((item) => item === before[0])
  const isKept = first !== -1 && before.every((item, index) => item === after[first + index])
  if (!isKept) return JSON.stringify(after)
  const inFront = after.slice(0, first).map((item) => `${JSON.stringify(item)},`)
  const behind = after.slice(first + before.length).map((item) => `,${JSON.stringify(item)}`)
  const own = text.slice(text.indexOf('[') + 1, text.lastIndexOf(']'))
  return `[${inFront.join('')}${own}${behind.join('')}]`
}

function replacedElements(text: string, before: readonly unknown[], after: readonly unknown[]): string {
  const open = text.indexOf('[')
  let out = text.slice(0, open + 1)
  let start = open + 1
  for (const [index, end] of elementEnds(text, open).entries()) {
    const element = text.slice(start, end)
    const value = element.trim()
    const lead = element.length - element.trimStart().length
    out +=
      element.slice(0, lead) + changedValue(value, before[index], after[index]) + element.slice(lead + value.length)
    out += text.charAt(end)
    start = end + 1
  }
  return out + text.slice(start)
}

/** Places of the commas of an array that was parsed, and of its end. */
function elementEnds(text: string, open: number): readonly number[] {
  const ends: number[] = []
  let depth = 0
  for (let i = open; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i)
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--
        if (depth === 0) ends.push(i)
        break
      case COMMA:
        if (depth === 1) ends.push(i)
        break
      default:
    }
  }
  return ends
}

interface Survey {
  /** Members of all objects in the text. */
  readonly count: number
  readonly hasLongNumber: boolean
}

/** Doubles hold fifteen digits. */
const LONG_NUMBER_DIGITS = 16

/**
 * Of a text that was parsed: every colon outside of strings stands between a name and its value. `members`:
 * gets the tokens of the outermost object.
 */
function surveyOf(text: string, members: MemberTokens): Survey {
  let count = 0
  let depth = 0
  const digits = new Digits()
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    switch (code) {
      case QUOTE: {
        const end = endOfString(text, i)
        if (depth === 1) members.string(i, end)
        i = end
        break
      }
      case COLON:
        count++
        members.colon(i, depth)
        break
      case COMMA:
        if (depth === 1) members.end(i)
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--
        if (depth === 0) members.end(i)
        break
      default:
        digits.char(i, code)
    }
  }
  return { count, hasLongNumber: digits.hasLongNumber }
}

/** Called with the characters between strings that may be digits. */
class Digits {
  hasLongNumber = false
  #last = -2
  #count = 0

  char(at: number, code: number): void {
    if (code < ZERO || code > NINE) return
    this.#count = at === this.#last + 1 ? this.#count + 1 : 1
    this.#last = at
    if (this.#count === LONG_NUMBER_DIGITS) this.hasLongNumber = true
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Gets the tokens of the outermost object, and all colons. */
interface MemberTokens {
  string(start: number, end: number): void
  colon(at: number, depth: number): void
  end(at: number): void
}

const UNREAD: MemberTokens = { string() {}, colon() {}, end() {} }

/** Of the outermost object. */
class MemberPlaces implements MemberTokens {
  readonly #text: string
  readonly places: MemberPlace[] = []
  /** Of the member that was begun; -1: none was. */
  #start = -1
  #nameEnd = -1
  #colon = -1

  constructor(text: string) {
    this.#text = text
    surveyOf(text, this)
  }

  string(start: number, end: number): void {
    if (this.#start !== -1) return
    this.#start = start
    this.#nameEnd = end + 1
  }

  colon(at: number, depth: number): void {
    if (depth === 1) this.#colon = at
  }

  end(at: number): void {
    if (this.#start === -1) return
    const text = this.#text
    const afterColon = text.slice(this.#colon + 1, at)
    this.places.push({
      name: nameIn(text.slice(this.#start, this.#nameEnd)),
      start: this.#start,
      valueStart: at - afterColon.trimStart().length,
      valueEnd: this.#colon + 1 + afterColon.trimEnd().length,
    })
    this.#start = -1
  }
}

/** `quoted`: a string of a text that was parsed. Few names have escapes, and only those need a parser. */
function nameIn(quoted: string): string {
  return quoted.includes('\\') ? String(parseJson(quoted)) : quoted.slice(1, -1)
}
