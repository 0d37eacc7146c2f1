// Measures the text of a peer before it is parsed: `JSON.parse` has no limit of its own, and a short text of nested or
// small objects costs seconds of CPU and hundreds of megabytes. One pass over the text, without an allocation.

/** Values inside values. */
export const JSON_DEPTH_MAX = 128
/** Objects, arrays and members of objects: each costs `JSON.parse` up to a microsecond. */
export const JSON_PARTS_MAX = 100_000
/** Elements and members of any kind. */
export const JSON_VALUES_MAX = 1_000_000

/** Thrown before parsing if the text exceeds a limit. The message names the limit and no part of the text. */
export class JsonTooComplex extends Error {}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The shortest member is `"":1,`, the shortest element `1,`. */
const HARMLESS_CHARS_MAX = Math.min(JSON_PARTS_MAX * 5, JSON_VALUES_MAX * 2)

/**
 * The value of JSON text of a peer.
 * @throws {JsonTooComplex}
 * @throws {SyntaxError} with a part of the text in its message.
 */
export function parseBoundedJson(text: string): unknown {
  const excess = jsonExcess(text)
  if (excess !== undefined) throw new JsonTooComplex(excess)
  return JSON.parse(text)
}

/**
 * As `parseBoundedJson`, for values that are written again: whole numbers that a double cannot represent become objects
 * that `JSON.stringify` writes unchanged.
 */
export function parseExactJson(text: string): unknown {
  const value = parseBoundedJson(text)
  return LONG_NUMBER.test(text) ? EXACT.parse(text, exactNumber) : value
}

/** Doubles hold fifteen digits. */
const LONG_NUMBER = /\d{16}/

function exactNumber(_: string, value: unknown, { source = '' }: { readonly source?: string }): unknown {
  const isExact = typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)
  return isExact ? value : EXACT.rawJSON(source)
}

/** The digits of a number that `parseExactJson` kept; undefined: any other value. */
export function exactDigits(value: unknown): string | undefined {
  return EXACT.isRawJSON(value) ? value.rawJSON : undefined
}

/** JSON.parse source text access: part of the language, which the types of the library lack. */
interface ExactJson {
  parse(text: string, reviver: typeof exactNumber): unknown
  rawJSON(text: string): object
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}
const EXACT = JSON as unknown as ExactJson

/** Which limit the text exceeds; undefined: none. The text need not be JSON: rejecting other text costs no more. */
export function jsonExcess(text: string): string | undefined {
  return text.length <= HARMLESS_CHARS_MAX && hasFewContainers(text) ? undefined : measured(text)
}

/** Most texts are short and flat: searching for a character is several times as fast as reading each character. */
function hasFewContainers(text: string): boolean {
  let left = JSON_DEPTH_MAX
  for (const opening of OPENINGS) {
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) if (--left < 0) return false
  }
  return true
}

const OPENINGS = ['[', '{'] as const

function measured(text: string): string | undefined {
  let depth = 0
  let parts = 0
  let values = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i)
        break
      case COMMA:
        values++
        break
      case COLON:
        parts++
        break
      case OPEN_BRACKET:
      case OPEN_BRACE:
        parts++
        if (++depth > JSON_DEPTH_MAX) return `the JSON is nested deeper than ${JSON_DEPTH_MAX} levels`
        break
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--
        break
      default:
    }
    // Compared as it is counted: a text far over the limit is not read to its end.
    if (parts > JSON_PARTS_MAX) return `the JSON has more than ${JSON_PARTS_MAX} objects, arrays and members`
    if (values > JSON_VALUES_MAX) return `the JSON has more than ${JSON_VALUES_MAX} values`
  }
  return undefined
}

/** Index of the quote that ends the string that begins at `start`; the end of the text if there is no such quote. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    // An even number of backslashes escapes itself.
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}
