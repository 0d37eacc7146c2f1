// How a value stands in a text log line: as it is when it is plain, as a JSON string when it could forge a field or a
// line.

/** No space, quote, backslash, control character, line separator or byte order mark. */
const PLAIN = /^[\u0021\u0023-\u005b\u005d-\u007e\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\uffef]+$/

export function textValue(value: string): string {
  return PLAIN.test(value) ? value : jsonString(value)
}

/** A JSON string. Most values need no escape; the test is much cheaper than the serializer. */
export function quotedValue(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : jsonString(value)
}

// oxlint-disable-next-line no-control-regex -- JSON leaves these bare, and some readers end a line at them
const BARE_CONTROL = /[\u007f-\u009f\u2028\u2029]/g

function jsonString(value: string): string {
  return JSON.stringify(value).replace(
    BARE_CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
