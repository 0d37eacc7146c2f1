// Chooses the object of each chunk of one part of a delivery: changed chunks are beside the index, in the one object
// that every proxy watches, so that a change is one small write; later they move to the other objects. Pure.
import { type Chunk, type ChunkEncoding, chunkFile, findChunk, hasChunk, packChunk } from '#api/delivery/chunks.ts'
import type { Files } from '#api/delivery/document.ts'
import { OBJECT_BYTES_MAX, sizeOf } from '#api/delivery/encode.ts'
import { type ChunkRef, chunkRef } from '#api/delivery/index-file.ts'
import { isIdentical } from '#api/incremental/identical.ts'
import type { ListName } from '#api/ir/lists.ts'

export interface WantedList {
  readonly list: ListName
  readonly chunks: readonly Chunk[]
}

export interface PartInput {
  /** The files in the objects of the part, the object of the index first; empty if it does not exist. */
  readonly present: readonly Files[]
  readonly wanted: readonly WantedList[]
  readonly encoding: ChunkEncoding
  /** Files that the delivery in force needs until the index is written. */
  readonly inForce: () => ReadonlySet<string>
  /** Those of them that must stay beside the index. */
  readonly besideIndex: Files
  /** The files of the index, when the object of each chunk is known. */
  readonly index: (refsOf: (list: ListName) => readonly ChunkRef[]) => Files
}

export interface ShardFiles {
  readonly shard: number
  readonly files: Files
}

export interface PartPlan {
  /** Before the index, because its object cannot hold them all. */
  readonly first: readonly ShardFiles[]
  readonly head: Files
  /** After the index, when no proxy waits: makes the next change small again. */
  readonly later: readonly ShardFiles[]
}

/** Chunks beside the index: each change carries them again. */
const RECENT_BYTES = 16 * 1024
/** With the index; further chunks go to the other objects first. */
const HEAD_BYTES_MAX = 512 * 1024
/** Objects are filled evenly up to this size, so that rewriting one stays cheap, and then up to the maximum. */
const SHARD_BYTES = 192 * 1024

/** A list, and the object of each chunk. */
interface PlacedList extends WantedList {
  /** The objects that were checked, without that of the index. */
  readonly shards: readonly Files[]
  readonly refs: readonly ChunkRef[]
  /** In none of these objects. */
  readonly recent: readonly Chunk[]
}

interface ChunkPlace {
  readonly shard: number
  /** The content of the object at that time; with another content it must be checked again. */
  readonly files: Files
}

type PackedFile = readonly [string, Uint8Array]

interface PackedChunk {
  readonly encoding: ChunkEncoding
  readonly file: PackedFile
}

type PackedChunks = Map<Chunk, PackedChunk>

/** For one part of one Gateway. Checks only changed lists and objects; returns the same as a fresh planner. */
export class PartPlanner {
  readonly #places = new WeakMap<Chunk, ChunkPlace>()
  readonly #lists = new Map<ListName, PlacedList>()
  /** Of the last plan, if it failed: a list that is too large is not packed again for each change. */
  #packed: PackedChunks = new Map()

  /** undefined: it does not fit into the objects of the part. */
  plan(input: PartInput): PartPlan | undefined {
    const placed = this.#placedAll(input, input.present)
    const packed = new Map<Chunk, PackedChunk>()
    const files = new Map(placed.flatMap((one) => this.#filesOf(one, input, packed)))
    const plan = this.#planned(input, placed, files)
    this.#packed = plan === undefined ? packed : new Map()
    return plan
  }

  #planned(input: PartInput, placed: readonly PlacedList[], files: Files): PartPlan | undefined {
    const { present, besideIndex } = input
    const index = indexOf(input, placed)
    const bytes = sizeOf(files)
    if (sizeOf(index) + bytes + sizeOf(besideIndex) <= HEAD_BYTES_MAX) {
      // Without room the chunks stay where they are.
      const later = bytes > RECENT_BYTES ? distributed(input, files) : undefined
      return { first: [], head: joined(index, files, besideIndex), later: later ?? [] }
    }
    const first = distributed(input, files)
    if (first === undefined) return undefined
    const filled = present.map((held, shard) => first.find((one) => one.shard === shard)?.files ?? held)
    const moved = indexOf(input, this.#placedAll(input, filled))
    const kept = sizeOf(moved) + sizeOf(besideIndex) <= OBJECT_BYTES_MAX ? besideIndex : new Map()
    return sizeOf(moved) > OBJECT_BYTES_MAX ? undefined : { first, head: joined(moved, kept), later: [] }
  }

  /** Chunks for which there is no other place. */
  #filesOf({ list, recent }: PlacedList, { present, encoding }: PartInput, packed: PackedChunks): PackedFile[] {
    const [files] = present
    return recent.map((chunk) => {
      const there = files && findChunk(list, chunk.id, (name) => files.get(name))
      if (there !== undefined) return [there.name, there.content]
      const known = this.#packed.get(chunk)
      const one = known?.encoding === encoding ? known : { encoding, file: packChunk(list, chunk, encoding) }
      packed.set(chunk, one)
      return one.file
    })
  }

  #placedAll({ wanted }: PartInput, present: readonly Files[]): PlacedList[] {
    const shards = present.slice(1)
    return wanted.map((one) => {
      const known = this.#lists.get(one.list)
      if (known?.chunks === one.chunks && isIdentical(known.shards, shards)) return known
      const placed = this.#placed(one, shards)
      this.#lists.set(one.list, placed)
      return placed
    })
  }

  #placed({ list, chunks }: WantedList, shards: readonly Files[]): PlacedList {
    const refs: ChunkRef[] = []
    const recent: Chunk[] = []
    for (const chunk of chunks) {
      const shard = this.#shardOf(list, chunk, shards)
      refs.push(chunkRef(chunk.id, shard))
      if (shard === 0) recent.push(chunk)
    }
    return { list, chunks, shards, refs, recent }
  }

  /** 0: in none of these. */
  #shardOf(list: ListName, chunk: Chunk, shards: readonly Files[]): number {
    const known = this.#places.get(chunk)
    if (known !== undefined && shards[known.shard - 1] === known.files) return known.shard
    for (const [at, files] of shards.entries()) {
      if (!hasChunk(files, list, chunk.id)) continue
      this.#places.set(chunk, { shard: at + 1, files })
      return at + 1
    }
    return 0
  }
}

function indexOf({ index }: PartInput, placed: readonly PlacedList[]): Files {
  return index((list) => placed.find((one) => one.list === list)?.refs ?? [])
}

function joined(...parts: readonly Files[]): Files {
  return new Map(parts.flatMap((files) => [...files]))
}

/** The objects to write when these files move to the objects other than that of the index; undefined: no room. */
function distributed(input: PartInput, files: Files): ShardFiles[] | undefined {
  return spread(files, rooms(input, input.inForce())) ?? spread(files, rooms(input, new Set()))
}

interface Room extends ShardFiles {
  bytes: number
  isChanged: boolean
}

function spread(files: Files, all: readonly Room[]): ShardFiles[] | undefined {
  for (const [name, content] of files) {
    const size = name.length + content.length
    const room =
      all.find(({ bytes }) => bytes + size <= SHARD_BYTES) ?? all.find(({ bytes }) => bytes + size <= OBJECT_BYTES_MAX)
    if (room === undefined) return undefined
    room.files.set(name, content)
    room.bytes += size
    room.isChanged = true
  }
  return all.filter(({ isChanged }) => isChanged)
}

/** The size of the needed files of each object, the emptiest first. */
function rooms({ present, wanted }: PartInput, inForce: ReadonlySet<string>): Room[] {
  const needed = new Set(inForce)
  for (const { list, chunks } of wanted) {
    for (const { id } of chunks)
      for (const encoding of ['json', 'gz'] as const) needed.add(chunkFile(list, id, encoding))
  }
  return present
    .map((held, shard) => {
      const files: Files = new Map([...held].filter(([name]) => needed.has(name)))
      return { shard, files, bytes: sizeOf(files), isChanged: false }
    })
    .slice(1)
    .sort((a, b) => a.bytes - b.bytes)
}
