// Where the proxy gets its certificate of the mesh, and as whom: variables of its pod (resources supplement, sections
// 2.12 and 4.15). An invalid value never keeps the proxy from starting: it has no identity, and reports why.
import { ANY_TRUST_DOMAIN } from '../socket/peer.ts'
import { isTrustDomain } from './spiffe-id.ts'

export interface MeshSettings {
  /** The authority; undefined: its address is invalid. */
  readonly ca: { readonly host: string; readonly port: number } | undefined
  /** Domain of the proxy's own identity; peers of this domain are always accepted. Default `cluster.local`. */
  readonly trustDomain: string
  /** Domains of further peers that are accepted. */
  readonly additionalTrustDomains: readonly string[]
  /** Peers of every trust domain are accepted, if an authority of the mesh signed their certificate. */
  readonly acceptsAnyTrustDomain?: boolean
  readonly namespace: string
  readonly serviceAccount: string
  /** Sent with each request for a certificate; default `Kubernetes`. */
  readonly clusterId: string
  /** Port of tunnels to workloads; always 15008 but in tests (data-plane supplement, section 5.3). */
  readonly tunnelPort: number
  /** File with the service-account token for the audience `istio-ca`. */
  readonly tokenFile: string
  /** File with the root certificates of the mesh, PEM. */
  readonly rootFile: string
}

export const INVALID_CA = 'CA_ADDRESS must be https://host or https://host:port'

const TOKEN_FILE = '/var/run/secrets/tokens/istio-token'
const ROOT_FILE = '/var/run/secrets/istio/root-cert.pem'
const CA_PORT = 15_012
const TUNNEL_PORT = 15_008
/** Without `https` only for `host:port`: a token is never sent in clear text. */
const CA_ADDRESS = /^(?:https:\/\/)?(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?\/?$/
/** Trust domains of GwParameters, with room for the own. */
const TRUST_DOMAINS_MAX = 128

/** undefined: the proxy is not part of a mesh (`CA_ADDRESS` is not set). */
export function meshEnvironment(get: (name: string) => string | undefined): MeshSettings | undefined {
  const address = get('CA_ADDRESS')
  if (address === undefined) return undefined
  const further = get('ADDITIONAL_TRUST_DOMAINS')?.split(/[\s,]+/) ?? []
  return {
    ca: authorityOf(address),
    trustDomain: get('TRUST_DOMAIN') ?? 'cluster.local',
    additionalTrustDomains: further.filter(isTrustDomain).slice(0, TRUST_DOMAINS_MAX),
    acceptsAnyTrustDomain: ['true', '1'].includes(get('SKIP_VALIDATE_TRUST_DOMAIN') ?? ''),
    namespace: get('POD_NAMESPACE') ?? get('NAMESPACE') ?? '',
    serviceAccount: get('SERVICE_ACCOUNT') ?? '',
    clusterId: get('CLUSTER_ID') ?? 'Kubernetes',
    tunnelPort: TUNNEL_PORT,
    tokenFile: get('CA_AUTH_TOKEN') ?? TOKEN_FILE,
    rootFile: get('CA_ROOT_CA') ?? ROOT_FILE,
  }
}

/** undefined: the text is no address of an authority. */
export function authorityOf(address: string): MeshSettings['ca'] {
  const parts = CA_ADDRESS.exec(address)
  const host = parts?.[1] ?? parts?.[2]
  const port = Number(parts?.[3] ?? CA_PORT)
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port }
}

/** Trust domains whose workloads are accepted as peers. */
export function acceptedTrustDomains(settings: MeshSettings): readonly string[] {
  const { trustDomain, additionalTrustDomains, acceptsAnyTrustDomain = false } = settings
  const any = acceptsAnyTrustDomain ? [ANY_TRUST_DOMAIN] : []
  // An invalid own one must not be the name for all of them.
  const own = isTrustDomain(trustDomain) ? trustDomain : ''
  return [...new Set([own, ...additionalTrustDomains, ...any])]
}
