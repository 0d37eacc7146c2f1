// The index of a delivery: which documents a proxy has to have before it may apply any of them. Reading checks form,
// so that a damaged index is refused and never half believed. Pure.
import { isRecord, parseJson } from '../json.ts'
import type { DocumentRef } from './document.ts'

export const INDEX_FILE = 'index.json'

/** A reader takes its own format and the one before. */
export const DELIVERY_FORMAT = 1
const FORMATS_READ: ReadonlySet<unknown> = new Set([DELIVERY_FORMAT])

/** Pieces of one document; far above SHARDS_MAX. */
const FILES_MAX = 64
const FILE_NAME = /^[a-z0-9][a-z0-9.-]{0,199}$/
const HASH = /^[0-9a-f]{24,64}$/

export interface DeliveryIndex {
  readonly format: typeof DELIVERY_FORMAT
  /** Grows with every delivery to this Gateway. */
  readonly generation: number
  /** The Gateway that this was rendered for: its identity, and the generation of its spec. */
  readonly gateway: { readonly uid: string; readonly generation: number }
  /** The configuration without endpoints. */
  readonly config: DocumentRef
  readonly secrets: DocumentRef
  /** Hash of the Services of the configuration: names the endpoint index that fits. */
  readonly services: string
}

/** Points to the endpoints of one set of Services; changes while the main index stays. */
export interface EndpointIndex {
  readonly format: typeof DELIVERY_FORMAT
  readonly services: string
  readonly endpoints: DocumentRef
}

export function endpointIndexFile(services: string): string {
  return `endpoint-index-${services.slice(0, 24)}.json`
}

export type IndexOutcome<T> = { readonly index: T } | { readonly fault: string }

export function readDeliveryIndex(bytes: Uint8Array): IndexOutcome<DeliveryIndex> {
  const value = parseJson(Buffer.from(bytes).toString('utf8'))
  if (!isRecord(value)) return { fault: 'the index is no JSON object' }
  const { format, generation, gateway, config, secrets, services } = value
  if (!FORMATS_READ.has(format)) return unknownFormat(format)
  const isWhole =
    isCount(generation) &&
    isRecord(gateway) &&
    typeof gateway['uid'] === 'string' &&
    isCount(gateway['generation']) &&
    isDocumentRef(config) &&
    isDocumentRef(secrets) &&
    isHash(services)
  // Every field has been checked above.
  return isWhole ? { index: value as unknown as DeliveryIndex } : { fault: 'the index lacks fields' }
}

export function readEndpointIndex(bytes: Uint8Array, services: string): IndexOutcome<EndpointIndex> {
  const value = parseJson(Buffer.from(bytes).toString('utf8'))
  if (!isRecord(value)) return { fault: 'the endpoint index is no JSON object' }
  if (!FORMATS_READ.has(value['format'])) return unknownFormat(value['format'])
  if (value['services'] !== services) return { fault: 'the endpoint index is that of other Services' }
  if (!isDocumentRef(value['endpoints'])) return { fault: 'the endpoint index lacks fields' }
  // Every field has been checked above.
  return { index: value as unknown as EndpointIndex }
}

function unknownFormat(format: unknown): { fault: string } {
  return { fault: `format ${JSON.stringify(format)} is not known to this version, which reads ${DELIVERY_FORMAT}` }
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
