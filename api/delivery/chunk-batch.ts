// The content of chunks in the order of their list: several are unpacked at once.
import type { ListName } from '../ir/lists.ts'
import { findChunk, type PackedChunk, unpackChunks } from './chunks.ts'
import type { ReadFile } from './fault.ts'

/** About 600 KiB of text. */
export const BATCH_MAX = 64

export interface ChunkContent {
  readonly name: string
  /** undefined: not that of the id. */
  readonly items: unknown
}

export class ChunkBatch {
  readonly #list: ListName
  readonly #file: ReadFile
  #contents = new Map<string, ChunkContent>()

  constructor(list: ListName, file: ReadFile) {
    this.#list = list
    this.#file = file
  }

  /** Each content once; undefined: no file has it. `following`: fewer than BATCH_MAX ids that are needed next. */
  take(id: string, following: () => readonly string[]): ChunkContent | undefined {
    if (!this.#contents.has(id)) this.#unpack([id, ...following()])
    const content = this.#contents.get(id)
    // Its items belong to one list; another use needs other objects.
    this.#contents.delete(id)
    return content
  }

  #unpack(ids: readonly string[]): void {
    const chunks = [...new Set(ids)].flatMap((id): PackedChunk[] => {
      const found = findChunk(this.#list, id, this.#file)
      return found === undefined ? [] : [{ id, ...found }]
    })
    const items = unpackChunks(chunks)
    this.#contents = new Map(chunks.map(({ id, name }, at) => [id, { name, items: items[at] }]))
  }
}
