// Where the proxy gets its certificate of the mesh, and as whom (resources supplement, sections 2.12 and 4.15).

export interface MeshSettings {
  /** The authority: `https` only, a service-account token is sent to it. */
  readonly ca: { readonly host: string; readonly port: number }
  /** Domain of the proxy's own identity; peers of this domain are always accepted. */
  readonly trustDomain: string
  /** Domains of further peers that are accepted. */
  readonly additionalTrustDomains: readonly string[]
  readonly namespace: string
  readonly serviceAccount: string
  /** Sent with each request for a certificate; default `Kubernetes`. */
  readonly clusterId: string
  /** Network of the proxy in the mesh; empty: none. */
  readonly network: string
  /** File with the service-account token for the audience `istio-ca`. */
  readonly tokenFile: string
  /** File with the root certificates of the mesh, PEM. */
  readonly rootFile: string
}

/** Trust domains whose workloads are accepted as peers. */
export function acceptedTrustDomains({ trustDomain, additionalTrustDomains }: MeshSettings): ReadonlySet<string> {
  return new Set([trustDomain, ...additionalTrustDomains])
}
