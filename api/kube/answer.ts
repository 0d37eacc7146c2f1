// Reads what an API server answers: one JSON value, or a watch, which is one JSON value a line. Bounded.
import { parseOwnJson } from '../json.ts'
import { withoutManagedFields } from './managed-fields.ts'

type Bytes = AsyncIterable<Uint8Array>

/**
 * The body as JSON; undefined when it is not JSON: the server answers in plain text while it starts, and while a
 * resource is not served yet; the status code is enough then.
 * @throws {Error} more than `bytesMax`; whatever `source` throws.
 */
export async function readJson(source: Bytes, bytesMax: number): Promise<unknown> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error(`the response is larger than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return parseOwnJson(Buffer.concat(chunks).toString('utf8'))
}

/**
 * Calls back for each line that is not blank, until the source ends. What follows the last line feed is an event cut
 * off, and dropped.
 * @throws {Error} a line of more than `lineBytesMax`; whatever `source` or `onEvent` throws.
 */
export async function readJsonLines(
  source: Bytes,
  onEvent: (event: unknown) => void,
  lineBytesMax: number,
): Promise<void> {
  let rest: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of source) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    let begin = 0
    for (let end = buffer.indexOf(10); end !== -1; end = buffer.indexOf(10, begin)) {
      const isWhole = rest.length === 0
      const line = isWhole
        ? buffer.toString('utf8', begin, end)
        : Buffer.concat([...rest, buffer.subarray(0, end)]).toString('utf8')
      if (!isWhole) rest = []
      bytes = 0
      begin = end + 1
      if (line.trim() !== '') onEvent(parseOwnJson(withoutManagedFields(line)))
    }
    bytes += buffer.length - begin
    if (bytes > lineBytesMax) throw new Error(`a watch event is larger than ${lineBytesMax} bytes`)
    if (begin < buffer.length) rest.push(buffer.subarray(begin))
  }
}
