// What the parts of the operator share: settings, the cache, the last translation, and the listener of changes.
import { formatFor, readAcknowledgements } from '#api/delivery/acknowledgement.ts'
import type { DeliveryFormat } from '#api/delivery/index-file.ts'
import { deliveryNames } from '#api/delivery/names.ts'
import type { OwnerReference } from '#api/kube/object-meta.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { meshConfigMapName } from '#deployer/parameters/mesh-config.ts'
import type { ObjectCache, ObjectChange } from '../kube/cache.ts'
import type { RunningWork, WorkRun } from '../kube/work-queue.ts'
import type { Fill } from '../publish/fill.ts'
import type { KubeObject } from '../translate/kube.ts'
import { nameKey } from '../translate/object-ref.ts'
import type { Snapshot } from '../translate/snapshot.ts'
import type { Translation } from '../translate/translation.ts'
import type { OperatorSettings } from './settings.ts'
import { ACKNOWLEDGEMENTS, type Followed } from './sources.ts'

/** For metrics; called synchronously. */
export interface OperatorObserver {
  readonly run: (run: WorkRun) => void
  readonly running: (run: RunningWork) => void
  readonly translated: (seconds: number, gateways: number) => void
  /** A defect: the last result stays in force. */
  readonly translationFailed: () => void
  /** A defect in the translation of one object of this kind: it fails closed. */
  readonly objectFailed: (kind: string) => void
  readonly leading: (isLeading: boolean) => void
  readonly rejected: (count: number) => void
  readonly followed: Followed
  readonly wrote: (what: 'delivery' | 'status', count: number) => void
  /** How full the delivery of a Gateway is; undefined: unknown, or there is no such Gateway any more. */
  readonly filled: (gateway: string, fill: Fill | undefined) => void
}

/** What the parts share. */
export interface World {
  readonly settings: OperatorSettings
  readonly cache: ObjectCache
  readonly observer: OperatorObserver
  readonly translation: () => Translation
  readonly snapshot: () => Snapshot
  /** Set while this replica leads: it receives changes. */
  listener: Listener | undefined
  /** Owners of the operator's own objects; empty until they are known, or where they cannot be determined. */
  owners: readonly OwnerReference[]
}

export interface Listener {
  readonly onChange: (change: ObjectChange) => void
  readonly onTranslation: (translation: Translation, snapshot: Snapshot) => void
  readonly isIdle: () => boolean
}

/** The GatewayClass of the operator exists, as far as it knows. */
export function hasOwnClass({ cache, settings }: World): boolean {
  return cache.get('GatewayClass', '', settings.className) !== undefined
}

/** The object or its namespace is being deleted: the API server accepts no new objects and deletes existing ones. */
export function isLeaving({ cache }: World, { metadata }: KubeObject): boolean {
  if (metadata.deletionTimestamp !== undefined) return true
  const { namespace } = metadata
  return namespace !== undefined && cache.get('Namespace', '', namespace)?.metadata.deletionTimestamp !== undefined
}

/** One ConfigMap of acknowledgements. */
export interface AcknowledgementShard {
  readonly name: string
  readonly said: Acknowledgements
}

type Acknowledgements = ReturnType<typeof readAcknowledgements>

/** Those with acknowledgements of proxies. */
export function acknowledgementShards({ cache }: World, { metadata }: Gateway): AcknowledgementShard[] {
  return deliveryNames(metadata.name).acknowledgements.flatMap((name) => {
    const object = cache.get(ACKNOWLEDGEMENTS, metadata.namespace ?? '', name)
    // A ConfigMap.
    const said = readAcknowledgements((object as { data?: Record<string, string> } | undefined)?.data)
    return said.size === 0 ? [] : [{ name, said }]
  })
}

/** The acknowledgements of the proxies of a Gateway. */
export function acknowledgementsOf(world: World, gateway: Gateway): Acknowledgements {
  return latestOf(acknowledgementShards(world, gateway).map(({ said }) => said))
}

const NOTHING_SAID: Acknowledgements = new Map()

/** A proxy whose ConfigMap has changed may still have an earlier acknowledgement in another one. */
export function latestOf([first = NOTHING_SAID, ...others]: readonly Acknowledgements[]): Acknowledgements {
  if (others.length === 0) return first
  const latest = new Map(first)
  for (const [pod, one] of others.flatMap((said) => [...said])) {
    if ((latest.get(pod)?.generation ?? -1) < one.generation) latest.set(pod, one)
  }
  return latest
}

/** What all proxies of a Gateway read. */
export function deliveryFormatOf(world: World, gateway: Gateway): DeliveryFormat {
  return formatFor(acknowledgementsOf(world, gateway))
}

/** Whether it is what the control plane of the mesh says. */
export function isMeshConfig({ settings }: World, { kind, key }: ObjectChange): boolean {
  const { namespace, revision } = settings.mesh
  return kind === 'ConfigMap' && key === nameKey(namespace, meshConfigMapName(revision))
}

/** 'deleted' is not a version. */
export function versionOf({ after }: ObjectChange): string {
  return after === undefined ? 'deleted' : (after.metadata.resourceVersion ?? '')
}
