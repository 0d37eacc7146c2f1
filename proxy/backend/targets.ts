// Resolves a reference of the configuration to addresses, with connection policies applied.
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { GROUP } from '#api/group.ts'
import { type Probes, probesOf } from '#api/ir/keepalive.ts'
import type { Backend, BackendReference, SecretRef, Workload } from '#api/ir/types.gen.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import { CONNECTION_DEFAULTS, type ConnectionDefaults } from '../upstream/connection-defaults.ts'
import { versionOfAppProtocol } from '../upstream/http2-version.ts'
import { asciiOf, serverNameOf } from '../upstream/host-names.ts'
import { versionOf } from '../upstream/protocols.ts'
import type { TargetGuard, UpstreamTarget, UpstreamTls, UpstreamTunnel } from '../upstream/target.ts'
import type { TargetDirectory } from './directory.ts'
import { serviceOwner } from './endpoint-keys.ts'
import { endpointPicker, powerOfTwoPicker } from './endpoint-picker.ts'
import type { EndpointTable } from './endpoints.ts'
import type { EndpointPicker, CalledPlace } from './handler.ts'
import { localityRank, ownPlace, type Locality } from './locality.ts'
import { tunnelThrough } from './tunnel-proxy.ts'

const A2A_PROTOCOL = `${GROUP}/a2a`

type SecretLookup = (ref: SecretRef) => string | undefined
type ConnectionPolicies = Pick<EffectiveBackend, 'tls' | 'tcp' | 'http' | 'tunnel'>
/** Policies of a service itself: attached or inline. */
type OwnPolicies = (service: CalledPlace) => EffectiveBackend

const NO_POLICIES: OwnPolicies = () => ({ mcpAuthorization: [] })

const NOWHERE: Locality = {}

export interface TargetResolverOptions {
  /** Client certificates towards backends. */
  readonly secret?: SecretLookup
  /** Of proxies on the way. */
  readonly ownPolicies?: OwnPolicies
  /** Where this proxy is, as far as its settings say. */
  readonly place?: Locality | undefined
  /** The tunnel to a workload of the mesh; undefined: it gets plain connections. Absent: the proxy is in no mesh. */
  readonly meshTunnel?: ((workload: Workload) => UpstreamTunnel | undefined) | undefined
  /** What connections have without a policy. */
  readonly connections?: ConnectionDefaults | undefined
}

/** Where it is looked up. */
export type Directory = Pick<TargetDirectory, 'backend' | 'service' | 'members' | 'addresses' | 'workloads'>

/** Lookup of references, for one configuration or for compiled parts of it. */
export class TargetResolver {
  readonly #table: EndpointTable
  readonly #secret: SecretLookup
  readonly #ownPolicies: OwnPolicies
  /** By reference of the proxy. */
  readonly #tunnels = new Map<string, UpstreamTunnel>()
  readonly #directory: Directory
  readonly #place: Locality
  readonly #meshTunnel: TargetResolverOptions['meshTunnel']
  readonly #connections: ConnectionDefaults
  #own: Locality | undefined = undefined

  constructor(directory: Directory, table: EndpointTable, options: TargetResolverOptions = {}) {
    const { secret = () => undefined, ownPolicies = NO_POLICIES, place = {} } = options
    this.#ownPolicies = ownPolicies
    this.#table = table
    this.#secret = secret
    this.#directory = directory
    this.#place = place
    this.#meshTunnel = options.meshTunnel
    this.#connections = options.connections ?? CONNECTION_DEFAULTS
  }

  backend(key: string): Backend | undefined {
    return this.#directory.backend(key)
  }

  hasService(namespace: string, hostname: string): boolean {
    return this.#directory.service(namespace, hostname) !== undefined
  }

  /** An A2A agent: a backend of that kind, or a Service port with this protocol. */
  isAgent({ service, backend }: BackendReference): boolean {
    if (service !== undefined) return this.#appProtocol(service) === A2A_PROTOCOL
    return backend !== undefined && this.#directory.backend(backend)?.a2a === true
  }

  /** HTTP version that the Service itself declares (appProtocol). */
  declaredVersion({ service }: BackendReference): UpstreamTarget['httpVersion'] {
    return service && versionOfAppProtocol(this.#appProtocol(service))
  }

  /** undefined: the reference has no addresses (missing, or not a static backend or Service). */
  resolve(ref: BackendReference, policies: ConnectionPolicies): EndpointPicker | undefined {
    if (ref.service !== undefined) return this.#resolveService(ref.service, policies)
    if (ref.backend === undefined) return undefined
    const backend = this.#directory.backend(ref.backend)
    if (backend?.static === undefined) return undefined
    const { host, port, unixPath } = backend.static
    if (unixPath !== undefined) {
      const endpoint = this.#table.endpoint(backend.key, this.#target({ unixPath }, policies), 'localhost')
      return powerOfTwoPicker([endpoint], false)
    }
    if (host === undefined || port === undefined) return undefined
    return this.address(backend.key, { host, port }, policies)
  }

  address(owner: string, { host, port, namedBy }: NamedAddress, policies: ConnectionPolicies): EndpointPicker {
    const target = this.#target({ host, port, namedBy }, policies)
    const authority = authorityOf(host, port, target.tls !== undefined)
    return powerOfTwoPicker([this.#table.endpoint(owner, target, authority)], isIP(host) === 0)
  }

  /** A destination selected by a client: without shared figures. */
  dynamic(host: string, port: number, policies: ConnectionPolicies, guard: TargetGuard): UpstreamTarget {
    return { ...this.#target({ host, port }, policies), guard }
  }

  #target(address: Address, policies: ConnectionPolicies, declared?: UpstreamTarget['httpVersion']): UpstreamTarget {
    const version = versionOf(policies, declared)
    const target = targetOf(address, { policies, secret: this.#secret, version, connections: this.#connections })
    if (policies.tunnel === undefined) return target
    const tunnel = this.#tunnel(policies.tunnel.proxy)
    return { ...target, key: `${target.key}|via ${tunnel.key}`, tunnel }
  }

  #tunnel(proxy: BackendReference): UpstreamTunnel {
    const key = JSON.stringify(proxy)
    let tunnel = this.#tunnels.get(key)
    if (tunnel === undefined) {
      tunnel = this.#makeTunnel(proxy)
      this.#tunnels.set(key, tunnel)
    }
    return tunnel
  }

  #makeTunnel(proxy: BackendReference): UpstreamTunnel {
    const { service } = proxy
    const backend = proxy.backend === undefined ? undefined : this.#directory.backend(proxy.backend)
    const policies = this.#ownPolicies({ service, backend })
    const { tunnel: _, ...connection } = policies
    return tunnelThrough({
      proxy,
      policies,
      picker: backend?.invalid === undefined ? this.resolve(proxy, connection) : undefined,
      addresses: service ? this.#directory.addresses(service.namespace, service.hostname, service.port) : backend,
      secret: this.#secret,
    })
  }

  #resolveService(
    service: NonNullable<BackendReference['service']>,
    policies: ConnectionPolicies,
  ): EndpointPicker | undefined {
    const { namespace, hostname, port } = service
    if (!this.hasService(namespace, hostname)) return undefined
    const owner = serviceOwner(service, port)
    const declared = this.declaredVersion({ service })
    const addresses = this.#directory.addresses(namespace, hostname, port)
    const locality = this.#directory.service(namespace, hostname)?.locality
    const own = locality === undefined ? NOWHERE : this.#ownPlace()
    const candidates = addresses.map(({ host, port: targetPort, workload, membership }) => {
      // A host name in place of an address comes from its author, not from the cluster.
      const namedBy = isIP(host) === 0 ? undefined : 'Service'
      const direct = this.#target({ host, port: targetPort, name: hostname, namedBy }, policies, declared)
      const target = direct.tunnel === undefined ? tunnelled(direct, this.#meshTunnel?.(workload)) : direct
      const rank = localityRank({ locality, own, workload, membership })
      return { endpoint: this.#table.endpoint(owner, target, hostname), rank, capacity: workload.capacity ?? 1 }
    })
    return endpointPicker(candidates, { isHostname: false })
  }

  /** Resolved when the first Service needs nearby endpoints. */
  #ownPlace(): Locality {
    return (this.#own ??= ownPlace(this.#place, this.#directory.workloads))
  }

  #appProtocol({ namespace, hostname, port }: NonNullable<BackendReference['service']>): string | undefined {
    return this.#directory.service(namespace, hostname)?.ports.findLast((one) => one.port === port)?.appProtocol
  }
}

function tunnelled(target: UpstreamTarget, tunnel: UpstreamTunnel | undefined): UpstreamTarget {
  return tunnel === undefined ? target : { ...target, key: `${target.key}|via ${tunnel.key}`, tunnel }
}

/** Default ports are left out of the Host header (RFC 9110 section 7.2). */
export function authorityOf(host: string, port: number, isTls: boolean): string {
  const name = isIP(host) === 6 ? `[${host}]` : asciiOf(host)
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`
}

interface NamedAddress {
  readonly host: string
  readonly port: number
  /** See UpstreamTarget. */
  readonly namedBy?: UpstreamTarget['namedBy']
}

type Address = (NamedAddress & { readonly name?: string }) | { readonly unixPath: string }

interface TargetFacts {
  readonly policies: ConnectionPolicies
  readonly secret: SecretLookup
  readonly version: Pick<UpstreamTarget, 'httpVersion' | 'negotiates'>
  readonly connections: ConnectionDefaults
}

function targetOf(address: Address, { policies, secret, version, connections }: TargetFacts): UpstreamTarget {
  const isUnix = 'unixPath' in address
  const host = isUnix ? '' : address.host
  const port = isUnix ? 0 : address.port
  const namedBy = isUnix ? undefined : address.namedBy
  const { connectTimeoutMs, keepalive } = tcpOf(policies, connections)
  const tls = tlsOf(policies, isUnix ? undefined : (address.name ?? address.host), secret)
  return {
    key: `${isUnix ? `unix:${address.unixPath}` : `${host}:${port}`}|${connectTimeoutMs}|${tlsKey(tls)}${versionKey(version.httpVersion)}${keepaliveKey(keepalive)}${namedBy === undefined ? '' : `|${namedBy}`}`,
    host,
    port,
    unixPath: isUnix ? address.unixPath : undefined,
    tls,
    ...version,
    connectTimeoutMs,
    keepalive,
    namedBy,
  }
}

function tcpOf({ tcp }: ConnectionPolicies, defaults: ConnectionDefaults) {
  const { connectTimeoutMs = defaults.connectTimeoutMs, keepalive } = tcp ?? {}
  return { connectTimeoutMs, keepalive: probesOf(keepalive, defaults.keepalive) }
}

function versionKey(version: UpstreamTarget['httpVersion']): string {
  return version === undefined ? '' : `|${version}`
}

function keepaliveKey({ enabled, timeMs, intervalMs, retries }: Probes): string {
  return enabled ? `|${timeMs}/${intervalMs}/${retries}` : '|no probes'
}

function tlsOf({ tls }: ConnectionPolicies, name: string | undefined, secret: SecretLookup): UpstreamTls | undefined {
  if (tls === undefined) return undefined
  // An IP address is not a valid SNI (RFC 6066 section 3).
  const servername = tls.sni ?? (name === undefined || isIP(name) !== 0 ? undefined : serverNameOf(name))
  return {
    servername,
    caCertificates: tls.caCertificates,
    insecureSkipVerify: tls.insecureSkipVerify,
    alpnProtocols: tls.alpnProtocols,
    // A required certificate that is missing: TLS rejects the empty text, so calls fail.
    ...(tls.clientCertificate !== undefined && { clientCertificate: secret(tls.clientCertificate) ?? '' }),
    ...(tls.clientKey !== undefined && { clientKey: secret(tls.clientKey) ?? '' }),
    ...(tls.verifySubjectAltNames !== undefined && { verifySubjectAltNames: tls.verifySubjectAltNames }),
    ...(tls.keyExchangeGroups !== undefined && { keyExchangeGroups: tls.keyExchangeGroups }),
  }
}

function tlsKey(tls: UpstreamTls | undefined): string {
  return tls === undefined ? 'plain' : createHash('sha256').update(JSON.stringify(tls)).digest('base64url')
}
