// JSON text and what it says, so that an edit changes its own bytes only: numbers that a double does not hold, their
// spelling (`1.0`), and white space go on as they came.
import { endOfString } from '#api/bounded-json.ts'
import { isRecord, parseJson } from '#api/json.ts'
import { parseObject, type JsonObject } from './json.ts'

/** A JSON object as text and as a value. Its owner changes `members` on the first level, by replacement. */
export interface JsonText {
  /** As it came. */
  readonly received: string
  readonly members: JsonObject
  /** As `members` were at first. */
  readonly original: Readonly<JsonObject>
  /** undefined: it names a member twice, or one of its objects does. */
  readonly places: readonly Place[] | undefined
}

/** Places in the text; `valueEnd` is behind the value, white space not included. */
interface Place {
  readonly name: string
  readonly start: number
  readonly valueStart: number
  readonly valueEnd: number
}

/** undefined: not the text of a JSON object. */
export function readJsonText(text: string): JsonText | undefined {
  const members = parseObject(text)
  if (members === undefined) return undefined
  const { count, places } = surveyOf(text)
  const isUnambiguous = countMembers(members) === count
  return { received: text, members, original: { ...members }, places: isUnambiguous ? places : undefined }
}

/**
 * The text with the changes of `members`. One that names a member twice is written as a whole: the last one counts
 * here, and a reader behind the gateway may take the first.
 */
export function editedText({ received, members, original, places }: JsonText): string {
  return places === undefined ? JSON.stringify(members) : changedObject(received, original, members, places)
}

function countMembers(value: object): number {
  if (Array.isArray(value)) return sumOf(value)
  const items = Object.values(value)
  return items.length + sumOf(items)
}

function sumOf(items: readonly unknown[]): number {
  let count = 0
  for (const item of items) if (typeof item === 'object' && item !== null) count += countMembers(item)
  return count
}

function changedValue(text: string, before: unknown, after: unknown): string {
  if (before === after) return text
  if (isRecord(before) && isRecord(after)) return changedObject(text, before, after)
  if (Array.isArray(before) && Array.isArray(after)) return extendedArray(text, before, after)
  return JSON.stringify(after)
}

function changedObject(
  text: string,
  before: Readonly<JsonObject>,
  after: Readonly<JsonObject>,
  places = surveyOf(text).places,
): string {
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name) && after[name] !== undefined)
  const changed = Object.keys(before).some((name) => !isSame(before, after, name))
  if (added.length === 0 && !changed) return text
  let out = ''
  // The end of the member before, and with that the comma and the white space between the two.
  let gapStart = text.indexOf('{') + 1
  let isEmpty = true
  for (const { name, start, valueStart, valueEnd } of places) {
    if (Object.hasOwn(after, name) && after[name] !== undefined) {
      const gap = text.slice(gapStart, start)
      out += isEmpty ? gap.replace(',', '') : gap
      out += text.slice(start, valueStart) + changedValue(text.slice(valueStart, valueEnd), before[name], after[name])
      isEmpty = false
    }
    gapStart = valueEnd
  }
  for (const name of added) {
    out += `${isEmpty ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(after[name])}`
    isEmpty = false
  }
  return text.slice(0, text.indexOf('{') + 1) + out + text.slice(gapStart)
}

function isSame(before: Readonly<JsonObject>, after: Readonly<JsonObject>, name: string): boolean {
  return Object.hasOwn(after, name) && before[name] === after[name]
}

/** Elements in front and behind; anything else is written as a whole. */
function extendedArray(text: string, before: readonly unknown[], after: readonly unknown[]): string {
  const first = before.length === 0 ? -1 : after.findIndex((item) => item === before[0])
  const isKept = first !== -1 && before.every((item, index) => item === after[first + index])
  if (!isKept) return JSON.stringify(after)
  const inFront = after.slice(0, first).map((item) => `${JSON.stringify(item)},`)
  const behind = after.slice(first + before.length).map((item) => `,${JSON.stringify(item)}`)
  const own = text.slice(text.indexOf('[') + 1, text.lastIndexOf(']'))
  return `[${inFront.join('')}${own}${behind.join('')}]`
}

interface Survey {
  /** Members of all objects in the text. */
  readonly count: number
  /** Of the members of the outermost object. */
  readonly places: readonly Place[]
}

/** Of a text that was parsed: every colon outside of strings stands between a name and its value. */
function surveyOf(text: string): Survey {
  const surveyor = new Surveyor(text)
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = surveyor.string(i)
        break
      case COLON:
        surveyor.colon(i)
        break
      case COMMA:
        surveyor.end(i)
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        surveyor.depth++
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        surveyor.end(i)
        surveyor.depth--
        break
      default:
    }
  }
  return surveyor
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

class Surveyor implements Survey {
  readonly #text: string
  readonly places: Place[] = []
  count = 0
  depth = 0
  /** Of the member that the survey is in; -1: in none. */
  #start = -1
  #nameEnd = -1
  #colon = -1

  constructor(text: string) {
    this.#text = text
  }

  /** @returns its end. */
  string(start: number): number {
    const end = endOfString(this.#text, start)
    if (this.depth === 1 && this.#start === -1) {
      this.#start = start
      this.#nameEnd = end + 1
    }
    return end
  }

  colon(at: number): void {
    this.count++
    if (this.depth === 1) this.#colon = at
  }

  end(at: number): void {
    if (this.depth !== 1 || this.#start === -1) return
    const text = this.#text
    const afterColon = text.slice(this.#colon + 1, at)
    this.places.push({
      name: String(parseJson(text.slice(this.#start, this.#nameEnd))),
      start: this.#start,
      valueStart: at - afterColon.trimStart().length,
      valueEnd: this.#colon + 1 + afterColon.trimEnd().length,
    })
    this.#start = -1
  }
}
