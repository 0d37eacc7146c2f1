// The servers of a session in its id: many of them are compressed. Nothing that the client chose is among them, so the
// length of an id shows a client nothing about the ids of its servers.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { parseJson } from '#api/json.ts'

/** Characters of a list that stays readable JSON, as most are. */
const PLAIN_CHARACTERS_MAX = 8192
const UNPACKED_BYTES_MAX = 256 * 1024

export function packed<T>(entries: readonly T[]): readonly T[] | string {
  const text = JSON.stringify(entries)
  return text.length <= PLAIN_CHARACTERS_MAX ? entries : deflateRawSync(text).toString('base64url')
}

/** undefined: not packed here. */
export function unpacked(value: unknown): readonly unknown[] | undefined {
  const entries = typeof value === 'string' ? inflated(value) : value
  return Array.isArray(entries) ? entries : undefined
}

function inflated(text: string): unknown {
  try {
    const bytes = inflateRawSync(Buffer.from(text, 'base64url'), { maxOutputLength: UNPACKED_BYTES_MAX })
    return parseJson(bytes.toString('utf8'))
  } catch {
    // Not compressed, or longer than any list.
    return undefined
  }
}
