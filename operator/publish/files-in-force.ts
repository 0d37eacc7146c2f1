// The files that the delivery in force consists of, read from its objects: until a new index is written, a proxy may
// look for any of them. Pure.
import { chunkFiles } from '#api/delivery/chunks.ts'
import { type Files, shardOfFile } from '#api/delivery/document.ts'
import {
  type ChunkRef,
  type DeliveryIndex,
  endpointIndexFile,
  INDEX_FILE,
  readChunkRef,
  ROUTING_LISTS,
} from '#api/delivery/index-file.ts'
import type { DeliveryNames } from '#api/delivery/names.ts'
import type { ListName } from '#api/ir/lists.ts'
import type { HeldFiles, ObjectName } from './held-files.ts'
import { deliveryIndexOf, endpointIndexOf } from './known-indexes.ts'

export interface FilesInForce {
  /** undefined: nothing is in force. */
  readonly index: DeliveryIndex | undefined
  readonly config: ReadonlySet<string>
  readonly endpoints: ReadonlySet<string>
  readonly secrets: ReadonlySet<string>
}

export function filesInForce(objects: HeldFiles, names: DeliveryNames): FilesInForce {
  const head = (list: readonly string[]): Files => objects.files({ kind: 'ConfigMap', name: list[0] ?? '' })
  const read = deliveryIndexOf(head(names.config).get(INDEX_FILE))
  if ('fault' in read) return { index: undefined, config: new Set(), endpoints: new Set(), secrets: new Set() }
  const { index } = read
  const endpointHead = head(names.endpoints)
  let [config, endpoints]: (ReadonlySet<string> | undefined)[] = []
  // Computed only when needed: there are many.
  return {
    index,
    secrets: new Set(index.secrets.files),
    get config() {
      return (config ??= new Set(configFiles(index)))
    },
    get endpoints() {
      return (endpoints ??= new Set(endpointFiles(endpointHead, index.services)))
    },
  }
}

/** The objects that hold them. `objects` has read the first one of each part. */
export function objectNamesInForce(objects: HeldFiles, names: DeliveryNames): ObjectName[] {
  const { index } = filesInForce(objects, names)
  if (index === undefined) return []
  const head = objects.files({ kind: 'ConfigMap', name: names.endpoints[0] ?? '' })
  const shardsOfChunks = (refs: readonly ChunkRef[]): number[] => refs.map((ref) => readChunkRef(ref).shard)
  const shards = {
    config:
      index.format === 1
        ? index.config.files.map(shardOfFile)
        : ROUTING_LISTS.flatMap((list) => shardsOfChunks(index.lists[list] ?? [])),
    endpoints: endpointShards(head, index.services),
    secrets: index.secrets.files.map(shardOfFile),
  }
  return (['secrets', 'endpoints', 'config'] as const).flatMap((part) =>
    [...new Set(shards[part])].flatMap((shard): ObjectName[] => {
      const name = names[part][shard]
      return name === undefined ? [] : [{ kind: part === 'secrets' ? 'Secret' : 'ConfigMap', name }]
    }),
  )
}

function endpointShards(head: Files, services: string): number[] {
  const read = endpointIndexOf(head.get(endpointIndexFile(services)), services)
  if ('fault' in read) return []
  const { index } = read
  return index.format === 1
    ? index.endpoints.files.map(shardOfFile)
    : index.workloads.map((ref) => readChunkRef(ref).shard)
}

function configFiles(index: DeliveryIndex): string[] {
  if (index.format === 1) return [INDEX_FILE, ...index.config.files]
  return [INDEX_FILE, ...ROUTING_LISTS.flatMap((list) => filesOfChunks(list, index.lists[list] ?? []))]
}

function endpointFiles(head: Files, services: string): string[] {
  const name = endpointIndexFile(services)
  const read = endpointIndexOf(head.get(name), services)
  if ('fault' in read) return []
  const { index } = read
  return [name, ...(index.format === 1 ? index.endpoints.files : filesOfChunks('workloads', index.workloads))]
}

function filesOfChunks(list: ListName, refs: readonly ChunkRef[]): string[] {
  return refs.flatMap((ref) => chunkFiles(list, readChunkRef(ref).id))
}
