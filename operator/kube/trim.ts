// What of an object is kept in memory: fields that something reads. Most of a large cluster's objects is bookkeeping of
// the API server, and most of its Secrets and ConfigMaps are none of our business.
import { DELIVERY_LABEL } from '#api/delivery/names.ts'
import type { KubeObject } from '../translate/kube.ts'

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

/** Secrets of these types cannot be referred to from any of our kinds. */
const UNUSED_SECRETS: ReadonlySet<unknown> = new Set([
  'helm.sh/release.v1',
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
])

const METADATA_ONLY = { data: undefined, binaryData: undefined }

/** undefined: not kept at all. */
export function trim(object: KubeObject): KubeObject | undefined {
  const fields: Json = { ...object }
  if (object.kind === 'Secret' && UNUSED_SECRETS.has(fields['type'])) return undefined
  const part = object.metadata.labels?.[DELIVERY_LABEL]
  // What the operator writes itself is known to the publisher.
  if (part !== undefined && part !== 'acknowledgements')
    return { ...object, ...METADATA_ONLY, metadata: metadataOf(object) }
  const kept = { ...fields, metadata: metadataOf(object) }
  // Keeps apiVersion, kind and metadata.
  return partOf(object.kind, kept) as unknown as KubeObject
}

function metadataOf({ metadata }: KubeObject): KubeObject['metadata'] {
  const all: Json = { ...metadata }
  // A part of the fields, the name among them.
  const kept = Object.fromEntries(
    METADATA.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])),
  ) as unknown as KubeObject['metadata']
  const { annotations } = metadata
  if (annotations === undefined || annotations === null) return kept
  const entries = Object.entries(annotations).filter(([name]) => !DROPPED_ANNOTATIONS.has(name))
  return { ...kept, annotations: Object.fromEntries(entries) }
}

function partOf(kind: string, object: Json): Json {
  const { apiVersion, metadata } = object
  const base = { apiVersion, kind, metadata }
  switch (kind) {
    case 'Namespace':
      return base
    case 'Service':
      return { ...base, spec: pick(object['spec'], SERVICE_SPEC), status: pick(object['status'], ['loadBalancer']) }
    case 'Pod':
      return { ...base, spec: pick(object['spec'], ['nodeName']), status: pick(object['status'], POD_STATUS) }
    case 'Deployment':
    case 'DaemonSet':
      return { ...base, spec: object['spec'], status: pick(object['status'], WORKLOAD_STATUS) }
    default: {
      const { managedFields: _managed, ...rest } = object
      return rest
    }
  }
}

const SERVICE_SPEC = ['type', 'clusterIP', 'clusterIPs', 'ports', 'selector', 'loadBalancerIP', 'externalName']
const POD_STATUS = ['phase', 'podIP', 'podIPs', 'conditions']
const WORKLOAD_STATUS = [
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'desiredNumberScheduled',
  'numberAvailable',
  'observedGeneration',
]

function pick(value: unknown, names: readonly string[]): Json {
  const all: Json = typeof value === 'object' && value !== null ? { ...value } : {}
  return Object.fromEntries(names.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])))
}
