// Checks every listener of one Gateway and its ListenerSets. Pure: an invalid listener does not affect the others.
import type { Gateway, GatewayListener } from '#api/gateway/gateway.gen.ts'
import type { ListenerSet } from '#api/gateway/listenerset.gen.ts'
import type { ListenerTLS } from '#api/ir/types.gen.ts'
import { isListenerProtocol, LISTED_KINDS, RESERVED_PORTS, ROUTE_KINDS } from '../capabilities.ts'
import { capMessage } from '../caps.ts'
import { fairlyAdmitted } from '../fair-share.ts'
import { GATEWAY_GROUP } from '../groups.ts'
import { forbiddenHostMessage } from '../host-bindings.ts'
import { keyOf, namespaceOf } from '../object-ref.ts'
import type { RouteGroupKind } from '../object-status.ts'
import { listenerCertificate } from './certificate.ts'
import { clientValidation, type ClientValidationOutcome } from './client-validation.ts'
import { listenerConflicts } from './conflicts.ts'
import type { ListenerScope } from './listener.ts'
import { identityOf, type Listener, type ListenerFault, type ListenerIdentity, routeListener } from './listener.ts'

const MODELS_ARE_OFF = 'GwModels are not enabled: set GW_ENABLE_MODELS=true for the controller'

/** `sets` are the accepted ListenerSets, in order of precedence. */
export function listenersOf(gateway: Gateway, sets: readonly ListenerSet[], scope: ListenerScope): Listener[] {
  const identities = [
    ...gateway.spec.listeners.map((spec) => identityOf(gateway, undefined, spec)),
    ...sets.flatMap((set) => set.spec.listeners.map((spec) => identityOf(gateway, set, spec))),
  ]
  const tooMany = listenersBeyond(gateway, identities, scope)
  const refusalOf = (one: ListenerIdentity): ListenerFault | undefined => boundHost(one, scope) ?? tooMany.get(one)
  // A rejected listener takes no host name from others.
  const conflicts = listenerConflicts(
    identities.filter((one) => !RESERVED_PORTS.has(one.spec.port) && refusalOf(one) === undefined),
  )
  return identities.map((one) => judge(one, { conflict: conflicts.get(one), refusal: refusalOf(one) }, scope))
}

/** Those of ListenerSets that the Gateway has no room for beside its own. */
function listenersBeyond(
  gateway: Gateway,
  identities: readonly ListenerIdentity[],
  { caps }: ListenerScope,
): ReadonlyMap<ListenerIdentity, ListenerFault> {
  const ofSets = identities.flatMap((identity) =>
    identity.set === undefined ? [] : [{ identity, namespace: namespaceOf(identity.set), cost: 1 }],
  )
  const admitted = fairlyAdmitted(ofSets, Math.max(caps.listenersMax - gateway.spec.listeners.length, 0))
  if (admitted === undefined) return new Map()
  const fault = { reason: 'TooManyListeners', message: capMessage('listenersMax', caps, keyOf(gateway)) }
  return new Map(ofSets.flatMap(({ identity }, at) => (admitted[at] === true ? [] : [[identity, fault] as const])))
}

interface Rivalry {
  readonly conflict: ListenerFault | undefined
  /** The Gateway has no room for it, or its host name is reserved for other namespaces. */
  readonly refusal: ListenerFault | undefined
}

function judge(identity: ListenerIdentity, rivalry: Rivalry, scope: ListenerScope): Listener {
  const { conflict } = rivalry
  const { spec } = identity
  const owner = identity.set ?? identity.gateway
  const protocol = isListenerProtocol(spec.protocol) ? spec.protocol : undefined
  const { kinds, fault: kindFault } = kindsOf(spec, scope)
  const certificate = listenerCertificate(spec, {
    owner: { kind: owner.kind, namespace: namespaceOf(owner) },
    secrets: scope.snapshot.Secret,
    isPermitted: scope.isPermitted,
  })
  const clients = clientValidation(identity.gateway, spec, scope)
  const notAccepted = acceptanceFault(spec, protocol === undefined, rivalry) ?? clients.unusable
  const hasKinds = kinds.length > 0
  const notProgrammed = programmingFault({ notAccepted, certificate: certificate.fault, kindFault, hasKinds })
  const unresolvedRef = certificate.fault ?? clients.unresolvedRef ?? kindFault
  const tls = rivalry.refusal === undefined ? listenerTls(certificate.tls, clients) : undefined
  const listener = {
    ...identity,
    protocol,
    kinds,
    ...(notAccepted !== undefined && { notAccepted }),
    ...(conflict !== undefined && { conflict }),
    ...(unresolvedRef !== undefined && { unresolvedRef }),
    ...(notProgrammed !== undefined && { notProgrammed }),
    ...(tls !== undefined && { tls }),
    secrets: certificate.secrets,
    allowsNamespace: namespaceFilter(spec, namespaceOf(owner), scope),
    forbiddenHost: scope.forbiddenHost,
  }
  return { ...listener, forRoutes: routeListener(listener) }
}

/** A Gateway belongs to the administrator; a ListenerSet may belong to any tenant. */
function boundHost({ set, spec }: ListenerIdentity, { forbiddenHost }: ListenerScope): ListenerFault | undefined {
  const host = spec.hostname ?? ''
  const binding = set === undefined || host === '' ? undefined : forbiddenHost(host, namespaceOf(set))
  if (binding === undefined) return undefined
  return { reason: 'HostnameNotPermitted', message: forbiddenHostMessage(host, binding), field: 'hostname' }
}

/** Without a CA certificate to verify clients the listener must reject handshakes. */
function listenerTls(
  tls: ListenerTLS | undefined,
  { validation, unusable }: ClientValidationOutcome,
): ListenerTLS | undefined {
  if (tls === undefined || tls.invalid !== undefined) return tls
  if (unusable !== undefined) return { mode: 'Terminate', invalid: unusable.message }
  return validation === undefined ? tls : { ...tls, clientCertificates: validation }
}

function acceptanceFault(
  spec: GatewayListener,
  isUnknown: boolean,
  { refusal, conflict }: Rivalry,
): ListenerFault | undefined {
  if (isUnknown) {
    const known = Object.keys(ROUTE_KINDS).join(', ')
    return { reason: 'UnsupportedProtocol', message: `protocol ${spec.protocol} is not supported; use one of ${known}` }
  }
  if (RESERVED_PORTS.has(spec.port)) {
    return { reason: 'PortUnavailable', message: `port ${spec.port} is reserved by the proxy; use another port` }
  }
  return refusal ?? conflict
}

interface ProgrammingFacts {
  readonly notAccepted: ListenerFault | undefined
  readonly certificate: ListenerFault | undefined
  readonly kindFault: ListenerFault | undefined
  readonly hasKinds: boolean
}

function programmingFault(facts: ProgrammingFacts): ListenerFault | undefined {
  const { notAccepted, certificate, kindFault, hasKinds } = facts
  if (notAccepted !== undefined) return notAccepted
  if (certificate !== undefined) return { reason: 'Invalid', message: 'Bad TLS configuration' }
  if (kindFault !== undefined && !hasKinds) return { ...kindFault, reason: 'Invalid' }
  return undefined
}

function kindsOf(
  spec: GatewayListener,
  { areModelsEnabled }: ListenerScope,
): { kinds: readonly RouteGroupKind[]; fault?: ListenerFault } {
  const { usual, listed } = carriedKinds(spec)
  const wanted = spec.allowedRoutes?.kinds
  if (wanted === undefined || wanted.length === 0) return { kinds: usual }
  const possible = areModelsEnabled ? [...usual, ...listed] : usual
  const isPossible = ({ group = GATEWAY_GROUP, kind }: { group?: string; kind: string }): boolean =>
    possible.some((one) => one.group === group && one.kind === kind)
  const kinds = possible.filter(({ group, kind }) =>
    wanted.some((one) => (one.group ?? GATEWAY_GROUP) === group && one.kind === kind),
  )
  const refused = wanted.filter((one) => !isPossible(one)).map(({ kind }) => kind)
  if (refused.length === 0) return { kinds }
  const isOff = !areModelsEnabled && listed.some(({ kind }) => refused.includes(kind))
  const cure = isOff ? MODELS_ARE_OFF : useOneOf(possible)
  const message = `protocol ${spec.protocol} cannot carry routes of kind ${refused.join(', ')}; ${cure}`
  return { kinds, fault: { reason: 'InvalidRouteKinds', message, field: 'allowedRoutes.kinds' } }
}

interface CarriedKinds {
  readonly usual: readonly RouteGroupKind[]
  /** Only where allowedRoutes.kinds lists them. */
  readonly listed: readonly RouteGroupKind[]
}

function carriedKinds({ protocol, tls }: GatewayListener): CarriedKinds {
  if (!isListenerProtocol(protocol)) return { usual: [], listed: [] }
  const terminates = protocol === 'TLS' && tls?.mode !== 'Passthrough'
  const usual = terminates ? [...ROUTE_KINDS.TLS, ...ROUTE_KINDS.TCP] : ROUTE_KINDS[protocol]
  return { usual, listed: LISTED_KINDS[protocol] ?? [] }
}

function useOneOf(kinds: readonly RouteGroupKind[]): string {
  return kinds.length === 0 ? 'use another protocol' : `use ${kinds.map(({ kind }) => kind).join(', ')}`
}

function namespaceFilter(spec: GatewayListener, ownNamespace: string, scope: ListenerScope): (name: string) => boolean {
  const allowed = spec.allowedRoutes?.namespaces
  const from = allowed?.from ?? 'Same'
  if (from === 'All') return () => true
  if (from === 'Same') return (namespace) => namespace === ownNamespace
  const selector = from === 'Selector' ? allowed?.selector : undefined
  return selector === undefined ? () => false : scope.namespacesOf(selector)
}
