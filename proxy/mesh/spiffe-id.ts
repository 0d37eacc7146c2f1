// Names of workloads in a mesh: SPIFFE ids in the form that Kubernetes meshes use. Checks them before they are used in
// certificates.
import type { PeerIdentity } from '../socket/peer.ts'

/** SPIFFE ID, section 2.1: lower-case letters, digits, dots, dashes and underscores. */
const TRUST_DOMAIN = /^[a-z0-9._-]{1,253}$/
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

export function isTrustDomain(text: string): boolean {
  return TRUST_DOMAIN.test(text)
}

/** @throws {Error} for names that cannot be part of an id. */
export function spiffeIdOf({ trustDomain, namespace, serviceAccount }: PeerIdentity): string {
  if (!isTrustDomain(trustDomain)) throw new Error('the trust domain is invalid')
  if (!NAME.test(namespace)) throw new Error('the namespace is invalid')
  if (!NAME.test(serviceAccount)) throw new Error('the name of the service account is invalid')
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`
}
