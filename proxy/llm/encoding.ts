// content-encoding of LLM bodies: decoded with a bound on the result (decompression bombs).
import { promisify } from 'node:util'
import { pipeline, Readable, type Transform } from 'node:stream'
import {
  brotliDecompress,
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  gunzipSync,
  inflate,
  inflateSync,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib'
import type { Cancellable } from '../message/body.ts'

export class UnknownEncoding extends Error {}
export class DecodedTooLarge extends Error {}

interface Decoder {
  readonly whole: (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>
  readonly atOnce: (body: Buffer, options: { maxOutputLength: number }) => Buffer
  readonly stream: () => Transform
}

const GZIP: Decoder = { whole: promisify(gunzip), atOnce: gunzipSync, stream: createGunzip }
const DECODERS = new Map<string, Decoder>([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { whole: promisify(inflate), atOnce: inflateSync, stream: createInflate }],
  ['br', { whole: promisify(brotliDecompress), atOnce: brotliDecompressSync, stream: createBrotliDecompress }],
  ['zstd', { whole: promisify(zstdDecompress), atOnce: zstdDecompressSync, stream: createZstdDecompress }],
])

/**
 * @throws {UnknownEncoding} for an encoding, or a stack of encodings, that is not supported.
 * @throws {DecodedTooLarge} when the result exceeds `bytesMax`.
 */
export async function decode(body: Buffer, encoding: string | undefined, bytesMax: number): Promise<Buffer> {
  const decoder = decoderOf(encoding)
  if (decoder === undefined) return body
  try {
    return await decoder.whole(body, { maxOutputLength: bytesMax })
  } catch (error) {
    if (error instanceof RangeError) throw new DecodedTooLarge(`body is larger than ${bytesMax} bytes when decoded`)
    throw error
  }
}

/** For small bodies that must be decoded before other code runs; blocks. @throws as `decode`, or for invalid data */
export function decodeAtOnce(body: Buffer, encoding: string | undefined, bytesMax: number): Buffer {
  const decoder = decoderOf(encoding)
  return decoder === undefined ? body : decoder.atOnce(body, { maxOutputLength: bytesMax })
}

/**
 * The same stream, decoded as it arrives. It breaks where its source breaks or is not in that encoding; cancelling it
 * cancels the source.
 * @throws {UnknownEncoding}
 */
export function decodeStream(body: Cancellable<Buffer>, encoding: string | undefined): Cancellable<Buffer> {
  const decoder = decoderOf(encoding)
  if (decoder === undefined) return body
  const decoded = decoder.stream()
  // An error destroys the decoder, and its reader gets the error there.
  pipeline(Readable.from(body), decoded, () => {})
  return {
    [Symbol.asyncIterator]: () => decoded[Symbol.asyncIterator](),
    cancel: () => {
      body.cancel()
      decoded.destroy()
    },
  }
}

/** There is nothing to decode: callers that ask first save the promises of `decode`. */
export function isIdentity(encoding: string | undefined): boolean {
  if (encoding === undefined) return true
  const name = encoding.trim().toLowerCase()
  return name === '' || name === 'identity'
}

/** undefined: there is nothing to decode. @throws {UnknownEncoding} */
function decoderOf(encoding: string | undefined): Decoder | undefined {
  if (encoding === undefined || isIdentity(encoding)) return undefined
  const name = encoding.trim().toLowerCase()
  const decoder = DECODERS.get(name)
  if (decoder === undefined) throw new UnknownEncoding(`content-encoding ${name} is not supported`)
  return decoder
}
