// How the workers get the identity of the proxy in the mesh: as secrets beside those of the configuration, under keys
// that no object of a user has. A renewed certificate reaches them as a rotated secret does.
import { createHash } from 'node:crypto'
import type { RenderedSecret, RenderedSecrets, SecretRef } from '#api/ir/types.gen.ts'
import type { MeshCertificate } from './ca-client.ts'

/** Keys of objects begin with a namespace, which has no colon. */
const PREFIX = 'mesh:'
const KEYS = {
  chain: `${PREFIX}certificate`,
  privateKey: `${PREFIX}private-key`,
  roots: `${PREFIX}roots`,
  trustDomains: `${PREFIX}trust-domains`,
  untilMs: `${PREFIX}until`,
} as const

/** What a worker needs for connections from and to workloads. */
export interface MeshIdentity {
  /** PEM, leaf first. */
  readonly chain: string
  /** PEM. */
  readonly privateKey: string
  /** PEM. */
  readonly roots: string
  /** Workloads of these are accepted as peers. */
  readonly trustDomains: readonly string[]
  /** Unix time in milliseconds. */
  readonly untilMs: number
}

/** `certificate` undefined: there is none, and mesh connections fail. */
export function withMeshIdentity(
  secrets: RenderedSecrets,
  certificate: MeshCertificate | undefined,
  trustDomains: readonly string[],
): RenderedSecrets {
  const others = secrets.secrets.filter(({ key }) => !key.startsWith(PREFIX))
  if (certificate === undefined)
    return others.length === secrets.secrets.length ? secrets : { ...secrets, secrets: others }
  const { chain, privateKey, roots, untilMs } = certificate
  const own: Readonly<Record<keyof typeof KEYS, string>> = {
    chain,
    privateKey,
    roots,
    trustDomains: trustDomains.join(),
    untilMs: String(untilMs),
  }
  const added = Object.entries(KEYS).map(([name, key]): RenderedSecret => ({
    key,
    value: own[name as keyof typeof KEYS],
  }))
  return { ...secrets, secrets: [...others, ...added] }
}

/** undefined: there is no certificate of the mesh. */
export function meshIdentity(secret: (ref: SecretRef) => string | undefined): MeshIdentity | undefined {
  const [chain, privateKey, roots, domains, until] = Object.values(KEYS).map((key) => secret({ secret: key }))
  if (chain === undefined || privateKey === undefined || roots === undefined) return undefined
  return { chain, privateKey, roots, trustDomains: domains?.split(',') ?? [], untilMs: Number(until) }
}

const VERSIONS = new WeakMap<MeshIdentity, string>()

/** Another one for another certificate, other roots or trust domains: connections are shared by those with the same. */
export function versionOf(identity: MeshIdentity): string {
  let known = VERSIONS.get(identity)
  if (known === undefined) {
    known = createHash('sha256').update(JSON.stringify(identity)).digest('base64url')
    VERSIONS.set(identity, known)
  }
  return known
}
