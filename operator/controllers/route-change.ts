// Passes each change of the cluster to the queues that depend on it, by kind and owner of the object.
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import type { ObjectChange } from '../kube/cache.ts'
import { ownerOf } from '../kube/ownership.ts'
import type { KubeObject } from '../translate/kube.ts'
import type { DeployQueue } from './deploy-queue.ts'
import type { EventQueue } from './event-queue.ts'
import type { GatewayClassQueue } from './gateway-class-queue.ts'
import type { KeySets } from './key-sets.ts'
import type { KnownGateways } from './known-gateways.ts'
import type { PublishQueue } from './publish-queue.ts'
import type { RejectionQueue } from './rejection-queue.ts'
import { ACKNOWLEDGEMENTS, DELIVERED_CONFIG_MAP, DELIVERED_SECRET, PROXY_POD } from './sources.ts'
import type { StatusQueue } from './status-queue.ts'
import { isLeaving, type World } from './world.ts'

export interface Workers {
  readonly gateways: KnownGateways
  readonly publish: PublishQueue
  readonly deploy: DeployQueue
  readonly status: StatusQueue
  readonly gatewayClass: GatewayClassQueue
  readonly rejections: RejectionQueue
  readonly events: EventQueue
}

/** Deployed objects that the status of the Gateway depends on. */
const STATUS_KINDS: ReadonlySet<string> = new Set(['Deployment', 'DaemonSet', 'Service'])

export interface Routing {
  readonly world: World
  readonly workers: Workers
  /** undefined until the key sets have been listed. */
  readonly keySets: Pick<KeySets, 'heard'> | undefined
}

export function routeChange(routing: Routing, change: ObjectChange): void {
  const { world, workers } = routing
  const object = change.after ?? change.before
  if (object === undefined) return
  if (change.kind === PROXY_POD) {
    podChanged(workers, object, change)
    return
  }
  if (change.kind === 'Namespace') namespaceChanged(world, workers, change)
  inputChanged(workers, object, change)
  // If the owner reference was just removed, the former owner.
  const owner = ownerOf(object) ?? ownerOf(change.before ?? object)
  if (owner !== undefined) ownedChanged(routing, owner, object, change)
}

/** Facts about a Gateway that translation does not know have changed. */
export function factsChanged({ status, events }: Pick<Workers, 'status' | 'events'>, key: string): void {
  events.changed()
  status.factsChanged(key)
}

/** Objects, as `describe` names them, use Secrets that are no longer delivered, or are again. */
export function usersChanged({ status, events }: Pick<Workers, 'status' | 'events'>, objects: readonly string[]): void {
  events.changed()
  status.usersChanged(objects)
}

function inputChanged(
  { deploy, gatewayClass, publish, status }: Workers,
  object: KubeObject,
  change: ObjectChange,
): void {
  const { kind, key } = change
  if (change.isStatusOnly) {
    status.statusChanged(kind, key)
    return
  }
  status.objectChanged(kind, key)
  if (kind === 'GatewayClass') gatewayClass.classChanged(object.metadata.name)
  if (kind === 'Gateway') {
    deploy.gatewayChanged(key)
    publish.gatewayChanged(key)
  }
  deploy.inputChanged(object, change)
}

/** `owner`: the Gateway that the object belongs to. */
function ownedChanged({ workers, keySets }: Routing, owner: string, object: KubeObject, change: ObjectChange): void {
  if (change.kind === ACKNOWLEDGEMENTS) {
    keySets?.heard(change)
    factsChanged(workers, owner)
    workers.publish.acknowledged(owner)
    workers.rejections.acknowledged(owner)
  } else if (change.kind === DELIVERED_CONFIG_MAP || change.kind === DELIVERED_SECRET) {
    workers.publish.deliveredChanged(owner, object, change)
  } else {
    if (STATUS_KINDS.has(change.kind)) {
      factsChanged(workers, owner)
      workers.publish.workloadChanged(owner)
    }
    workers.deploy.deployedChanged(owner, object, change)
  }
}

/** A namespace was deleted: Gateways of a new namespace with the same name may have been seen first. */
function namespaceChanged(world: World, workers: Workers, { before }: ObjectChange): void {
  if (before === undefined || !isLeaving(world, before)) return
  for (const key of workers.gateways.in(before.metadata.name)) {
    workers.deploy.gatewayChanged(key)
    workers.publish.gatewayChanged(key)
    workers.status.gatewayChanged(key)
  }
}

/** The pod of a proxy. */
function podChanged(workers: Workers, { metadata }: KubeObject, { after }: ObjectChange): void {
  const { namespace = '', labels } = metadata
  for (const key of workers.gateways.in(namespace)) {
    if (safeName(key.slice(namespace.length + 1)) !== labels?.[GATEWAY_NAME_LABEL]) continue
    factsChanged(workers, key)
    if (after === undefined) workers.rejections.acknowledged(key)
  }
}
