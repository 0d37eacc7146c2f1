// Which listeners accept a route, for one parentRef, and why if none does. Order and messages are part of the API.
import type { HTTPRoute, HTTPRouteParentRef } from '#api/gateway/httproute.gen.ts'
import type { GRPCRoute } from '#api/gateway/grpcroute.gen.ts'
import type { TCPRoute } from '#api/gateway/tcproute.gen.ts'
import type { TLSRoute } from '#api/gateway/tlsroute.gen.ts'
import type { GwModel } from '#api/v1alpha1/gwmodel.gen.ts'
import type { RouteListener } from '../gateway/listener.ts'
import { forbiddenHostMessage } from '../host-bindings.ts'
import { commonHostnames, hostnamesIntersect } from '../hostnames.ts'
import { groupOf, namespaceOf } from '../object-ref.ts'
import { fitted } from '../same.ts'

export type AnyRoute = HTTPRoute | GRPCRoute | TCPRoute | TLSRoute

/** The routes and models that listeners accept or reject. */
export type Attachable = AnyRoute | GwModel

export interface Denial {
  readonly reason:
    | 'NoMatchingParent'
    | 'NotAllowedByListeners'
    | 'NoMatchingListenerHostname'
    | 'HostnameNotPermitted'
    | 'TooManyRoutes'
  readonly message: string
}

export type Acceptance = { readonly listeners: readonly RouteListener[] } | { readonly denial: Denial }

export interface ParentCandidate {
  readonly route: Attachable
  readonly parentRef: HTTPRouteParentRef
  readonly parentNamespace: string
  /** Listeners that the parent itself owns. */
  readonly listeners: readonly RouteListener[]
}

export function acceptRoute(candidate: ParentCandidate): Acceptance {
  const accepted: RouteListener[] = []
  let lastDenial: Denial | undefined
  for (const listener of candidate.listeners) {
    if (listener.notAccepted !== undefined || !isAddressed(candidate.parentRef, listener)) continue
    const denial = denialOf(candidate.route, listener)
    if (denial === undefined) accepted.push(listener)
    else lastDenial = denial
  }
  if (accepted.length > 0) return { listeners: fitted(accepted) }
  return { denial: lastDenial ?? noneAddressed(candidate) }
}

function isAddressed({ port, sectionName }: HTTPRouteParentRef, { spec }: RouteListener): boolean {
  return (port === undefined || port === spec.port) && (sectionName === undefined || sectionName === spec.name)
}

function denialOf(route: Attachable, listener: RouteListener): Denial | undefined {
  const { spec, kinds, allowsNamespace } = listener
  // TCPRoutes have no host names: a plain TCP connection names no host.
  const hostnames = 'hostnames' in route.spec ? (route.spec.hostnames ?? []) : []
  if (hostnames.length > 0 && !hostnames.some((hostname) => hostnamesIntersect(spec.hostname, hostname))) {
    return {
      reason: 'NoMatchingListenerHostname',
      message: `no hostnames matched parent hostname ${JSON.stringify(spec.hostname ?? '')}; change spec.hostnames, or the listener`,
    }
  }
  const namespace = namespaceOf(route)
  if (!allowsNamespace(namespace)) {
    const parentHostname = JSON.stringify(spec.hostname ?? '')
    return {
      reason: 'NotAllowedByListeners',
      message: `hostnames matched parent hostname ${parentHostname}, but namespace ${JSON.stringify(namespace)} is not allowed by the parent; see allowedRoutes.namespaces of its listener ${spec.name}`,
    }
  }
  const group = groupOf(route.apiVersion)
  const takes = `listener ${spec.name} accepts ${kinds.map(({ kind }) => kind).join(', ') || 'no routes'}`
  if (!kinds.some((one) => one.group === group && one.kind === route.kind)) {
    return { reason: 'NotAllowedByListeners', message: `kind ${group}/${route.kind} is not allowed; ${takes}` }
  }
  return HOSTLESS.has(route.kind) ? undefined : boundHost(namespace, hostnames, listener)
}

/** They have no host names; a listener accepts GwModels only if it lists the kind. */
const HOSTLESS: ReadonlySet<string> = new Set(['TCPRoute', 'GwModel'])

function boundHost(
  namespace: string,
  hostnames: readonly string[],
  { spec, forbiddenHost }: RouteListener,
): Denial | undefined {
  for (const host of commonHostnames(spec.hostname, hostnames)) {
    const binding = forbiddenHost(host, namespace)
    if (binding !== undefined) return { reason: 'HostnameNotPermitted', message: forbiddenHostMessage(host, binding) }
  }
  return undefined
}

function noneAddressed({ route, parentRef, parentNamespace, listeners }: ParentCandidate): Denial {
  const { port, sectionName } = parentRef
  if (parentNamespace !== namespaceOf(route)) {
    // Other namespaces do not get the names of the listeners.
    const named = [sectionName && `sectionName "${sectionName}"`, port && `port ${port}`].filter(Boolean).join(' and ')
    const where = named === '' ? '' : ` at ${named}`
    return {
      reason: 'NotAllowedByListeners',
      message: `no listener of the parent accepts routes from namespace ${JSON.stringify(namespaceOf(route))}${where}`,
    }
  }
  const ports = `the parent has ${[...new Set(listeners.map(({ spec }) => spec.port))].join(', ') || 'none'}`
  if (port !== undefined && !listeners.some(({ spec }) => spec.port === port)) {
    return { reason: 'NoMatchingParent', message: `port ${port} not found; ${ports}` }
  }
  if (sectionName !== undefined) {
    const known = `the parent has ${listeners.map(({ spec }) => spec.name).join(', ') || 'no listeners'}`
    const named = listeners.find(({ spec }) => spec.name === sectionName)
    if (named === undefined)
      return { reason: 'NoMatchingParent', message: `sectionName "${sectionName}" not found; ${known}` }
    return { reason: 'NoMatchingParent', message: `listener "${sectionName}" does not accept routes on this port` }
  }
  if (port !== undefined) return { reason: 'NoMatchingParent', message: `port ${port} accepts no routes` }
  return { reason: 'NoMatchingListenerHostname', message: 'No route hostnames intersect any listener hostname' }
}
