// The form of a value in a text log line: unchanged if it is plain, a JSON string if it could forge a field or a line.
import { printableJson } from '#api/printable.ts'

/** No space, quote, backslash, control character, line separator, mark of direction or character without width. */
const PLAIN =
  /^[\u0021\u0023-\u005b\u005d-\u007e\u00a1-\u00ac\u00ae-\u061b\u061d-\u180d\u180f-\u200a\u2010-\u2027\u202f-\u205f\u2070-\ud7ff\ue000-\ufefe\uff00-\uffef]+$/

export function textValue(value: string): string {
  return PLAIN.test(value) ? value : jsonString(value)
}

/** The name of a field in a text line: clients may choose names, such as the claims of a token. */
export function textName(name: string): string {
  return PLAIN.test(name) && !name.includes('=') ? name : jsonString(name)
}

/** A JSON string. Most values need no escape; the test is much cheaper than the serializer. */
export function quotedValue(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : jsonString(value)
}

function jsonString(value: string): string {
  return printableJson(JSON.stringify(value))
}
