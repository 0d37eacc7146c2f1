// The document of secrets as pieces whose borders depend on their own items: a changed secret changes one or two of
// them. Joined, the pieces are one gzip file, so that every reader of whole documents reads them. Pure.
import { createHash } from 'node:crypto'
import { constants, gunzipSync } from 'node:zlib'
import type { RenderedSecrets } from '../ir/types.gen.ts'
import { endsAt } from './chunks.ts'
import { type DocumentRef, gzipped, READABLE_BYTES_MAX } from './document.ts'
import { OBJECT_BYTES_MAX } from './encode.ts'
import { SHARDS_MAX } from './names.ts'

type RenderedSecret = RenderedSecrets['secrets'][number]

export interface SecretPiece {
  /** Hash of its text and of the salt: 96 bits, hexadecimal. */
  readonly id: string
  readonly content: Uint8Array
}

export interface EncodedSecrets extends Omit<DocumentRef, 'files'> {
  /** In order; a readable document is one piece. */
  readonly pieces: readonly SecretPiece[]
  /** `namespace/name` of the Secrets for which the objects have no room: the largest ones, sorted. */
  readonly leftOut: readonly string[]
}

/**
 * Of the text of a document, the least part that makes a piece. A reader takes 64 files; the borders below make at most
 * 4/3 of this number, and the head.
 */
const PIECES = 40
const PIECE_BYTES_MIN = 32 * 1024
/** The sizes of pieces grow in steps, so that most changes of the whole size change no border. */
const STEP = 1.25
/** A piece that would be this many times the least size ends before the item. */
const PIECE_MAX = 1.5
/** One item in so many may end a piece. */
const ITEMS_MEAN = 8
const ID_CHARS = 24
/** Of a first piece: the salt is at its start. */
const HEAD_CHARS_MAX = 100
/** Room that is not used when Secrets are left out, so that a small change does not leave out others. */
const SPARE = 0.05

/** The name of the file of a piece in the object with this number. */
export function secretFile({ encoding }: Pick<DocumentRef, 'encoding'>, { id }: SecretPiece, shard: number): string {
  return encoding === 'json' ? `secrets-${id}.json` : `secrets-${id}.${shard}.gz`
}

/** The inverse, for a packed document; undefined: it is not the name of a piece. */
export function pieceIdOf(file: string): string | undefined {
  return /^secrets-([0-9a-f]+)\.\d+\.gz$/.exec(file)?.[1]
}

export function pieceId(salt: string, text: string | Uint8Array): string {
  return createHash('sha256').update(salt).update(text).digest('hex').slice(0, ID_CHARS)
}

function headText(salt: string, version: number): string {
  return `{"salt":${JSON.stringify(salt)},"version":${version},"secrets":[`
}

/** undefined: it is not the first piece. */
export function headOf(text: string): { readonly salt: string; readonly version: number } | undefined {
  const [, salt, version] = /^\{"salt":"([^"\\]*)","version":(\d+),"secrets":\[$/.exec(text) ?? []
  return salt === undefined ? undefined : { salt, version: Number(version) }
}

/** For one Gateway: packs only changed pieces. Returns the same as a fresh one. */
export class SecretEncoder {
  #known: ReadonlyMap<string, SecretPiece> = new Map()

  encode(salt: string, { version, secrets }: RenderedSecrets): EncodedSecrets {
    const head = headText(salt, version)
    let items = secrets.map((item): Item => ({ item, text: JSON.stringify(item) }))
    const leftOut: string[] = []
    // Also those of Secrets that are left out: they are not packed again for each change.
    const packed = new Map<string, SecretPiece>()
    // Ends at the latest when no Secret is left.
    for (;;) {
      const encoded = this.#encode(salt, head, items)
      for (const piece of encoded.pieces) packed.set(piece.id, piece)
      if (areFitting(encoded.pieces)) {
        this.#known = packed
        return { ...encoded, leftOut: leftOut.sort() }
      }
      const gone = largest(items, encoded)
      leftOut.push(...gone)
      items = items.filter(({ item }) => !gone.has(secretOf(item)))
    }
  }

  #encode(salt: string, head: string, items: readonly Item[]): Omit<EncodedSecrets, 'leftOut'> {
    const texts = [head, ...joined(items)]
    const hash = createHash('sha256')
    let bytes = 0
    for (const text of texts) {
      hash.update(text)
      bytes += Buffer.byteLength(text)
    }
    const sha256 = hash.digest('hex')
    if (bytes <= READABLE_BYTES_MAX) {
      const piece = { id: sha256.slice(0, ID_CHARS), content: Buffer.from(texts.join('')) }
      return { encoding: 'json', bytes, sha256, pieces: [piece] }
    }
    const pieces = texts.map((text) => {
      const id = pieceId(salt, text)
      return this.#known.get(id) ?? { id, content: gzipped(text) }
    })
    return { encoding: 'gzip', bytes, sha256, pieces }
  }
}

interface Item {
  readonly item: RenderedSecret
  readonly text: string
}

/** The texts of the pieces after the head. */
function joined(items: readonly Item[]): string[] {
  const total = items.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0)
  let least = PIECE_BYTES_MIN
  while (least * PIECES < total) least *= STEP
  const texts: string[] = []
  let piece: string[] = []
  let bytes = 0
  const end = (): void => {
    if (piece.length > 0) texts.push(piece.join(''))
    piece = []
    bytes = 0
  }
  for (const [at, { item, text }] of items.entries()) {
    const size = Buffer.byteLength(text) + 1
    if (bytes + size > least * PIECE_MAX) end()
    piece.push(at === items.length - 1 ? text : `${text},`)
    bytes += size
    if (bytes >= least && endsAt(item.key, ITEMS_MEAN)) end()
  }
  piece.push(']}')
  end()
  return texts
}

/** Each piece has a place, the largest ones first. */
function areFitting(pieces: readonly SecretPiece[]): boolean {
  const rooms = Array.from({ length: SHARDS_MAX.secrets }, () => OBJECT_BYTES_MAX)
  return pieces
    .map(sizeOfPiece)
    .sort((a, b) => b - a)
    .every((size) => {
      const at = rooms.findIndex((room) => size <= room)
      rooms[at] = (rooms[at] ?? 0) - size
      return at !== -1
    })
}

/** With its file name. */
function sizeOfPiece(piece: SecretPiece): number {
  return secretFile({ encoding: 'gzip' }, piece, SHARDS_MAX.secrets).length + piece.content.length
}

/** At least one Secret; as many as seem to make room for the others. */
function largest(items: readonly Item[], { pieces, bytes }: Pick<EncodedSecrets, 'pieces' | 'bytes'>): Set<string> {
  const sizes = new Map<string, number>()
  for (const { item, text } of items) sizes.set(secretOf(item), (sizes.get(secretOf(item)) ?? 0) + text.length)
  const packed = pieces.reduce((sum, piece) => sum + sizeOfPiece(piece), 0)
  const room = SHARDS_MAX.secrets * OBJECT_BYTES_MAX * (1 - SPARE)
  let over = (packed - room) * (bytes / packed)
  const gone = new Set<string>()
  for (const [name, size] of [...sizes].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))) {
    gone.add(name)
    over -= size
    if (over <= 0) break
  }
  return gone
}

/** `{namespace}/{name}/{data key}` without the last part. */
function secretOf({ key }: RenderedSecret): string {
  return key.split('/', 2).join('/')
}

/** The salt in the first file of a document; undefined: it has none. */
export function saltOf(file: string, content: Uint8Array): string | undefined {
  const text = file.endsWith('.json') ? Buffer.from(content.subarray(0, HEAD_CHARS_MAX)) : startOf(content)
  return /"salt":"([0-9a-f]{32})"/.exec(text.toString('utf8', 0, HEAD_CHARS_MAX))?.[1]
}

/** A file of the previous version is a part of a gzip stream. */
function startOf(packed: Uint8Array): Buffer {
  try {
    return gunzipSync(packed.subarray(0, PIECE_BYTES_MIN), { finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    // Damaged: a new salt is made, and everything is written again.
    return Buffer.alloc(0)
  }
}
