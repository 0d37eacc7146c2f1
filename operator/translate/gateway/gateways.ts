// Which Gateways and ListenerSets are ours, and the listeners they hold. No routes, no statuses.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import { Grouped } from '#api/incremental/grouped.ts'
import type { GatewayClass } from '#api/gateway/gatewayclass.gen.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import { matchesSelector } from '../labels.ts'
import { namespaceLabels } from '../namespace-labels.ts'
import { derived, type Memory } from '../memory.ts'
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
interface GatewayFamily {
  readonly ours: OurGateway | undefined
  readonly sets: readonly OurListenerSet[]
}

/** The same objects as last time where nothing has changed. */
export function gatewayTable(memory: Memory, scope: ListenerScope, controllerName: string): () => OurGateways {
  const { snapshot } = scope
  // What the families read, besides their own objects.
  const [classes, claims] = [memory.source(), memory.source()]
  let ownClasses: ReadonlySet<string> = new Set()
  let sets = Grouped.of<ListenerSet>([], gatewaysOfSet)
  let last: OurGateways = { gateways: new Map(), listenerSets: new Map() }
  const familiesOf = memory.list((gateway: Gateway): GatewayFamily => {
    const { gatewayClassName } = gateway.spec
    if (!memory.read(classes, () => ownClasses.has(gatewayClassName), gatewayClassName)) return NOT_OURS
    const key = keyOf(gateway)
    const claimed = memory.read(claims, () => sets.at(key), key)
    return familyOf(gateway, claimed, { ...scope, before: last.gateways.get(key) })
  })
  const tableOf = derived(ourGateways)
  return () => {
    const [classesBefore, setsBefore] = [ownClasses, sets]
    ownClasses = classesOf(snapshot.GatewayClass.all, controllerName)
    sets = setsBefore.after(snapshot.ListenerSet.all)
    const changedClasses = [...classesBefore, ...ownClasses].filter(
      (name) => classesBefore.has(name) !== ownClasses.has(name),
    )
    if (changedClasses.length > 0) memory.changed(classes, changedClasses)
    const changedSets = sets.changedSince(setsBefore)
    if (changedSets.length > 0) memory.changed(claims, changedSets)
    return (last = tableOf(familiesOf(snapshot.Gateway.all)))
  }
}

function classesOf(all: readonly GatewayClass[], controllerName: string): ReadonlySet<string> {
  return new Set(all.filter(({ spec }) => spec.controllerName === controllerName).map(({ metadata }) => metadata.name))
}

/** Of a Gateway of another controller. */
const NOT_OURS: GatewayFamily = { ours: undefined, sets: [] }

function ourGateways(families: readonly GatewayFamily[]): OurGateways {
  const gateways = new Map<string, OurGateway>()
  const listenerSets = new Map<string, OurListenerSet>()
  for (const { ours, sets } of families) {
    if (ours !== undefined) gateways.set(ours.key, ours)
    for (const one of sets) listenerSets.set(keyOf(one.set), one)
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

/** The Gateway that a ListenerSet names. */
function gatewaysOfSet(set: ListenerSet): readonly string[] {
  const { group = GATEWAY_GROUP, kind = 'Gateway', name, namespace = namespaceOf(set) } = set.spec.parentRef
  return group === GATEWAY_GROUP && kind === 'Gateway' ? [nameKey(namespace, name)] : []
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
