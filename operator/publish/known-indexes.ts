// Keeps parsed indexes for their bytes: with thousands of routes they are long, and they are needed at every change.
// Pure.
import {
  type ChunkEndpoints,
  type ChunkIndex,
  type DeliveryIndex,
  type EndpointIndex,
  type IndexOutcome,
  readDeliveryIndex,
  readEndpointIndex,
} from '#api/delivery/index-file.ts'

/** Files are never changed in place. */
const deliveries = new WeakMap<Uint8Array, IndexOutcome<DeliveryIndex>>()
const endpoints = new WeakMap<Uint8Array, { readonly services: string; readonly read: IndexOutcome<EndpointIndex> }>()

const NOTHING = new Uint8Array()

/** As readDeliveryIndex; the same object for the same bytes. */
export function deliveryIndexOf(bytes: Uint8Array = NOTHING): IndexOutcome<DeliveryIndex> {
  const known = deliveries.get(bytes)
  if (known !== undefined) return known
  const read = readDeliveryIndex(bytes)
  deliveries.set(bytes, read)
  return read
}

/** As readEndpointIndex; the same object for the same bytes. */
export function endpointIndexOf(bytes: Uint8Array | undefined, services: string): IndexOutcome<EndpointIndex> {
  if (bytes === undefined) return readEndpointIndex(NOTHING, services)
  const known = endpoints.get(bytes)
  if (known?.services === services) return known.read
  const read = readEndpointIndex(bytes, services)
  endpoints.set(bytes, { services, read })
  return read
}

export function writeDeliveryIndex(index: ChunkIndex): Uint8Array {
  const bytes = bytesOf(index)
  deliveries.set(bytes, { index })
  return bytes
}

export function writeEndpointIndex(index: ChunkEndpoints): Uint8Array {
  const bytes = bytesOf(index)
  endpoints.set(bytes, { services: index.services, read: { index } })
  return bytes
}

function bytesOf(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}
