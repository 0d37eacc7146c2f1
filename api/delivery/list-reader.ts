// Reads one list of a configuration from its chunks: only new chunks are unpacked and checked, and items that are
// equal to previous ones are the same objects.
import { isRecord } from '../json.ts'
import { type ListChange, listChanges, noteChanges } from '../incremental/list-change.ts'
import { emptyConfig } from '../ir/empty.ts'
import { keyOfItem, type ListName } from '../ir/lists.ts'
import { validateConfig } from '../ir/validate.ts'
import type { Problem } from '../problem.ts'
import { isSame } from '../incremental/same.ts'
import { BATCH_MAX, ChunkBatch, type ChunkContent } from './chunk-batch.ts'
import { chunkFile, chunkFiles, findChunk } from './chunks.ts'
import type { DeliveryFault, MissingFile, ReadFile } from './fault.ts'
import { type ChunkRef, readChunkRef } from './index-file.ts'

type Items = readonly object[]

interface ReadChunk {
  readonly id: string
  readonly items: Items
}

export class ListReader {
  readonly #list: ListName
  /** Of the last list that was read, with the chunks that they stand for. */
  #refs: readonly ChunkRef[] = []
  #chunks: readonly ReadChunk[] = []
  #items: Items = []

  constructor(list: ListName) {
    this.#list = list
  }

  /** A configuration from another source: the next one is compared with it. */
  setItems(items: Items): void {
    if (items === this.#items) return
    this.#items = items
    this.#refs = [NO_REF]
    this.#chunks = [{ id: NO_REF, items }]
  }

  missing(refs: readonly ChunkRef[], file: ReadFile): MissingFile[] {
    const list = this.#list
    const changes = listChanges(this.#refs, refs)
    const known = this.#goneOf(changes)
    return changes
      .flatMap(({ added }) => added)
      .flatMap((ref) => {
        const { id, shard } = readChunkRef(ref)
        if (known.has(id) || findChunk(list, id, file) !== undefined) return []
        return [{ names: chunkFiles(list, id), part: list === 'workloads' ? 'endpoints' : 'config', shard } as const]
      })
  }

  read(refs: readonly ChunkRef[], file: ReadFile): { readonly items: Items } | { readonly fault: DeliveryFault } {
    const changes = listChanges(this.#refs, refs)
    if (changes.length === 0) return { items: this.#items }
    const gone = this.#goneOf(changes)
    const before = new Map([...gone.values()].flat().map((item) => [keyOfItem(this.#list, item), item]))
    const chunks = [...this.#chunks]
    const batch = new ChunkBatch(this.#list, file)
    const ofItems: ListChange<object>[][] = []
    // From the end, so that places before stay those of the earlier list.
    for (const { at, removed, added } of changes.toReversed()) {
      const come: ReadChunk[] = []
      const ids = added.map((ref) => readChunkRef(ref).id)
      for (const [place, id] of ids.entries()) {
        const known = gone.get(id)
        const following = (): string[] => ids.slice(place + 1, place + BATCH_MAX).filter((next) => !gone.has(next))
        const items = known ?? this.#checked(id, batch.take(id, following), before)
        if ('fault' in items) return items
        // A chunk that moved is used once; a second use would hold the same objects.
        if (known !== undefined) gone.delete(id)
        come.push({ id, items })
      }
      ofItems.unshift(this.#itemChanges(at, removed.length, come))
      chunks.splice(at, removed.length, ...come)
    }
    this.#refs = refs
    this.#chunks = chunks
    const changed = ofItems.flat()
    if (changed.length > 0) {
      const items = itemsOf(chunks)
      noteChanges(this.#items, items, changed)
      this.#items = items
    }
    return { items: this.#items }
  }

  /** Where chunks make room for others. */
  #itemChanges(at: number, count: number, come: readonly ReadChunk[]): ListChange<object>[] {
    const start = this.#chunks.slice(0, at).reduce((sum, { items }) => sum + items.length, 0)
    const changes = listChanges(itemsOf(this.#chunks.slice(at, at + count)), itemsOf(come))
    return changes.map((change) => ({ ...change, at: start + change.at }))
  }

  /** The chunks that stand at other places now, or nowhere. */
  #goneOf(changes: readonly ListChange<ChunkRef>[]): Map<string, Items> {
    const gone = new Map<string, Items>()
    for (const { at, removed } of changes) {
      for (const { id, items } of this.#chunks.slice(at, at + removed.length)) gone.set(id, items)
    }
    return gone
  }

  /** `before`: objects that items may stay. */
  #checked(
    id: string,
    found: ChunkContent | undefined,
    before: Map<string, object>,
  ): Items | { readonly fault: DeliveryFault } {
    const list = this.#list
    if (found === undefined) {
      // missing() asks before.
      return refused('Incomplete', `missing: ${chunkFile(list, id, 'gz')}`)
    }
    const { items: content } = found
    if (content === undefined) return refused('Corrupt', `${found.name}: the content does not match the index`)
    const problemOf = (items: unknown): Problem | undefined => validateConfig({ ...emptyConfig(), [list]: items })[0]
    if (!Array.isArray(content) || !content.every(isRecord)) {
      const problem = problemOf(content)
      return refused('Invalid', `${found.name}: ${problem?.path}: ${problem?.message}`)
    }
    const items = content.map((item) => {
      const key = keyOfItem(list, item)
      const known = before.get(key)
      if (known === undefined || !isSame(known, item)) return item
      // No object is in a list twice.
      before.delete(key)
      return known
    })
    // An item that equals a checked one needs no check.
    const isFine = problemOf(items.filter((item, at) => item === content[at])) === undefined
    const problem = isFine ? undefined : problemOf(content)
    return problem === undefined ? items : refused('Invalid', `${found.name}: ${problem.path}: ${problem.message}`)
  }
}

function itemsOf(chunks: readonly ReadChunk[]): Items {
  return new Array<object>().concat(...chunks.map(({ items }) => items))
}

/** No chunk has this reference. */
const NO_REF = ''

function refused(reason: DeliveryFault['reason'], message: string): { readonly fault: DeliveryFault } {
  return { fault: { reason, message, missing: [] } }
}
