// Policies of upstream calls that depend on nothing but the call, as backend fields of the contract. Credentials are
// stored in the secrets, never in the payload.
import type {
  BackendAuth as RenderedAuth,
  BackendPayload,
  BackendReference,
  BackendTunnel,
  BackendTLS as RenderedTls,
  Deny,
} from '#api/ir/types.gen.ts'
import { certificatesOnly } from '#api/tls/certificate-bundle.ts'
import { pathTo } from '../field-path.ts'
import type { BackendAuth, BackendTLS, Location } from '../schema/policies.ts'
import { DENYING_AUTH, type ServiceFields, type SimplePolicies, type Tunnel } from '../schema/upstream.ts'
import type { Address } from '../schema/values.ts'
import { renderAws, renderAzure, renderGcp } from './cloud-auth.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { denialOf } from './denial.ts'
import { serviceNamed } from './discovery.ts'
import { renderLocation } from './extraction.ts'
import { renderModifier, renderTransformation } from './headers.ts'
import { renderKeyPair } from './key-pair.ts'
import { renderKeepalive } from './keepalive.ts'
import { renderCrossAppAccess, renderTokenExchange } from './oauth.ts'
import { backendNamed } from './references.ts'

/** For a service that another policy calls. */
export function simpleSide(policies: SimplePolicies, path: string, context: BuildContext): BackendPayload {
  const { backendTLS, backendAuth, backendTunnel, http, tcp, requestHeaderModifier, transformations } = policies
  const tls = ifSet(backendTLS, (value) => renderTls(value, pathTo(path, 'backendTLS'), context))
  const auth = ifSet(backendAuth, (value) => renderAuth(value, pathTo(path, 'backendAuth'), context))
  return defined({
    deny: auth?.deny,
    tls,
    auth: auth?.auth,
    http: renderHttp(http),
    tcp: renderTcp(tcp),
    tunnel: ifSet(backendTunnel, (value) => renderTunnel(value, pathTo(path, 'backendTunnel'), context)),
    transformation: ifSet(transformations, renderTransformation),
    requestHeaderModifier: ifSet(requestHeaderModifier, renderModifier),
  })
}

export function renderTunnel({ proxy }: Tunnel, path: string, context: BuildContext): BackendTunnel {
  return { proxy: serviceOf(proxy, pathTo(path, 'proxy'), context) }
}

export function renderHttp(http: SimplePolicies['http']): BackendPayload['http'] {
  if (http?.requestTimeout === undefined && http?.version === undefined) return undefined
  return defined({ version: http.version, requestTimeoutMs: http.requestTimeout })
}

export function renderTcp(tcp: SimplePolicies['tcp']): BackendPayload['tcp'] {
  if (tcp?.connectTimeout === undefined && tcp?.keepalives === undefined) return undefined
  return defined({ connectTimeoutMs: tcp.connectTimeout, keepalive: ifSet(tcp.keepalives, renderKeepalive) })
}

export function renderTls(value: BackendTLS, path: string, context: BuildContext): RenderedTls {
  const { root, hostname, insecure, insecureHost, alpn, cert, key, subjectAltNames, keyExchangeGroups } = value
  const caCertificates = root === undefined ? undefined : context.readFile(pathTo(path, 'root'), root)
  if (caCertificates?.includes('-----BEGIN CERTIFICATE-----') === false) {
    context.error(pathTo(path, 'root'), 'the file contains no PEM certificate')
  }
  // The schema requires both or neither.
  const pair = cert === undefined || key === undefined ? undefined : renderKeyPair({ cert, key }, path, context)
  return defined({
    sni: hostname,
    caCertificates: ifSet(caCertificates, certificatesOnly),
    insecureSkipVerify: skipVerify(insecure, insecureHost),
    alpnProtocols: alpn,
    clientCertificate: pair?.certificate,
    clientKey: pair?.privateKey,
    verifySubjectAltNames: subjectAltNames,
    keyExchangeGroups,
  })
}

function skipVerify(
  insecure: boolean | undefined,
  insecureHost: boolean | undefined,
): RenderedTls['insecureSkipVerify'] {
  if (insecure === true) return 'All'
  return insecureHost === true ? 'Hostname' : undefined
}

export function renderAuth(
  value: BackendAuth,
  path: string,
  context: BuildContext,
): { readonly deny?: Deny | undefined; readonly auth?: RenderedAuth } {
  if (typeof value === 'string') return { auth: { key: context.secret(path, value) } }
  const deny = denialOf({ names: DENYING_AUTH, policies: value, path }, context)
  const { key, passthrough, aws, azure, gcp, crossAppAccess, oauthTokenExchange, oauth, credentials } = value
  const primaries = { key, passthrough, aws, azure, gcp, crossAppAccess, oauthTokenExchange, oauth }
  if (Object.values(primaries).filter((one) => one !== undefined).length > 1) {
    context.error(path, `must have at most one of ${Object.keys(primaries).join(', ')}`)
  }
  const serviceAt = (fields: ServiceFields, at: string): BackendReference => serviceOf(fields, at, context)
  const primary = ifSet(key, (given) => primaryKey(given, pathTo(path, 'key'), context))
  const auth: RenderedAuth = defined({
    key: primary?.key,
    passthrough: ifSet(passthrough, () => true),
    cloudA: ifSet(aws, (given) => renderAws(given, pathTo(path, 'aws'), context)),
    cloudB: ifSet(azure, (given) => renderAzure(given, pathTo(path, 'azure'), context)),
    cloudC: ifSet(gcp, (given) => renderGcp(given, pathTo(path, 'gcp'), context)),
    crossAppAccess: ifSet(crossAppAccess, (given) =>
      renderCrossAppAccess(given, { path: pathTo(path, 'crossAppAccess'), context, serviceAt }),
    ),
    oauthTokenExchange: ifSet(oauthTokenExchange ?? oauth, (given) => {
      const at = pathTo(path, oauth === undefined ? 'oauthTokenExchange' : 'oauth')
      return renderTokenExchange(given, { path: at, context, serviceAt })
    }),
    location: ifSet(primary?.location ?? passthrough?.location, renderLocation),
    credentials: credentials?.map((one, index) => ({
      key: context.secret(pathTo(path, 'credentials', index, 'key'), one.key),
      location: renderLocation(one.location),
    })),
  })
  if (Object.keys(auth).length === 0 && deny === undefined) context.error(path, 'sets no credentials')
  return { deny, auth }
}

function primaryKey(
  key: Exclude<Exclude<BackendAuth, string>['key'], undefined>,
  path: string,
  context: BuildContext,
): { readonly key: { secret: string }; readonly location?: Location | undefined } {
  if (typeof key === 'string' || 'file' in key) return { key: context.secret(path, key) }
  return { key: context.secret(pathTo(path, 'value'), key.value), location: key.location }
}

/** `path`: of the policy. */
export function serviceOf(fields: ServiceFields, path: string, context: BuildContext): BackendReference {
  const { target, policies } = fields
  const { host, backend, service } = target ?? fields
  const isTwice = target !== undefined && countOf(fields) > 0
  if (isTwice || countOf({ host, backend, service }) !== 1) {
    context.error(path, 'must have exactly one of host, backend, service, either here or under target')
  }
  if (host !== undefined) return ownService(host, policies, path, context)
  if (policies !== undefined) {
    const owner = service === undefined ? 'on the named backend' : 'in policies with the service as target.backend'
    context.error(pathTo(path, 'policies'), `must be set ${owner}`)
  }
  const at = target === undefined ? path : pathTo(path, 'target')
  if (service !== undefined) return serviceNamed(service, pathTo(at, 'service'), context)
  return namedService(backend ?? '', at, context)
}

function countOf({ host, backend, service }: Pick<ServiceFields, 'host' | 'backend' | 'service'>): number {
  return [host, backend, service].filter((one) => one !== undefined).length
}

function ownService(
  host: Address,
  policies: ServiceFields['policies'],
  path: string,
  context: BuildContext,
): BackendReference {
  // The slash keeps it apart from named backends, whose names contain none.
  const name = `service/${path}`
  const key = `/${name}`
  // An inline backend of a route on two listeners is built twice, but calls one service.
  if (context.backendKinds.has(key)) return { backend: key }
  const payload = simpleSide(policies ?? {}, pathTo(path, 'policies'), context)
  context.backendKinds.set(key, 'host')
  context.config.backends.push({
    key,
    name: { namespace: DEFAULT_NAMESPACE, name },
    static: host,
    ...(Object.keys(payload).length > 0 && { inlinePolicies: payload }),
  })
  return { backend: key }
}

function namedService(name: string, path: string, context: BuildContext): BackendReference {
  const ref = backendNamed(name, pathTo(path, 'backend'), context)
  const kind = ref.backend === undefined ? undefined : context.backendKinds.get(ref.backend)
  if (kind !== undefined && kind !== 'host') {
    context.error(pathTo(path, 'backend'), `must be a backend with a host; ${name} is of kind ${kind}`)
  }
  return ref
}
