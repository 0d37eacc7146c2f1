// Where the chunks of one part of a delivery go: what changed lies beside the index, in the one object that every proxy
// watches, so that a change is one small write; what has gathered there moves on to the other objects later. Pure.
import { type ChunkEncoding, chunkFile, findChunk, packChunk, type Chunk } from '#api/delivery/chunks.ts'
import type { Files } from '#api/delivery/document.ts'
import { OBJECT_BYTES_MAX, sizeOf } from '#api/delivery/encode.ts'
import { type ChunkRef, chunkRef } from '#api/delivery/index-file.ts'
import type { ListName } from '#api/ir/lists.ts'

export interface WantedChunk {
  readonly list: ListName
  readonly chunk: Chunk
}

export interface PartInput {
  /** What the objects of the part hold, the one of the index first; empty where there is none. */
  readonly present: readonly Files[]
  readonly wanted: readonly WantedChunk[]
  readonly encoding: ChunkEncoding
  /** Files that the delivery in force needs until the index is written. */
  readonly inForce: () => ReadonlySet<string>
  /** Those of them that have to stay beside the index. */
  readonly besideIndex: Files
  /** The files of the index, when it is known where each chunk lies. */
  readonly index: (refOf: (chunk: Chunk) => ChunkRef) => Files
}

export interface ShardFiles {
  readonly shard: number
  readonly files: Files
}

export interface PartPlan {
  /** Before the index, because its object cannot take it all. */
  readonly first: readonly ShardFiles[]
  readonly head: Files
  /** After the index, when nobody waits: makes the next change small again. */
  readonly later: readonly ShardFiles[]
}

/** Chunks beside the index: each change carries them again. */
const RECENT_BYTES = 16 * 1024
/** With the index; more goes to the other objects first. */
const HEAD_BYTES_MAX = 512 * 1024
/** Objects are filled evenly up to here, so that rewriting one stays cheap, and then up to what one may hold. */
const SHARD_BYTES = 192 * 1024

/** undefined: it does not fit into the objects of the part. */
export function planPart(input: PartInput): PartPlan | undefined {
  const { present, wanted, besideIndex } = input
  const shards = new ShardSet(input)
  const recent: WantedChunk[] = wanted.filter((one) => shards.of(one) === 0)
  const files = new Map(recent.map((one) => fileOf(one, present[0], input.encoding)))
  const refOf = (list: ReadonlyMap<Chunk, number>) => (chunk: Chunk) => chunkRef(chunk.id, list.get(chunk) ?? 0)
  const index = input.index(refOf(shards.places()))
  const bytes = sizeOf(files)
  if (sizeOf(index) + bytes + sizeOf(besideIndex) <= HEAD_BYTES_MAX) {
    // Without room the chunks stay where they are.
    const later = bytes > RECENT_BYTES ? shards.take(recent, files) : undefined
    return { first: [], head: joined(index, files, besideIndex), later: later ?? [] }
  }
  const first = shards.take(recent, files)
  if (first === undefined) return undefined
  const moved = input.index(refOf(shards.places()))
  const kept = sizeOf(moved) + sizeOf(besideIndex) <= OBJECT_BYTES_MAX ? besideIndex : new Map()
  return sizeOf(moved) > OBJECT_BYTES_MAX ? undefined : { first, head: joined(moved, kept), later: [] }
}

function joined(...parts: readonly Files[]): Files {
  return new Map(parts.flatMap((files) => [...files]))
}

function fileOf(
  { list, chunk }: WantedChunk,
  files: Files | undefined,
  encoding: ChunkEncoding,
): readonly [string, Uint8Array] {
  const there = files && findChunk(list, chunk.id, (name) => files.get(name))
  return there === undefined ? packChunk(list, chunk, encoding) : [there.name, there.content]
}

/** The objects besides that of the index. */
class ShardSet {
  readonly #input: PartInput
  /** Files to the object that holds them. */
  readonly #shardOf = new Map<string, number>()
  readonly #places = new Map<Chunk, number>()

  constructor(input: PartInput) {
    this.#input = input
    for (const [shard, files] of input.present.entries()) {
      if (shard > 0) for (const name of files.keys()) this.#shardOf.set(name, shard)
    }
    for (const { list, chunk } of input.wanted) {
      const shard = this.#find(list, chunk.id)
      if (shard !== undefined) this.#places.set(chunk, shard)
    }
  }

  /** 0: in none of these. */
  of({ chunk }: WantedChunk): number {
    return this.#places.get(chunk) ?? 0
  }

  places(): ReadonlyMap<Chunk, number> {
    return this.#places
  }

  /** The objects to be written when these chunks move here; undefined: there is no room. */
  take(chunks: readonly WantedChunk[], files: Files): ShardFiles[] | undefined {
    const placed = this.#distribute([...files], true) ?? this.#distribute([...files], false)
    if (placed === undefined) return undefined
    for (const { list, chunk } of chunks) {
      for (const { shard, files: now } of placed) {
        if (findChunk(list, chunk.id, (name) => now.get(name)) !== undefined) this.#places.set(chunk, shard)
      }
    }
    return placed
  }

  #distribute(files: readonly (readonly [string, Uint8Array])[], keepsInForce: boolean): ShardFiles[] | undefined {
    const rooms = this.#rooms(keepsInForce)
    for (const [name, content] of files) {
      const size = name.length + content.length
      const room =
        rooms.find(({ bytes }) => bytes + size <= SHARD_BYTES) ??
        rooms.find(({ bytes }) => bytes + size <= OBJECT_BYTES_MAX)
      if (room === undefined) return undefined
      room.files.set(name, content)
      room.bytes += size
      room.isChanged = true
    }
    return rooms.filter(({ isChanged }) => isChanged)
  }

  /** What each object still needs, the emptiest first. */
  #rooms(keepsInForce: boolean): (ShardFiles & { bytes: number; isChanged: boolean })[] {
    const { present, wanted, inForce } = this.#input
    const needed = new Set(keepsInForce ? inForce() : [])
    for (const { list, chunk } of wanted) {
      for (const encoding of ['json', 'gz'] as const) needed.add(chunkFile(list, chunk.id, encoding))
    }
    return present
      .map((held, shard) => {
        const files: Files = new Map([...held].filter(([name]) => needed.has(name)))
        return { shard, files, bytes: sizeOf(files), isChanged: false }
      })
      .slice(1)
      .sort((a, b) => a.bytes - b.bytes)
  }

  #find(list: ListName, id: string): number | undefined {
    return this.#shardOf.get(chunkFile(list, id, 'gz')) ?? this.#shardOf.get(chunkFile(list, id, 'json'))
  }
}
