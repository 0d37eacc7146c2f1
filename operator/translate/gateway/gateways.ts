// Which Gateways and ListenerSets are ours, and the listeners they hold. No routes, no statuses.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import { isIdentical } from '#api/incremental/identical.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import { matchesSelector } from '../labels.ts'
import { namespaceLabels } from '../namespace-labels.ts'
import type { Memory } from '../memory.ts'
import { keyOf, nameKey, namespaceOf } from '../object-ref.ts'
import { same } from '../same.ts'
import { type ClientCertificate, clientCertificateOf } from './client-certificate.ts'
import { internalPorts, type InternalPorts } from './internal-ports.ts'
import {
  isSameForRoutes,
  type Listener,
  type ListenerFault,
  type ListenerScope,
  type RouteListener,
} from './listener.ts'
import { listenersOf } from './listeners.ts'

export interface OurGateway {
  readonly key: string
  readonly gateway: Gateway
  /** The Gateway's own listeners, then those of its accepted ListenerSets. */
  readonly listeners: readonly Listener[]
  readonly sets: readonly ListenerSet[]
  readonly internal: InternalPorts
  /** The certificate that it presents to backends, if it names one. */
  readonly clientCertificate?: ClientCertificate
}

export interface OurListenerSet {
  readonly set: ListenerSet
  readonly parent: OurGateway
  /** The Gateway does not let this ListenerSet attach. */
  readonly refusal?: ListenerFault
}

export interface OurGateways {
  /** By `namespace/name`, in order of age. */
  readonly gateways: ReadonlyMap<string, OurGateway>
  /** By `namespace/name`: every ListenerSet that names one of our Gateways. */
  readonly listenerSets: ReadonlyMap<string, OurListenerSet>
}

/** One Gateway with all ListenerSets that name it. */
export interface GatewayFamily {
  readonly ours: OurGateway
  readonly sets: readonly OurListenerSet[]
}

/** The same objects as last time where nothing has changed. */
export function gatewayTable(memory: Memory, scope: ListenerScope, controllerName: string): () => OurGateways {
  const remember = memory.table<Gateway, GatewayFamily>()
  let last: OurGateways = { gateways: new Map(), listenerSets: new Map() }
  return () => {
    const now = ourGateways(scope, controllerName, (gateway, claimed) =>
      remember(gateway, claimed, () =>
        familyOf(gateway, claimed, { ...scope, before: last.gateways.get(keyOf(gateway)) }),
      ),
    )
    const isSame =
      isIdentical([...last.gateways.values()], [...now.gateways.values()]) &&
      isIdentical([...last.listenerSets.values()], [...now.listenerSets.values()])
    return isSame ? last : (last = now)
  }
}

function ourGateways(
  { snapshot }: ListenerScope,
  controllerName: string,
  familyAt: (gateway: Gateway, claimed: readonly ListenerSet[]) => GatewayFamily,
): OurGateways {
  const classes = new Set(
    snapshot.GatewayClass.all
      .filter(({ spec }) => spec.controllerName === controllerName)
      .map(({ metadata }) => metadata.name),
  )
  const setsByGateway = groupSets(snapshot.ListenerSet.all)
  const gateways = new Map<string, OurGateway>()
  const listenerSets = new Map<string, OurListenerSet>()
  for (const gateway of snapshot.Gateway.all) {
    if (!classes.has(gateway.spec.gatewayClassName)) continue
    const claimed = setsByGateway.get(keyOf(gateway)) ?? []
    const family = familyAt(gateway, claimed)
    gateways.set(family.ours.key, family.ours)
    for (const one of family.sets) listenerSets.set(keyOf(one.set), one)
  }
  return { gateways, listenerSets }
}

interface FamilyScope extends ListenerScope {
  readonly before: OurGateway | undefined
}

function familyOf(gateway: Gateway, claimed: readonly ListenerSet[], { before, ...scope }: FamilyScope): GatewayFamily {
  const key = keyOf(gateway)
  const claims = claimed.map((set) => ({ set, refusal: refusalOf(set, gateway, scope) }))
  const sets = claims.filter(({ refusal }) => refusal === undefined).map(({ set }) => set)
  const listeners = keptForRoutes(before?.listeners ?? [], listenersOf(gateway, sets, scope))
  const clientCertificate = same(before?.clientCertificate, clientCertificateOf(gateway, scope))
  const ours: OurGateway = {
    key,
    gateway,
    sets,
    listeners,
    internal: internalPorts(gateway, sets),
    ...(clientCertificate !== undefined && { clientCertificate }),
  }
  return {
    ours,
    sets: claims.map(({ set, refusal }) => ({ set, parent: ours, ...(refusal !== undefined && { refusal }) })),
  }
}

/** With the parts of the last listeners that routes depend on, where these parts are the same. */
function keptForRoutes(before: readonly Listener[], now: readonly Listener[]): readonly Listener[] {
  const byPlace = new Map(before.map(({ forRoutes }) => [placeOf(forRoutes), forRoutes]))
  return now.map((listener) => {
    const place = placeOf(listener.forRoutes)
    const known = byPlace.get(place)
    if (known === undefined || !isSameForRoutes(known, listener.forRoutes)) return listener
    // Two listeners are never the same object, even if they have one name.
    byPlace.delete(place)
    return { ...listener, forRoutes: known }
  })
}

/** A Gateway and a ListenerSet may have one name. */
function placeOf({ key, set }: RouteListener): string {
  return `${set === undefined ? '' : 'set '}${key}`
}

function groupSets(sets: readonly ListenerSet[]): Map<string, ListenerSet[]> {
  const byGateway = new Map<string, ListenerSet[]>()
  for (const set of sets) {
    const { group = GATEWAY_GROUP, kind = 'Gateway', name, namespace = namespaceOf(set) } = set.spec.parentRef
    if (group !== GATEWAY_GROUP || kind !== 'Gateway') continue
    const key = nameKey(namespace, name)
    const known = byGateway.get(key)
    if (known === undefined) byGateway.set(key, [set])
    else known.push(set)
  }
  return byGateway
}

function refusalOf(set: ListenerSet, gateway: Gateway, { snapshot }: ListenerScope): ListenerFault | undefined {
  const allowed = gateway.spec.allowedListeners?.namespaces
  const namespace = namespaceOf(set)
  const from = allowed?.from ?? 'None'
  const isAllowed =
    from === 'All' ||
    (from === 'Same' && namespace === namespaceOf(gateway)) ||
    (from === 'Selector' &&
      allowed?.selector !== undefined &&
      matchesSelector(allowed.selector, namespaceLabels(snapshot, namespace)))
  if (isAllowed) return undefined
  const message = `Gateway ${keyOf(gateway)} does not allow ListenerSets from namespace ${namespace}; see its spec.allowedListeners`
  return { reason: 'NotAllowed', message }
}
