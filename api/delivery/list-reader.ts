// One list of a configuration out of its chunks: only those that are new are unpacked and checked, and their items are
// the objects of before wherever they say the same.
import { isIdentical } from '../identical.ts'
import { emptyConfig } from '../ir/empty.ts'
import { isSame } from '../ir/keep-items.ts'
import { keyOfItem, type ListName } from '../ir/lists.ts'
import { validateConfig } from '../ir/validate.ts'
import { chunkFile, chunkFiles, findChunk, unpackChunk } from './chunks.ts'
import type { DeliveryFault, MissingFile, ReadFile } from './fault.ts'
import { type ChunkRef, readChunkRef } from './index-file.ts'

type Items = readonly object[]

export class ListReader {
  readonly #list: ListName
  /** Of the last list that was read, by id. */
  #chunks: ReadonlyMap<string, Items> = new Map()
  /** Of the chunks that #items are made of; undefined: they came another way. */
  #ids: readonly string[] | undefined = []
  #items: Items = []

  constructor(list: ListName) {
    this.#list = list
  }

  /** What came another way: it is what the next one is compared with. */
  setItems(items: Items): void {
    if (items === this.#items) return
    this.#items = items
    this.#chunks = new Map()
    this.#ids = undefined
  }

  missing(refs: readonly ChunkRef[], file: ReadFile): MissingFile[] {
    const list = this.#list
    return refs.flatMap((ref) => {
      const { id, shard } = readChunkRef(ref)
      if (this.#chunks.has(id) || findChunk(list, id, file) !== undefined) return []
      return [{ names: chunkFiles(list, id), part: list === 'workloads' ? 'endpoints' : 'config', shard }]
    })
  }

  /** The same chunks as last time. */
  #isAsBefore(refs: readonly ChunkRef[]): boolean {
    const ids = this.#ids
    return ids !== undefined && refs.length === ids.length && ids.every((id, at) => refs[at]?.startsWith(id) === true)
  }

  read(refs: readonly ChunkRef[], file: ReadFile): { readonly items: Items } | { readonly fault: DeliveryFault } {
    if (this.#isAsBefore(refs)) return { items: this.#items }
    const chunks = new Map<string, Items>()
    const fresh: string[] = []
    const ids = refs.map((ref) => readChunkRef(ref).id)
    for (const id of ids) {
      const known = this.#chunks.get(id) ?? this.#unpack(id, file)
      if ('fault' in known) return known
      if (!this.#chunks.has(id)) fresh.push(id)
      chunks.set(id, known)
    }
    if (fresh.length > 0) this.#keep(fresh, chunks)
    const items = ids.flatMap((id) => chunks.get(id) ?? [])
    this.#chunks = chunks
    this.#ids = ids
    if (!isIdentical(items, this.#items)) this.#items = items
    return { items: this.#items }
  }

  #unpack(id: string, file: ReadFile): Items | { readonly fault: DeliveryFault } {
    const list = this.#list
    const found = findChunk(list, id, file)
    if (found === undefined) {
      // missing() asks before.
      return refused('Incomplete', `not there: ${chunkFile(list, id, 'gz')}`)
    }
    const items = unpackChunk(id, found.name, found.content)
    if (items === undefined) return refused('Corrupt', `${found.name}: the content is not what the index says`)
    const [problem] = validateConfig({ ...emptyConfig(), [list]: items })
    if (problem !== undefined) return refused('Invalid', `${found.name}: ${problem.path}: ${problem.message}`)
    // validateConfig: a list of items.
    return items as Items
  }

  /** Puts the objects of chunks that go into those that come. */
  #keep(fresh: readonly string[], chunks: Map<string, Items>): void {
    const list = this.#list
    const gone =
      this.#chunks.size === 0 ? this.#items : [...this.#chunks].flatMap(([id, items]) => (chunks.has(id) ? [] : items))
    const before = new Map(gone.map((item) => [keyOfItem(list, item), item]))
    for (const id of fresh) {
      const items = (chunks.get(id) ?? []).map((item) => {
        const known = before.get(keyOfItem(list, item))
        return known !== undefined && isSame(known, item) ? known : item
      })
      chunks.set(id, items)
    }
  }
}

function refused(reason: DeliveryFault['reason'], message: string): { readonly fault: DeliveryFault } {
  return { fault: { reason, message, missing: [] } }
}
