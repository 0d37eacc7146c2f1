// The statuses of a Gateway and of a ListenerSet. Whether pods run is not known here; gateway-programmed.ts adds it.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import { hasInsecureFallback } from '../translate/gateway/client-validation.ts'
import type { OurGateway, OurListenerSet } from '../translate/gateway/gateways.ts'
import { faultText, type Listener } from '../translate/gateway/listener.ts'
import { condition, sharedHostCondition } from './condition.ts'
import { badListeners, isGoodListener, listenerStatus } from './listener-status.ts'
import type { Condition, GatewayAddress, GatewayBody, ListenerSetBody } from '../translate/object-status.ts'

export interface GatewayStatusInput {
  readonly ours: OurGateway
  readonly addresses: readonly GatewayAddress[]
  readonly attachedRoutes: (listener: Listener) => number
}

export function gatewayStatus({ ours, addresses, attachedRoutes }: GatewayStatusInput): GatewayBody {
  const { generation } = ours.gateway.metadata
  const own = ours.listeners.filter(({ set }) => set === undefined)
  return {
    addresses,
    attachedListenerSets: ours.sets.filter((set) => isAttached(ours, set)).length,
    conditions: [
      gatewayAccepted(ours),
      gatewayProgrammed(ours),
      ...resolvedRefs(ours),
      ...insecureFallback(ours.gateway),
    ],
    listeners: own.map((listener) =>
      listenerStatus({ listener, attachedRoutes: attachedRoutes(listener), generation }),
    ),
  }
}

/** Only an accepted ListenerSet counts: one of its listeners must be accepted. */
function isAttached({ listeners }: OurGateway, set: ListenerSet): boolean {
  const own = listeners.filter((listener) => listener.set === set)
  return badListeners(own) === '' || own.some(isGoodListener)
}

function gatewayAccepted({ gateway, listeners, internal }: OurGateway): Condition {
  const { generation } = gateway.metadata
  const type = 'Accepted'
  const address = unsupportedAddress(gateway)
  if (address !== undefined) {
    const message = `${address.path}: address type ${address.type} is not supported; use IPAddress`
    return condition({ type, isTrue: false, reason: 'UnsupportedAddress', message, generation })
  }
  if (internal.faults.length > 0) {
    const message = internal.faults
    return condition({ type, isTrue: false, reason: 'Invalid', message, generation })
  }
  const bad = badListeners(listeners)
  if (bad === '')
    return condition({ type, isTrue: true, reason: type, message: 'Successfully accepted Gateway', generation })
  const message = `Some listeners are not accepted: ${bad}`
  const isTrue = listeners.some(isGoodListener)
  return condition({ type, isTrue, reason: 'ListenersNotValid', message, generation })
}

function gatewayProgrammed({ gateway, listeners }: OurGateway): Condition {
  const { generation } = gateway.metadata
  const type = 'Programmed'
  const hostname = addressWhere(gateway, (kind) => kind === 'Hostname')
  if (hostname !== undefined) {
    const message = `${hostname.path}: addresses of type Hostname cannot be used; use IPAddress`
    return condition({ type, isTrue: false, reason: 'AddressNotUsable', message, generation })
  }
  if (unsupportedAddress(gateway) !== undefined) {
    return condition({ type, isTrue: false, reason: 'Invalid', message: 'Gateway is not accepted', generation })
  }
  if (listeners.some(({ notProgrammed }) => notProgrammed === undefined)) {
    return condition({ type, isTrue: true, reason: type, message: 'Successfully programmed Gateway', generation })
  }
  return condition({ type, isTrue: false, reason: 'Invalid', message: 'no listener is programmed', generation })
}

/** Only of a Gateway that refers to something itself: a client certificate for backends. */
function resolvedRefs({ gateway, clientCertificate }: OurGateway): Condition[] {
  if (clientCertificate === undefined) return []
  const { generation } = gateway.metadata
  const type = 'ResolvedRefs'
  const { fault } = clientCertificate
  return fault === undefined
    ? [condition({ type, isTrue: true, reason: type, message: 'All references are resolved', generation })]
    : [condition({ type, isTrue: false, reason: fault.reason, message: faultText(fault), generation })]
}

/** Reported on the Gateway as well: the certificates alone suggest that every client is verified. */
function insecureFallback(gateway: Gateway): Condition[] {
  if (!hasInsecureFallback(gateway)) return []
  const message = 'clients without a valid certificate are accepted: AllowInsecureFallback in spec.tls.frontend'
  const { generation } = gateway.metadata
  const type = 'InsecureFrontendValidationMode'
  return [condition({ type, isTrue: true, reason: 'ConfigurationChanged', message, generation })]
}

interface TypedAddress {
  readonly type: string
  readonly path: string
}

function unsupportedAddress(gateway: Gateway): TypedAddress | undefined {
  return addressWhere(gateway, (type) => type !== 'IPAddress' && type !== 'Hostname')
}

function addressWhere({ spec }: Gateway, isIt: (type: string) => boolean): TypedAddress | undefined {
  return (spec.addresses ?? [])
    .map(({ type = 'IPAddress' }, at) => ({ type, path: `spec.addresses[${at}].type` }))
    .find(({ type }) => isIt(type))
}

export interface ListenerSetStatusInput {
  /** Empty: nothing. */
  readonly sharedHosts: string
  readonly ours: OurListenerSet
  readonly attachedRoutes: (listener: Listener) => number
}

export function listenerSetStatus({ ours, attachedRoutes, sharedHosts }: ListenerSetStatusInput): ListenerSetBody {
  const { set, parent, refusal } = ours
  const { generation } = set.metadata
  if (refusal !== undefined) {
    return {
      conditions: ['Accepted', 'Programmed'].map((type) => condition({ type, isTrue: false, ...refusal, generation })),
      listeners: [],
    }
  }
  const own = parent.listeners.filter((listener) => listener.set === set)
  return {
    conditions: [
      setAccepted(own, generation),
      setProgrammed(own, generation),
      ...sharedHostCondition(sharedHosts, generation),
    ],
    listeners: own.map((listener) =>
      listenerStatus({ listener, attachedRoutes: attachedRoutes(listener), generation }),
    ),
  }
}

function setAccepted(listeners: readonly Listener[], generation: number | undefined): Condition {
  const type = 'Accepted'
  const bad = badListeners(listeners)
  if (bad === '') return condition({ type, isTrue: true, reason: type, message: 'ListenerSet is accepted', generation })
  const message = `Some listeners are not accepted: ${bad}`
  return condition({ type, isTrue: listeners.some(isGoodListener), reason: 'ListenersNotValid', message, generation })
}

function setProgrammed(listeners: readonly Listener[], generation: number | undefined): Condition {
  const type = 'Programmed'
  if (listeners.some(({ notProgrammed }) => notProgrammed === undefined)) {
    return condition({ type, isTrue: true, reason: type, message: 'ListenerSet is programmed', generation })
  }
  const message = 'no listener of the set is programmed'
  return condition({ type, isTrue: false, reason: 'ListenersNotValid', message, generation })
}
