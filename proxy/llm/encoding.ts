// content-encoding of LLM bodies: decoded with a bound on the result (decompression bombs).
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'

export class UnknownEncoding extends Error {}
export class DecodedTooLarge extends Error {}

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const DECODERS = new Map<string, Decoder>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
])

/**
 * @throws {UnknownEncoding} for an encoding, or a stack of encodings, that is not supported.
 * @throws {DecodedTooLarge} when the result exceeds `bytesMax`.
 */
export async function decode(body: Buffer, encoding: string | undefined, bytesMax: number): Promise<Buffer> {
  const name = (encoding ?? 'identity').trim().toLowerCase()
  if (name === '' || name === 'identity') return body
  const decoder = DECODERS.get(name)
  if (decoder === undefined) throw new UnknownEncoding(`content-encoding ${name} is not supported`)
  try {
    return await decoder(body, { maxOutputLength: bytesMax })
  } catch (error) {
    if (error instanceof RangeError) throw new DecodedTooLarge(`body is larger than ${bytesMax} bytes when decoded`)
    throw error
  }
}
