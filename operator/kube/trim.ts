// Keeps only the fields of an object in memory that the operator reads. Most content of a large cluster is bookkeeping
// of the API server, and the operator needs few of its Secrets and ConfigMaps.
import { DELIVERY_LABEL } from '#api/delivery/names.ts'
import { isRecord } from '#api/json.ts'
import type { KubeObject } from '../translate/kube.ts'
import { REDIRECTION_ANNOTATION } from '../translate/service/mesh-pods.ts'
import { PLACE_LABELS } from '../translate/service/node-places.ts'
import { containerTroubles } from './container-troubles.ts'

type Json = Readonly<Record<string, unknown>>

const METADATA = [
  'name',
  'namespace',
  'uid',
  'generation',
  'creationTimestamp',
  'resourceVersion',
  'deletionTimestamp',
  'labels',
  'annotations',
  'ownerReferences',
]

/** Annotations that repeat the whole object. */
const DROPPED_ANNOTATIONS: ReadonlySet<string> = new Set(['kubectl.kubernetes.io/last-applied-configuration'])

/** The only annotations that the operator reads of these kinds, of which clusters have many. */
const READ_ANNOTATIONS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['ConfigMap', []],
  ['EndpointSlice', []],
  ['Namespace', []],
  ['Pod', [REDIRECTION_ANNOTATION]],
  ['Secret', []],
])

/** No kind of the operator can refer to Secrets of these types: they are not even requested. */
export const UNUSED_SECRETS = [
  'helm.sh/release.v1',
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
] as const

const UNUSED_SECRET_TYPES: ReadonlySet<unknown> = new Set(UNUSED_SECRETS)

/**
 * Entries of ConfigMaps that are read by name: CA certificates, fetched key sets and OpenAPI documents. Any other entry
 * may be the hash of an API key with its metadata, because all entries of a ConfigMap of a selector are read.
 */
const NAMED_ENTRIES: ReadonlySet<string> = new Set(['ca.crt', 'jwks-store', 'openapi.yaml'])
const UNNAMED_ENTRY_CHARS_MAX = 16 * 1024

/** undefined: not kept at all. */
export function trim(object: KubeObject): KubeObject | undefined {
  const fields: Json = { ...object, metadata: metadataOf(object) }
  if (object.kind === 'Secret' && UNUSED_SECRET_TYPES.has(fields['type'])) return undefined
  // Keeps apiVersion, kind and metadata.
  return partOf(object, fields) as unknown as KubeObject
}

function metadataOf({ kind, metadata }: KubeObject): KubeObject['metadata'] {
  // Some of the fields, including the name.
  const kept = pick(metadata, METADATA) as unknown as KubeObject['metadata']
  const { annotations } = metadata
  if (annotations === undefined || annotations === null) return kept
  const { annotations: _all, ...rest } = kept
  const isRead = (name: string): boolean => READ_ANNOTATIONS.get(kind)?.includes(name) ?? !DROPPED_ANNOTATIONS.has(name)
  const entries = Object.entries(annotations).filter(([name]) => isRead(name))
  if (entries.length === 0) return rest
  return { ...rest, annotations: Object.fromEntries(entries) }
}

function partOf({ kind, metadata: { labels } }: KubeObject, object: Json): Json {
  const { apiVersion, metadata } = object
  const base = { apiVersion, kind, metadata }
  switch (kind) {
    case 'Namespace':
      return base
    case 'Node':
      // Kubelets write to their Nodes all the time; only the place of a Node is read.
      return { apiVersion, kind, metadata: placed(metadata) }
    case 'Service':
      return { ...base, spec: pick(object['spec'], SERVICE_SPEC), status: pick(object['status'], ['loadBalancer']) }
    case 'EndpointSlice':
      return { ...base, ...pick(object, ['addressType', 'ports']), endpoints: endpointsOf(object['endpoints']) }
    case 'Pod':
      return {
        ...base,
        spec: pick(object['spec'], ['nodeName', 'serviceAccountName']),
        status: podStatusOf(object['status']),
      }
    case 'Secret':
    case 'ConfigMap':
      return { ...base, ...dataOf(kind, labels?.[DELIVERY_LABEL], object) }
    case 'Deployment':
    case 'DaemonSet':
      return { ...base, spec: object['spec'], status: workloadStatusOf(object['status']) }
    default:
      return object
  }
}

function placed(metadata: unknown): Json {
  const { labels, ...identity } = pick(metadata, ['name', 'uid', 'resourceVersion', 'creationTimestamp', 'labels'])
  return { ...identity, labels: pick(labels, Object.values(PLACE_LABELS)) }
}

const SERVICE_SPEC = [
  'type',
  'clusterIP',
  'clusterIPs',
  'ports',
  'selector',
  'loadBalancerIP',
  'externalName',
  'trafficDistribution',
  'internalTrafficPolicy',
]
const ENDPOINT = ['addresses', 'nodeName', 'zone']
const HINTS = ['forZones', 'forNodes']
const POD_STATUS = ['phase', 'podIP', 'podIPs', 'conditions']
const WORKLOAD_STATUS = [
  'replicas',
  'readyReplicas',
  'updatedReplicas',
  'availableReplicas',
  'desiredNumberScheduled',
  'updatedNumberScheduled',
  'numberAvailable',
  'observedGeneration',
]

function podStatusOf(status: unknown): Json {
  const troubles = containerTroubles(status)
  return { ...pick(status, POD_STATUS), ...(troubles.length > 0 && { troubles }) }
}

/** Only the conditions that pods cannot be created or are not ready in time: the others change all the time. */
function workloadStatusOf(status: unknown): Json {
  const conditions = isRecord(status) && Array.isArray(status['conditions']) ? status['conditions'] : []
  const failures = conditions
    .filter(isRecord)
    .filter(({ type, status: value }) => type === 'ReplicaFailure' || (type === 'Progressing' && value === 'False'))
    .map((one) => pick(one, ['type', 'status', 'reason', 'message']))
  return { ...pick(status, WORKLOAD_STATUS), ...(failures.length > 0 && { conditions: failures }) }
}

/** The publisher keeps what the operator writes itself. */
function dataOf(kind: string, delivered: string | undefined, object: Json): Json {
  if (delivered === 'acknowledgements') return pick(object, ['data'])
  if (kind === 'Secret') return pick(object, delivered === undefined ? ['type', 'data'] : ['type'])
  return delivered === undefined ? { data: entriesOf(object['data']) } : {}
}

/** null, as of a Service without endpoints, stays. */
function endpointsOf(endpoints: unknown): unknown {
  if (!Array.isArray(endpoints)) return endpoints
  return endpoints.filter(isRecord).map((endpoint) => ({
    ...pick(endpoint, ENDPOINT),
    ...(isRecord(endpoint['conditions']) && {
      conditions: pick(endpoint['conditions'], ['ready', 'serving', 'terminating']),
    }),
    ...(isRecord(endpoint['hints']) && { hints: pick(endpoint['hints'], HINTS) }),
    ...(isRecord(endpoint['targetRef']) && { targetRef: pick(endpoint['targetRef'], ['kind', 'name']) }),
  }))
}

/** Values too long for the hash of a key: the names stay, so that a reference to one is reported as invalid. */
function entriesOf(data: unknown): Json {
  const entries = Object.entries(isRecord(data) ? data : {})
  return Object.fromEntries(
    entries.map(([name, text]) => {
      const isKept = NAMED_ENTRIES.has(name) || typeof text !== 'string' || text.length <= UNNAMED_ENTRY_CHARS_MAX
      return [name, isKept ? text : '']
    }),
  )
}

function pick(value: unknown, names: readonly string[]): Json {
  const picked: Record<string, unknown> = {}
  if (!isRecord(value)) return picked
  // Of each object of a cluster: without lists of pairs.
  for (const name of names) if (value[name] !== undefined) picked[name] = value[name]
  return picked
}
