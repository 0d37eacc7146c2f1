// What the operator watches: which kinds, into which part of the cache, of which namespaces. Namespace selectors are
// live: when the labels of a namespace change, all its objects are added or removed.
import { Effect, Queue } from 'effect'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import { DELIVERY_LABEL, GATEWAY_NAME_LABEL } from '#api/delivery/names.ts'
import { isSessionKeyName } from '#deployer/session-key.ts'
import type { ObjectCache } from '../kube/cache.ts'
import type { ListOptions } from '../kube/client.ts'
import { reflect } from '../kube/reflector.ts'
import { DEPLOYED, type Resource, TRANSLATED } from '../kube/resources.ts'
import { UNUSED_SECRETS } from '../kube/trim.ts'
import type { KubeObject } from '../translate/kube.ts'
import { matchesSelector } from '../translate/labels.ts'
import { isMeshPod } from '../translate/service/mesh-pods.ts'
import type { OperatorSettings } from './settings.ts'

interface Source {
  readonly resource: Resource
  readonly into: string
  readonly select: ListOptions
  /** Objects of these kinds are read in all namespaces. */
  readonly isEverywhere: boolean
  /** undefined: all objects are kept. */
  readonly isKept?: (object: KubeObject) => boolean
}

/** In the cache, apart from ConfigMaps, Secrets and Pods of users. */
export const DELIVERED_CONFIG_MAP = 'delivered ConfigMap'
export const DELIVERED_SECRET = 'delivered Secret'
/** They have the labels of their workload's selector. */
export const PROXY_POD = 'proxy Pod'
export const ACKNOWLEDGEMENTS = 'acknowledgements'

const EXPERIMENTAL: ReadonlySet<string> = new Set(['TCPRoute', 'TLSRoute', 'ListenerSet'])
/** Pods are read only as members of pools. */
const INFERENCE: ReadonlySet<string> = new Set(['InferencePool', 'Pod'])
const MANAGED = 'app.kubernetes.io/managed-by=gw'
/** Secrets of Helm releases alone can take a hundred MiB. */
const USED_SECRETS = UNUSED_SECRETS.map((type) => `type!=${type}`).join(',')
const IS_DELIVERED = `${DELIVERY_LABEL},${DELIVERY_LABEL}!=acknowledgements`

function sourcesOf(settings: OperatorSettings): Source[] {
  const isOurs = `!${DELIVERY_LABEL}`
  const users = Object.values(TRANSLATED)
    .filter(({ kind }) => kind !== 'GwModel' || settings.areModelsEnabled)
    .filter(({ kind }) => !INFERENCE.has(kind) || settings.areInferencePoolsEnabled)
    .filter(({ kind }) => !EXPERIMENTAL.has(kind) || settings.areExperimentalKindsEnabled)
    .map((resource) => {
      const isSecret = resource.kind === 'Secret'
      const hasDeliveries = isSecret || resource.kind === 'ConfigMap'
      const select = {
        ...(hasDeliveries && { labelSelector: isOurs }),
        ...(isSecret && { fieldSelector: USED_SECRETS }),
      }
      return source(resource, { select })
    })
  const deployed = Object.values(DEPLOYED).map((resource) =>
    source(resource, {
      select: resource.kind === 'GwParameters' ? {} : { labelSelector: MANAGED },
      isEverywhere: true,
    }),
  )
  const { ConfigMap, Secret, Pod } = TRANSLATED
  const select = { labelSelector: IS_DELIVERED, isMetadataOnly: true }
  return [
    ...users,
    ...deployed,
    source(Pod, { into: PROXY_POD, select: { labelSelector: GATEWAY_NAME_LABEL }, isEverywhere: true }),
    source(ConfigMap, { into: DELIVERED_CONFIG_MAP, select, isEverywhere: true }),
    source(Secret, { into: DELIVERED_SECRET, select, isEverywhere: true }),
    source(ConfigMap, {
      into: ACKNOWLEDGEMENTS,
      select: { labelSelector: `${DELIVERY_LABEL}=acknowledgements` },
      isEverywhere: true,
    }),
  ].flatMap((one) => perNamespace(one, settings))
}

/** Pods that are called through tunnels. Empty: all Pods are read already. */
function meshSourcesOf(settings: OperatorSettings): readonly Source[] {
  if (settings.areInferencePoolsEnabled) return []
  const select = { fieldSelector: RUNNING }
  return perNamespace(source(TRANSLATED.Pod, { select, isKept: isMeshPod }), settings)
}

/** Pods of jobs that have ended would take memory. */
const RUNNING = 'status.phase!=Succeeded,status.phase!=Failed'

function asksForMesh(kind: string, object: KubeObject | undefined): boolean {
  if (kind !== 'GwParameters' || object === undefined) return false
  // Of its kind in the cache.
  const { meshIntegration } = (object as GwParameters).spec
  return meshIntegration !== undefined && meshIntegration.enabled !== false
}

/** If the permissions are those of single namespaces, each namespace is listed and watched separately. */
function perNamespace(one: Source, { watchNamespaces }: OperatorSettings): readonly Source[] {
  if (watchNamespaces.length === 0 || !one.resource.isNamespaced) return [one]
  return watchNamespaces.map((namespace) => ({ ...one, select: { ...one.select, namespace } }))
}

function labelOf({ into, select: { namespace } }: Source): string {
  return namespace === undefined ? into : `${into} in ${namespace}`
}

function source(resource: Resource, options: Partial<Omit<Source, 'resource'>>): Source {
  return { resource, into: resource.kind, select: {}, isEverywhere: false, ...options }
}

export interface WatchedSource {
  readonly kind: string
  /** Empty: of the whole cluster. */
  readonly namespace: string
}

/** Called after each list, watch and failure with the time for which the kind was not followed; undefined: it is. */
export type Followed = (source: WatchedSource, lostMs: number | undefined) => void

export interface Sources {
  isSynced(): boolean
  /** Kinds whose first list is still missing. */
  pending(): readonly string[]
  /** Kinds that have not been followed for a while, and for how long. */
  lost(): readonly string[]
}

/** A restart of the API server takes less. */
const LOST_MS_MIN = 60_000

/** Starts all reflectors in the scope of the caller. Namespaces come first where they decide about the rest. */
export const startSources = Effect.fn('operator.startSources')(function* (
  settings: OperatorSettings,
  cache: ObjectCache,
  followed: Followed,
) {
  const { namespaceSelectors } = settings
  const meshSources = meshSourcesOf(settings)
  let isMeshAsked = settings.deploy.mesh.autoEnabled
  const all = [...sourcesOf(settings), ...(isMeshAsked ? meshSources : [])]
  const pending = new Set(all.map(labelOf))
  const lost = new Map<string, number>()
  const isSelected = namespaceFilter(settings, cache)
  const relists: { readonly source: Source; readonly queue: Queue.Queue<void> }[] = []
  const start = Effect.fnUntraced(function* (one: Source) {
    const queue = yield* Queue.sliding<void>(1)
    relists.push({ source: one, queue })
    const onSynced = (): void => void pending.delete(labelOf(one))
    const onFollowed = (lostMs: number | undefined): void => {
      followed({ kind: one.into, namespace: one.select.namespace ?? '' }, lostMs)
      if (lostMs !== undefined && lostMs >= LOST_MS_MIN) lost.set(labelOf(one), lostMs)
      else lost.delete(labelOf(one))
    }
    const selected = one.isEverywhere ? () => true : (namespace: string) => isSelected(one.into, namespace)
    const reflecting = reflect({ ...one, cache, isSelected: selected, onSynced, onFollowed, relist: queue })
    yield* Effect.forkScoped(Effect.annotateLogs(reflecting, 'component', 'syncer'))
  })
  // The first parameters that ask for a mesh. Translation waits for its Pods: without them, traffic for workloads of
  // the mesh would leave in clear text.
  const asked = yield* Queue.sliding<void>(1)
  cache.onChange(({ kind, after }) => {
    if (isMeshAsked || !asksForMesh(kind, after)) return
    isMeshAsked = true
    for (const one of meshSources) pending.add(labelOf(one))
    Queue.offerUnsafe(asked, undefined)
  })
  yield* Effect.forkScoped(Effect.andThen(Queue.take(asked), Effect.forEach(meshSources, start)))
  const isNamespaces = ({ into }: Source): boolean => into === 'Namespace'
  for (const one of all.filter(isNamespaces)) yield* start(one)
  while (namespaceSelectors.length > 0 && pending.has('Namespace')) yield* Effect.sleep('5 millis')
  if (namespaceSelectors.length > 0) {
    cache.onChange(({ kind, before, after, key }) => {
      if (kind !== 'Namespace') return
      const name = key.slice(1)
      const was = matchesAny(namespaceSelectors, before?.metadata.labels)
      const is = after !== undefined && matchesAny(namespaceSelectors, after.metadata.labels)
      if (was === is && before !== undefined) return
      for (const { source: one, queue } of relists) {
        if (one.isEverywhere || !one.resource.isNamespaced) continue
        if (is) Queue.offerUnsafe(queue, undefined)
        else cache.removeWhere(one.into, (namespace) => namespace === name && !isSelected(one.into, name))
      }
    })
  }
  for (const one of all.filter((each) => !isNamespaces(each))) yield* start(one)
  const sources: Sources = {
    isSynced: () => pending.size === 0,
    pending: () => [...pending].sort(),
    lost: () => [...lost].map(([label, ms]) => `${label} (no watch for ${Math.round(ms / 1000)} s)`).sort(),
  }
  return sources
})

/** Secrets and ConfigMaps with values that the deployer reads. */
export function readsOutsideTranslation({ namespace, mesh }: OperatorSettings): (object: KubeObject) => boolean {
  return ({ kind, metadata }) =>
    kind === 'Secret'
      ? isSessionKeyName(metadata.name)
      : metadata.namespace === namespace || metadata.namespace === mesh.namespace
}

/** Key sets are in ConfigMaps of the operator's own namespace, and the mesh has one ConfigMap: they are always read. */
function namespaceFilter(
  { namespaceSelectors, namespace: own, mesh }: OperatorSettings,
  cache: ObjectCache,
): (kind: string, namespace: string) => boolean {
  if (namespaceSelectors.length === 0) return () => true
  return (kind, namespace) => {
    if (namespace === '' || (kind === 'ConfigMap' && (namespace === own || namespace === mesh.namespace))) return true
    return matchesAny(namespaceSelectors, cache.get('Namespace', '', namespace)?.metadata.labels)
  }
}

function matchesAny(
  selectors: OperatorSettings['namespaceSelectors'],
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return labels !== undefined && selectors.some((selector) => matchesSelector(selector, labels))
}
