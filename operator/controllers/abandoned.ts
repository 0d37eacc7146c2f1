// Statuses of objects that translation no longer covers although they still have our entries: a Gateway whose class was
// deleted, the ListenerSets of a deleted Gateway, and status entries that nothing computes any more.
import { deliveryNames } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import { isOwnedBy } from '../kube/ownership.ts'
import { statusOf } from '../kube/status-of.ts'
import { unattendedStatus } from '../status/unattended-status.ts'
import { forgottenStatus } from '../status/forgotten-status.ts'
import type { ObjectStatus } from '../translate/object-status.ts'
import type { KubeObject } from '../translate/kube.ts'
import { nameKey, refOf } from '../translate/object-ref.ts'
import { workloadOf } from './gateway-facts.ts'
import { ACKNOWLEDGEMENTS } from './sources.ts'
import type { World } from './world.ts'

/**
 * undefined: no entry to take back. `isKnownOurs`: this leader has written the status of the object; a ListenerSet
 * without its Gateway does not show which controller it belonged to.
 */
export function abandonedStatus(
  world: World,
  object: KubeObject | undefined,
  { isKnownOurs }: { readonly isKnownOurs: boolean },
): ObjectStatus | undefined {
  if (object === undefined || (!isKnownOurs && isOrphan(world, object))) return undefined
  const message = whyUnattended(world, object)
  if (message === undefined) return forgottenStatus(object, world.settings.controllerName)
  const status = unattendedStatus(message, object.metadata.generation)
  return { ...refOf(object), status: object.kind === 'Gateway' ? { ...status, attachedListenerSets: 0 } : status }
}

/** For a Gateway or ListenerSet that was ours and now has no controller. */
export function whyUnattended(world: World, object: KubeObject): string | undefined {
  // The cache holds objects of these types under these kinds.
  if (object.kind === 'Gateway') return whyGateway(world, object as Gateway)
  return object.kind === 'ListenerSet' ? whyListenerSet(world, object as ListenerSet) : undefined
}

/**
 * The objects that run a Gateway show which controller it belonged to. A class of another controller is left to that
 * controller, and the class of this operator is created again in a moment.
 */
function whyGateway(world: World, gateway: Gateway): string | undefined {
  const { cache, settings } = world
  const { metadata, spec } = gateway
  const name = spec.gatewayClassName
  if (metadata.deletionTimestamp !== undefined || name === settings.className) return undefined
  if (cache.get('GatewayClass', '', name) !== undefined || !hasObjects(world, gateway)) return undefined
  return (
    `spec.gatewayClassName: GatewayClass ${name} does not exist, so the controller ignores this Gateway; ` +
    'its proxies continue with the last configuration. Create the class again, select another one, or delete the Gateway'
  )
}

function hasObjects(world: World, gateway: Gateway): boolean {
  const { name, namespace = '' } = gateway.metadata
  const acknowledgements = world.cache.get(ACKNOWLEDGEMENTS, namespace, deliveryNames(name).acknowledgements[0] ?? '')
  return [workloadOf(world, gateway), acknowledgements].some(
    // Both as the cache has them.
    (object) => object !== undefined && isOwnedBy(object as KubeObject, gateway),
  )
}

function whyListenerSet(world: World, set: ListenerSet): string | undefined {
  const { namespace: own = '' } = set.metadata
  const { group, kind, name, namespace = own } = set.spec.parentRef
  const isGateway = (group ?? 'gateway.networking.k8s.io') === 'gateway.networking.k8s.io' && kind !== 'ListenerSet'
  if (!isGateway || set.metadata.deletionTimestamp !== undefined || !claims(set)) return undefined
  const gateway = world.cache.get('Gateway', namespace, name)
  if (gateway !== undefined) {
    const why = whyUnattended(world, gateway)
    return why && `spec.parentRef: Gateway ${nameKey(namespace, name)}: ${why}`
  }
  // Gateways of namespaces that are not watched are not known.
  const { namespaceSelectors, watchNamespaces } = world.settings
  if (namespace !== own && namespaceSelectors.length + watchNamespaces.length > 0) return undefined
  return `spec.parentRef: Gateway ${nameKey(namespace, name)} does not exist; create it, or delete the ListenerSet`
}

/** Its Gateway does not exist, and nothing else shows which controller it belonged to. */
function isOrphan({ cache }: World, object: KubeObject): boolean {
  if (object.kind !== 'ListenerSet') return false
  const { parentRef } = (object as ListenerSet).spec // of its kind in the cache
  return cache.get('Gateway', parentRef.namespace ?? object.metadata.namespace ?? '', parentRef.name) === undefined
}

function claims(set: KubeObject): boolean {
  // The status of a ListenerSet.
  const { conditions = [] } = { ...(statusOf(set) as { conditions?: readonly { status?: string }[] } | undefined) }
  return conditions.some(({ status }) => status === 'True')
}
