// What a remote key set means to the control plane, which fetches it: address, TLS and proxy, and the key under which
// the store keeps the answer. Never used by the proxy.
import type { BackendObjectReference, BackendTunnel, RemoteJWKS } from '#api/v1alpha1/shared.gen.ts'
import { CORE_GROUP, GW_GROUP } from '../groups.ts'
import { resolveReference } from '../service/reference.ts'
import type { FieldScope } from './field.ts'
import { jwksTls, type JwksTls } from './jwks-tls.ts'

export interface HostPlace {
  readonly host: string
  readonly port: number
}

export interface JwksRequest {
  /** Differs if address, TLS or proxy differ: keys from one connection are not valid for another one. */
  readonly key: string
  /** For messages and the store; never parsed. */
  readonly url: string
  readonly place: HostPlace
  /** Begins with a slash; not yet escaped. */
  readonly path: string
  readonly tls?: JwksTls
  /** The proxy on the way: CONNECT for TLS, an absolute URI for plain HTTP. */
  readonly proxy?: { readonly place: HostPlace; readonly tls?: JwksTls }
}

export interface JwksFault {
  /** Below the object that refers, when it is another field than the reference itself. */
  readonly reason: string
  readonly message: string
}

interface Target {
  readonly place: HostPlace
  readonly tls?: JwksTls
  readonly tunnel?: BackendTunnel
  /** The owner of the references of a tunnel. */
  readonly namespace: string
}

export function jwksRequest({ backendRef, jwksPath }: RemoteJWKS, scope: FieldScope): JwksRequest | JwksFault {
  const { kind, namespace } = scope.owner
  const target = targetOf(backendRef, { kind, namespace }, scope)
  if ('message' in target) return target
  const proxy = target.tunnel === undefined ? undefined : proxyOf(target.tunnel, target.namespace, scope)
  if (proxy !== undefined && 'message' in proxy) return proxy
  const { place, tls } = target
  return requestTo({
    place,
    path: `/${jwksPath.replace(/^\/+/, '')}`,
    ...(tls !== undefined && { tls }),
    ...(proxy !== undefined && { proxy }),
  })
}

/** Completes a request with the values that follow from its parts. */
export function requestTo(parts: Omit<JwksRequest, 'key' | 'url'>): JwksRequest {
  const { place, path, tls, proxy } = parts
  const url = `${tls === undefined ? 'http' : 'https'}://${authorityOf(place)}${path}`
  const by = proxy === undefined ? [] : [authorityOf(proxy.place), proxy.tls?.fingerprint ?? '']
  return { ...parts, url, key: JSON.stringify([url, tls?.fingerprint ?? '', ...by]) }
}

function proxyOf(
  { backendRef }: BackendTunnel,
  namespace: string,
  scope: FieldScope,
): JwksRequest['proxy'] | JwksFault {
  const target = targetOf(backendRef, { kind: 'GwBackend', namespace }, scope)
  if ('message' in target) return fault(`the tunnel to the keys: ${target.message}`)
  const { place, tls, tunnel } = target
  if (tunnel !== undefined) return fault('the tunnel to the keys leads to a backend that has a tunnel itself')
  return { place, ...(tls !== undefined && { tls }) }
}

type Referrer = Pick<FieldScope['owner'], 'kind' | 'namespace'>

function targetOf(backendRef: BackendObjectReference, from: Referrer, { references }: FieldScope): Target | JwksFault {
  const { ref, invalid } = resolveReference(backendRef, { group: GW_GROUP, ...from }, references)
  if (invalid !== undefined) return invalid
  const { name, namespace = from.namespace } = backendRef
  if (ref.service === undefined) return backendTarget(namespace, name, references)
  const { hostname: host, port } = ref.service
  const object = references.snapshot.Service.get(namespace, name)
  const portName = object?.spec?.ports?.find((one) => one.port === port)?.name
  const sections = [String(port), ...(portName === undefined ? [] : [portName])]
  return object === undefined
    ? { place: { host, port }, namespace }
    : withTls(
        { place: { host, port }, namespace },
        { group: CORE_GROUP, kind: 'Service', object, sections },
        references,
      )
}

function backendTarget(namespace: string, name: string, references: FieldScope['references']): Target | JwksFault {
  const object = references.snapshot.GwBackend.get(namespace, name)
  const at = object?.spec.static
  if (object === undefined || at === undefined) {
    return fault(`only static backends are supported; ${namespace}/${name} is not static`)
  }
  const { host = '', port = 0, unixPath } = at
  // The socket would be one of the process that fetches, not of the proxy.
  if (unixPath !== undefined) {
    return fault(`keys are not fetched from unix paths; set host and port of GwBackend ${namespace}/${name}`)
  }
  const { tunnel } = object.spec.policies ?? {}
  const target = {
    place: { host, port },
    namespace,
    ...(tunnel !== undefined && { tunnel }),
  }
  return withTls(target, { group: GW_GROUP, kind: 'GwBackend', object, sections: [] }, references)
}

function withTls(
  target: Target,
  at: Parameters<typeof jwksTls>[0],
  references: FieldScope['references'],
): Target | JwksFault {
  const outcome = jwksTls(at, references)
  if (outcome === undefined) return target
  return 'message' in outcome ? outcome : { ...target, tls: outcome }
}

function authorityOf({ host, port }: HostPlace): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function fault(message: string): JwksFault {
  return { reason: 'UnsupportedValue', message }
}
