// One JSON document as files that fit into ConfigMaps and Secrets: readable while small, gzip in numbered pieces when
// large. The reference says which files and what their content hashes to. Pure.
import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'

/** Up to here a document is one readable JSON file. */
export const READABLE_BYTES_MAX = 256 * 1024

/** An object may hold 1 MiB: a piece of the generation in force, one of the next, and the index. */
export const PIECE_BYTES_MAX = 480 * 1024

/** Of one document after unpacking: bounds what a damaged or hostile file makes a reader allocate. */
export const DOCUMENT_BYTES_MAX = 256 * 1024 * 1024

/** Of zlib: most configurations shrink to an eighth. */
const BUFFER_BYTES_MIN = 4096
const BUFFER_BYTES_MAX = 64 * 1024
const HASH_CHARS = 24

export interface DocumentRef {
  /** In order; joined they are the document. */
  readonly files: readonly string[]
  readonly encoding: 'json' | 'gzip'
  /** Of the document before compression. */
  readonly bytes: number
  /** SHA-256 of the document before compression, hexadecimal. */
  readonly sha256: string
}

export type Files = Map<string, Uint8Array>

export interface EncodedDocument {
  readonly ref: DocumentRef
  readonly files: Files
}

/** File names begin with `name` and hold the hash of the content: two contents never share a file. */
export function encodeDocument(name: string, value: unknown): EncodedDocument {
  const plain = Buffer.from(JSON.stringify(value))
  const sha256 = hashOf(plain)
  const short = `${name}-${sha256.slice(0, HASH_CHARS)}`
  if (plain.length <= READABLE_BYTES_MAX) {
    const file = `${short}.json`
    return {
      ref: { files: [file], encoding: 'json', bytes: plain.length, sha256 },
      files: new Map([[file, plain]]),
    }
  }
  const packed = gzipped(plain)
  const files: Files = new Map()
  for (let start = 0; start < packed.length; start += PIECE_BYTES_MAX) {
    files.set(`${short}.${files.size}.gz`, packed.subarray(start, start + PIECE_BYTES_MAX))
  }
  return { ref: { files: [...files.keys()], encoding: 'gzip', bytes: plain.length, sha256 }, files }
}

/** The number of the object of a file: `config-<hash>.3.gz` is in the fourth one of its part. */
export function shardOfFile(name: string): number {
  return Number(/\.(\d+)\.gz$/.exec(name)?.[1] ?? 0)
}

export type DecodedDocument = { readonly value: unknown } | DocumentFault

export interface DocumentFault {
  readonly reason: 'Incomplete' | 'Corrupt'
  readonly message: string
  /** Files that do not exist (yet). */
  readonly missing: readonly string[]
}

export function decodeDocument(ref: DocumentRef, file: (name: string) => Uint8Array | undefined): DecodedDocument {
  const pieces: Uint8Array[] = []
  const missing: string[] = []
  for (const name of ref.files) {
    const content = file(name)
    if (content === undefined) missing.push(name)
    else pieces.push(content)
  }
  if (missing.length > 0) return { reason: 'Incomplete', message: `missing: ${missing.join(', ')}`, missing }
  const plain = unpack(ref, Buffer.concat(pieces))
  if (plain?.length !== ref.bytes || hashOf(plain) !== ref.sha256) {
    return corrupt(`${ref.files.join(', ')}: the content does not match the index`)
  }
  try {
    return { value: JSON.parse(plain.toString('utf8')) }
  } catch {
    return corrupt(`${ref.files.join(', ')}: invalid JSON`)
  }
}

function unpack({ encoding, bytes }: DocumentRef, joined: Buffer): Buffer | undefined {
  if (encoding === 'json') return joined
  return gunzipped(joined, Math.min(bytes + 1, DOCUMENT_BYTES_MAX))
}

/** In a buffer of its own length: zlib returns one of at least 16 KiB, also for 2 KiB. */
export function gzipped(plain: Uint8Array | string): Uint8Array {
  const chunkSize = Math.min(Math.max(plain.length >> 3, BUFFER_BYTES_MIN), BUFFER_BYTES_MAX)
  return new Uint8Array(gzipSync(plain, { chunkSize }))
}

/** undefined: not gzip, cut off, or longer than `bytesMax`; the caller reports the file. */
export function gunzipped(packed: Uint8Array, bytesMax: number): Buffer | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: bytesMax })
  } catch {
    return undefined
  }
}

function corrupt(message: string): DocumentFault {
  return { reason: 'Corrupt', message, missing: [] }
}

export function hashOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
