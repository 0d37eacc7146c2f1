// What a proxy reports about the last delivery it saw: one key for each pod in the ConfigMap of acknowledgements,
// written with a merge patch that changes no other key. Pure.
import { isRecord, parseJson } from '../json.ts'
import { DELIVERY_FORMAT, type DeliveryFormat } from './index-file.ts'
import { isUnknownKeys, type UnknownKeys } from './unknown-keys.ts'

export interface Acknowledgement {
  /** Of the index that is in force; 0 while none is. */
  readonly generation: number
  /** Generation of the Gateway object that it was rendered for. */
  readonly gatewayGeneration: number
  /** Uid of that Gateway: one that was deleted and made again starts from the beginning. */
  readonly gatewayUid: string
  readonly revision: string
  /** The newest format of deliveries that the proxy reads; absent if it reads only the first one. */
  readonly reads?: number
  /** Why a later delivery was rejected, and which one. Absent when the last one is in force. */
  readonly rejected?: { readonly generation: number; readonly message: string }
  /** Absent while every token had its key. */
  readonly unknownKeys?: UnknownKeys
  /** Why it has no current certificate of its mesh. Absent if it has one, or is not part of a mesh. */
  readonly meshTrouble?: string
}

/** Of one key; longer ones are ignored. */
const VALUE_CHARS_MAX = 4096
export const REJECTION_CHARS_MAX = 1024
export const MESH_TROUBLE_CHARS_MAX = 512

/**
 * Pods of one Gateway whose acknowledgements count: more than fit into the 1 MiB that an API server lets a ConfigMap
 * have, so every stored one counts. None may be left out: a proxy that reads only an older format could not start.
 */
export const ACKNOWLEDGEMENTS_MAX = 6000

/** The merge patch of one pod; undefined takes its key out. */
export function acknowledgementPatch(pod: string, value: Acknowledgement | undefined): unknown {
  return { data: { [pod]: value === undefined ? null : JSON.stringify(value) } }
}

/** The merge patch that takes the keys of pods out which are gone. */
export function removalPatch(pods: readonly string[]): unknown {
  return { data: Object.fromEntries(pods.map((pod) => [pod, null])) }
}

type Entries = Readonly<Record<string, string>>

/** The result for an object is kept: it is read several times, and parsing that of hundreds of pods takes a moment. */
const read = new WeakMap<Entries, ReadonlyMap<string, Acknowledgement>>()

/** By pod. Invalid acknowledgements are ignored: pods write the ConfigMap, so it is not trusted. */
export function readAcknowledgements(data: Entries | null | undefined): ReadonlyMap<string, Acknowledgement> {
  if (data === null || data === undefined) return new Map()
  const known = read.get(data) ?? acknowledgementsIn(data)
  read.set(data, known)
  return known
}

function acknowledgementsIn(data: Entries): ReadonlyMap<string, Acknowledgement> {
  const found = new Map<string, Acknowledgement>()
  for (const [pod, text] of Object.entries(data).slice(0, ACKNOWLEDGEMENTS_MAX)) {
    const value = text.length <= VALUE_CHARS_MAX ? parseJson(text) : undefined
    if (isAcknowledgement(value)) found.set(pod, value)
  }
  return found
}

/**
 * The newest format that all of these proxies read. A proxy that starts later and does not read it acknowledges with
 * the format that it reads, and then gets that one.
 */
export function formatFor(acknowledgements: ReadonlyMap<string, Acknowledgement>): DeliveryFormat {
  return [...acknowledgements.values()].every(({ reads = 1 }) => reads >= DELIVERY_FORMAT) ? DELIVERY_FORMAT : 1
}

function isAcknowledgement(value: unknown): value is Acknowledgement {
  if (!isRecord(value)) return false
  const { generation, gatewayGeneration, gatewayUid, revision } = value
  return (
    Number.isSafeInteger(generation) &&
    Number.isSafeInteger(gatewayGeneration) &&
    typeof gatewayUid === 'string' &&
    typeof revision === 'string' &&
    areOptionalFields(value)
  )
}

function areOptionalFields({ reads, rejected, unknownKeys, meshTrouble }: Readonly<Record<string, unknown>>): boolean {
  return (
    (reads === undefined || Number.isSafeInteger(reads)) &&
    (rejected === undefined || isRejection(rejected)) &&
    (unknownKeys === undefined || isUnknownKeys(unknownKeys)) &&
    (meshTrouble === undefined || typeof meshTrouble === 'string')
  )
}

function isRejection(value: unknown): boolean {
  return isRecord(value) && Number.isSafeInteger(value['generation']) && typeof value['message'] === 'string'
}
