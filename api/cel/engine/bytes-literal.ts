// Bytes literals with characters beyond ASCII: the language has their UTF-8 form, the parser keeps one byte a
// character.
import type { Node } from './parse.ts'

/** The bytes of the literal at that node. */
export function bytesLiteral(parsed: Uint8Array, node: Node): Uint8Array {
  const text = node.input.slice(node.start, node.end)
  // eslint-disable-next-line no-control-regex
  if (!/[^\u0000-\u007f]/.test(text)) return parsed
  const isTriple = text.startsWith('"""', 1) || text.startsWith("'''", 1)
  const quotes = isTriple ? 3 : 1
  const body = text.slice(1 + quotes, text.length - quotes)
  return new Uint8Array(Buffer.concat(pieces(body)))
}

/** Escapes become the byte they name, everything else its UTF-8 form. */
function pieces(body: string): Buffer[] {
  const found: Buffer[] = []
  for (const [piece] of body.matchAll(/\\(?:[xX][0-9a-fA-F]{2}|[0-7]{3}|[\s\S])|[^\\]+/g)) {
    found.push(piece.startsWith('\\') ? Buffer.from([escaped(piece.slice(1))]) : Buffer.from(piece))
  }
  return found
}

const ESCAPES: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['b', 8],
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
])

function escaped(escape: string): number {
  if (/^[xX]/.test(escape)) return Number.parseInt(escape.slice(1), 16)
  if (/^[0-7]{3}$/.test(escape)) return Number.parseInt(escape, 8) & 0xff
  return ESCAPES.get(escape) ?? escape.charCodeAt(0)
}
