// Makes text of users and peers safe to print: escapes characters that control a terminal, forge a line or change the
// direction of the text. The only such function; all output uses it.

/**
 * Control characters; soft hyphen; marks, embeddings and isolates of direction; characters without width; separators of
 * lines and paragraphs; tags; halves of pairs.
 */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Cs}]/gu
const NAMES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/** In one line. A backslash stays as it is: this is for people, not for parsers. */
export function printable(text: string): string {
  return text.replace(UNSAFE, escapeOf)
}

/** As `printable`, of a text whose lines are its own. */
export function printableLines(text: string): string {
  return text.replace(UNSAFE, (character) => (character === '\n' ? character : escapeOf(character)))
}

/** Equivalent JSON. All its unsafe characters are in strings, except the line ends between values. */
export function printableJson(json: string): string {
  return json.replace(UNSAFE, (character) => (character === '\n' ? character : jsonEscapeOf(character)))
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const named = NAMES.get(character)
  if (named !== undefined) return named
  if (code <= 0xff) return `\\x${hex(code, 2)}`
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 1)}}`
}

function jsonEscapeOf(character: string): string {
  let text = ''
  for (let index = 0; index < character.length; index++) text += `\\u${hex(character.charCodeAt(index), 4)}`
  return text
}

function hex(code: number, length: number): string {
  return code.toString(16).padStart(length, '0')
}
