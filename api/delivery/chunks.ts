// Cuts a list into chunks whose borders depend only on their own items: if one item changes, one chunk changes, and the
// others are found by identity, without being written, hashed or packed. Pure.
import { hash } from 'node:crypto'
import { isIdentical } from '../incremental/identical.ts'
import { keyOfItem, type ListName } from '../ir/lists.ts'
import { parseOwnJson } from '../json.ts'
import { type Files, gunzipped, gzipped } from './document.ts'

export interface Chunk {
  /** Hash of its text: 160 bits in base64url. */
  readonly id: string
  readonly items: readonly object[]
  /** Of its text. */
  readonly bytes: number
  /** Ended by its own content: later items do not belong to it. */
  readonly isClosed: boolean
}

/** One item in so many ends a chunk: a change costs the text of a chunk and one reference for each chunk. */
const ITEMS_MEAN = 32
const ITEMS_MAX = 128
/** A chunk ends with the item that reaches this; so one large item makes a chunk larger, two do not. */
const TEXT_BYTES_MAX = 64 * 1024
/** Bounds what a damaged or hostile file makes a reader allocate; no item is nearly as large. */
const UNPACKED_BYTES_MAX = 16 * 1024 * 1024
const ID_CHARS = 27

/** Unchanged chunks of `before` stay the same objects. The result equals that of cutting without `before`. */
export function cutList(list: ListName, items: readonly object[], before: readonly Chunk[] = []): readonly Chunk[] {
  const known = new Map<object | undefined, Chunk>(before.map((chunk) => [chunk.items[0], chunk]))
  const chunks: Chunk[] = []
  let at = 0
  while (at < items.length) {
    const found = known.get(items[at])
    const chunk = found !== undefined && isThere(found, items, at) ? found : cutOne(list, items, at)
    chunks.push(chunk)
    at += chunk.items.length
  }
  return isIdentical(chunks, before) ? before : chunks
}

function isThere(chunk: Chunk, items: readonly object[], at: number): boolean {
  const end = at + chunk.items.length
  if (end > items.length || (!chunk.isClosed && end !== items.length)) return false
  // Thousands of items for each change: no calls here.
  for (let place = 0; at + place < end; place++) if (chunk.items[place] !== items[at + place]) return false
  return true
}

function cutOne(list: ListName, items: readonly object[], from: number): Chunk {
  const texts: string[] = []
  let bytes = 1
  let isClosed = false
  for (let at = from; at < items.length && !isClosed; at++) {
    // at < length.
    const item = items[at] as object
    const text = JSON.stringify(item)
    texts.push(text)
    bytes += Buffer.byteLength(text) + 1
    isClosed = endsAt(keyOfItem(list, item), ITEMS_MEAN) || texts.length === ITEMS_MAX || bytes >= TEXT_BYTES_MAX
  }
  const id = idOf(`[${texts.join(',')}]`)
  return { id, items: items.slice(from, from + texts.length), bytes, isClosed }
}

/**
 * Whether a chunk may end after the item with this key: true for one key in `itemsMean`. FNV-1a with a last mixing:
 * spread over the keys that users write, and the same on every machine.
 */
export function endsAt(key: string, itemsMean: number): boolean {
  let hash = 0x811c_9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x0100_0193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  return ((hash ^ (hash >>> 13)) >>> 0) % itemsMean === 0
}

function idOf(text: string | Uint8Array): string {
  return hash('sha256', text, 'base64url').slice(0, ID_CHARS)
}

export type ChunkEncoding = 'json' | 'gz'

/** Two contents never share a file name. */
export function chunkFile(list: ListName, id: string, encoding: ChunkEncoding): string {
  return `${list}-${id}.${encoding}`
}

/** The chunk is in one of these. */
export function chunkFiles(list: ListName, id: string): readonly [string, string] {
  return [chunkFile(list, id, 'gz'), chunkFile(list, id, 'json')]
}

/** The file that carries a chunk, readable or packed. */
export function packChunk(
  list: ListName,
  { id, items }: Chunk,
  encoding: ChunkEncoding,
): readonly [string, Uint8Array] {
  const text = Buffer.from(JSON.stringify(items))
  return [chunkFile(list, id, encoding), encoding === 'json' ? text : gzipped(text)]
}

/** The form that exists. */
export function findChunk(
  list: ListName,
  id: string,
  file: (name: string) => Uint8Array | undefined,
): { readonly name: string; readonly content: Uint8Array } | undefined {
  for (const name of chunkFiles(list, id)) {
    const content = file(name)
    if (content !== undefined) return { name, content }
  }
  return undefined
}

export function hasChunk(files: Files, list: ListName, id: string): boolean {
  return chunkFiles(list, id).some((name) => files.has(name))
}

export interface PackedChunk {
  readonly id: string
  /** Of the file. */
  readonly name: string
  readonly content: Uint8Array
}

function unpackChunk({ id, name, content }: PackedChunk): unknown {
  return itemsOf(id, isPacked(name) ? gunzipped(content, UNPACKED_BYTES_MAX) : Buffer.from(content))
}

/**
 * The items of each; undefined: the content is not that of the id. Packed files, one after the other, are one packed
 * file, and each call of the unpacker costs more than a chunk.
 */
export function unpackChunks(chunks: readonly PackedChunk[]): readonly unknown[] {
  const packed = chunks.filter(({ name }) => isPacked(name))
  const sizes = packed.map(({ content }) => unpackedSize(content))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (packed.length < 2 || total > UNPACKED_BYTES_MAX) return chunks.map(unpackChunk)
  const joined = gunzipped(Buffer.concat(packed.map(({ content }) => content)), total)
  let end = 0
  const texts = new Map(
    packed.map((chunk, at) => {
      const start = end
      end += sizes[at] ?? 0
      return [chunk, joined?.subarray(start, end)]
    }),
  )
  // The hash proves the size; a damaged chunk may have moved others.
  return chunks.map((chunk) => itemsOf(chunk.id, texts.get(chunk)) ?? unpackChunk(chunk))
}

function isPacked(name: string): boolean {
  return name.endsWith('.gz')
}

function itemsOf(id: string, text: Buffer | undefined): unknown {
  return text === undefined || idOf(text) !== id ? undefined : parseOwnJson(text.toString('utf8'))
}

/** As the end of a gzip file has it; Infinity: it has no end. */
function unpackedSize(packed: Uint8Array): number {
  const { buffer, byteOffset, length } = packed
  return length < 4 ? Infinity : new DataView(buffer, byteOffset, length).getUint32(length - 4, true)
}
