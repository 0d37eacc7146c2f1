// The index of a delivery: which documents a proxy has to have before it may apply any of them. Reading checks form,
// so that a damaged index is rejected as a whole. Pure.
import { isRecord, parseOwnJson } from '../json.ts'
import { LIST_NAMES, type ListName } from '../ir/lists.ts'
import type { DocumentRef } from './document.ts'

export const INDEX_FILE = 'index.json'

/** A reader takes its own format and the one before. 1: whole documents (document.ts); 2: chunks (chunks.ts). */
export const DELIVERY_FORMAT = 2
export type DeliveryFormat = 1 | 2
const FORMATS_READ: ReadonlySet<unknown> = new Set([1, 2])

/** Pieces of one document; far above SHARDS_MAX. */
const FILES_MAX = 64
const FILE_NAME = /^[a-z0-9][a-z0-9.-]{0,199}$/
const HASH = /^[0-9a-f]{24,64}$/

/** Of one list: far above what fits into the objects of a delivery. */
const CHUNKS_MAX = 20_000
const CHUNK_ID_CHARS = 27
const CHUNK_REF = /^[A-Za-z0-9_-]{27}(\.\d{1,2})?$/

interface AnyDeliveryIndex {
  /** Grows with every delivery to this Gateway. */
  readonly generation: number
  /** The Gateway that this was rendered for: its identity, and the generation of its spec. */
  readonly gateway: { readonly uid: string; readonly generation: number }
  readonly secrets: DocumentRef
  /** Hash of the Services of the configuration: names the endpoint index that fits. */
  readonly services: string
  /** About how many proxies the Gateway has, if it has many; see acknowledging.ts. */
  readonly proxies?: number | undefined
}

export interface DocumentIndex extends AnyDeliveryIndex {
  readonly format: 1
  /** The configuration without endpoints. */
  readonly config: DocumentRef
}

export interface ChunkIndex extends AnyDeliveryIndex {
  readonly format: 2
  /** Of the rendered configuration. */
  readonly version: number
  readonly lists: ListRefs
}

export type DeliveryIndex = DocumentIndex | ChunkIndex

/** Lists of the configuration that live in the config objects. */
export type RoutingList = Exclude<ListName, 'workloads'>

export const ROUTING_LISTS = LIST_NAMES.filter((name): name is RoutingList => name !== 'workloads')

/** The chunks of each list, in order; a list that is empty may be left out. */
export type ListRefs = { readonly [L in RoutingList]?: readonly ChunkRef[] }

/**
 * A chunk id, and where it is: `<id>.3` is in the fourth object of its part, `<id>` in the first, that of the index.
 * Two references with one id are one chunk.
 */
export type ChunkRef = string

export function chunkRef(id: string, shard: number): ChunkRef {
  return shard === 0 ? id : `${id}.${shard}`
}

export function readChunkRef(ref: ChunkRef): { readonly id: string; readonly shard: number } {
  return { id: ref.slice(0, CHUNK_ID_CHARS), shard: Number(ref.slice(CHUNK_ID_CHARS + 1) || '0') }
}

/** The id of `readChunkRef` alone. */
export function chunkIdOf(ref: ChunkRef): string {
  return ref.slice(0, CHUNK_ID_CHARS)
}

/** Points to the endpoints of one set of Services; changes while the main index stays. */
export type EndpointIndex = DocumentEndpoints | ChunkEndpoints

interface DocumentEndpoints {
  readonly format: 1
  readonly services: string
  readonly endpoints: DocumentRef
}

export interface ChunkEndpoints {
  readonly format: 2
  readonly services: string
  readonly workloads: readonly ChunkRef[]
}

export function endpointIndexFile(services: string): string {
  return `endpoint-index-${services.slice(0, 24)}.json`
}

export type IndexOutcome<T> = { readonly index: T } | { readonly fault: string }

export function readDeliveryIndex(bytes: Uint8Array): IndexOutcome<DeliveryIndex> {
  const value = parseOwnJson(Buffer.from(bytes).toString('utf8'))
  if (!isRecord(value)) return { fault: 'the index is not a JSON object' }
  const { format, generation, gateway, secrets, services } = value
  if (!FORMATS_READ.has(format)) return unknownFormat(format)
  const isWhole =
    isCount(generation) &&
    isGatewayRef(gateway) &&
    isDocumentRef(secrets) &&
    isHash(services) &&
    isCount(value['proxies'] ?? 0) &&
    (format === 1 ? isDocumentRef(value['config']) : isCount(value['version']) && areListRefs(value['lists']))
  // Every field has been checked above.
  return isWhole ? { index: value as unknown as DeliveryIndex } : { fault: 'the index has missing fields' }
}

export function readEndpointIndex(bytes: Uint8Array, services: string): IndexOutcome<EndpointIndex> {
  const value = parseOwnJson(Buffer.from(bytes).toString('utf8'))
  if (!isRecord(value)) return { fault: 'the endpoint index is not a JSON object' }
  const { format, endpoints, workloads } = value
  if (!FORMATS_READ.has(format)) return unknownFormat(format)
  if (value['services'] !== services) return { fault: 'the endpoint index belongs to other Services' }
  const isWhole = format === 1 ? isDocumentRef(endpoints) : areChunkRefs(workloads)
  // Every field has been checked above.
  return isWhole ? { index: value as unknown as EndpointIndex } : { fault: 'the endpoint index has missing fields' }
}

function isGatewayRef(value: unknown): boolean {
  return isRecord(value) && typeof value['uid'] === 'string' && isCount(value['generation'])
}

function unknownFormat(format: unknown): { fault: string } {
  const known = [...FORMATS_READ].join(' and ')
  return { fault: `format ${JSON.stringify(format)} is not supported; this version reads ${known}` }
}

function areListRefs(value: unknown): boolean {
  if (!isRecord(value)) return false
  // Otherwise an unknown list would be left out without an error.
  const names: readonly string[] = ROUTING_LISTS
  return Object.entries(value).every(([name, refs]) => names.includes(name) && areChunkRefs(refs))
}

function areChunkRefs(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= CHUNKS_MAX &&
    value.every((ref) => typeof ref === 'string' && CHUNK_REF.test(ref))
  )
}

function isDocumentRef(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { files, encoding, bytes, sha256 } = value
  return (
    Array.isArray(files) &&
    files.length > 0 &&
    files.length <= FILES_MAX &&
    files.every((file) => typeof file === 'string' && FILE_NAME.test(file)) &&
    (encoding === 'json' || encoding === 'gzip') &&
    isCount(bytes) &&
    isHash(sha256)
  )
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && HASH.test(value)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
