// When the certificates of a rendered configuration begin and end to be valid, and what that means at a moment. Has no
// clock. Never throws for an invalid certificate: the code that uses it reports that.
import { X509Certificate } from 'node:crypto'
import type { BackendPayload, BackendTLS, ListenerTLS, RenderedConfig, RenderedSecrets } from '../ir/types.gen.ts'

export type CertificateUse =
  /** Shown to clients. */
  | 'server'
  /** Signs what is shown to clients. */
  | 'signer'
  /** Shown to backends. */
  | 'client'
  /** CA certificates that verify certificates of clients. */
  | 'client_authorities'
  | 'backend_authorities'

export interface UsedCertificate {
  readonly use: CertificateUse
  /** Key of the listener, policy, route or backend that uses it. */
  readonly owner: string
  /** Key of its secret; absent for authorities. */
  readonly secret?: string
  /** A certificate and those above it, or authorities of which each is as good as another one. */
  readonly periods: readonly Period[]
}

export interface Period {
  readonly fromMs: number
  readonly untilMs: number
}

export type CertificateState = 'valid' | 'expiring' | 'expired' | 'notYetValid'

/** Automatic renewal usually happens when a third of the time is left. */
const EXPIRING_SHARE = 1 / 4
const EXPIRING_MS_MAX = 30 * 24 * 3_600_000
/** Of one text; bundles of systems have about 150. */
const CERTIFICATES_MAX = 1000
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Reads each text once, from one configuration to the next. */
export class CertificateReader {
  #known = new Map<string, readonly Period[]>()

  /** Each use of a secret, and all authorities of a use, once for each owner. */
  read(config: RenderedConfig, { secrets }: RenderedSecrets): UsedCertificate[] {
    const values = new Map(secrets.map(({ key, value }) => [key, value]))
    const known = new Map<string, readonly Period[]>()
    const used = new Map<string, UsedCertificate>()
    for (const { use, owner, secret, pem = secret && values.get(secret) } of usesOf(config)) {
      if (pem === undefined) continue
      const own = this.#known.get(pem) ?? known.get(pem) ?? periodsOf(pem)
      known.set(pem, own)
      const id = `${use} ${owner} ${secret ?? ''}`
      const periods = [...(used.get(id)?.periods ?? []), ...own]
      if (periods.length > 0) used.set(id, { use, owner, ...(secret !== undefined && { secret }), periods })
    }
    this.#known = known
    return [...used.values()]
  }
}

/** Of a chain, when all of it is valid. Of authorities, the next one to end, as another one may be there in time. */
export function periodAt({ use, periods }: UsedCertificate, nowMs: number): Period {
  if (!isBundle(use)) return { fromMs: max(periods, 'fromMs'), untilMs: min(periods, 'untilMs') }
  const valid = periods.filter(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs)
  const [next] = valid.toSorted((a, b) => a.untilMs - b.untilMs)
  if (next !== undefined) return next
  const coming = periods.filter(({ untilMs }) => nowMs < untilMs).toSorted((a, b) => a.fromMs - b.fromMs)
  return coming[0] ?? { fromMs: min(periods, 'fromMs'), untilMs: max(periods, 'untilMs') }
}

export function stateAt({ fromMs, untilMs }: Period, nowMs: number): CertificateState {
  if (nowMs >= untilMs) return 'expired'
  if (nowMs < fromMs) return 'notYetValid'
  const leadMs = Math.min((untilMs - fromMs) * EXPIRING_SHARE, EXPIRING_MS_MAX)
  return untilMs - nowMs < leadMs ? 'expiring' : 'valid'
}

interface Use extends Omit<UsedCertificate, 'periods'> {
  /** Where there is no secret. */
  readonly pem?: string
}

function* usesOf({ listeners, policies, routes, backends }: RenderedConfig): Generator<Use, void, undefined> {
  for (const { key, tls } of listeners) if (tls !== undefined) yield* towardsClients(key, tls)
  for (const { key, policy } of policies) yield* towardsBackends(key, policy.backend)
  for (const { key, backends: refs } of routes) {
    for (const { inlinePolicies } of refs) yield* towardsBackends(key, inlinePolicies)
  }
  for (const { key, inlinePolicies, ai } of backends) {
    yield* towardsBackends(key, inlinePolicies)
    const providers = ai?.groups.flatMap((group) => group.providers) ?? []
    for (const provider of providers) yield* towardsBackends(key, provider.inlinePolicies)
  }
}

function* towardsClients(owner: string, tls: ListenerTLS): Generator<Use, void, undefined> {
  const { signsCertificates = false, moreCertificates = [], clientCertificates } = tls
  const use = signsCertificates ? 'signer' : 'server'
  for (const { certificate } of [tls, ...moreCertificates]) {
    if (certificate !== undefined) yield { use, owner, secret: certificate.secret }
  }
  if (clientCertificates !== undefined) {
    yield { use: 'client_authorities', owner, pem: clientCertificates.caCertificates }
  }
}

function* towardsBackends(owner: string, payload: BackendPayload | undefined): Generator<Use, void, undefined> {
  const tls: BackendTLS | undefined = payload?.tls
  if (tls?.clientCertificate !== undefined) yield { use: 'client', owner, secret: tls.clientCertificate.secret }
  if (tls?.caCertificates !== undefined) yield { use: 'backend_authorities', owner, pem: tls.caCertificates }
}

function isBundle(use: CertificateUse): boolean {
  return use === 'client_authorities' || use === 'backend_authorities'
}

function periodsOf(pem: string): Period[] {
  return (pem.match(PEM) ?? []).slice(0, CERTIFICATES_MAX).flatMap((one) => {
    const period = periodOf(one)
    return period === undefined ? [] : [period]
  })
}

function periodOf(pem: string): Period | undefined {
  try {
    const { validFromDate, validToDate } = new X509Certificate(pem)
    const period = { fromMs: validFromDate.getTime(), untilMs: validToDate.getTime() }
    return Number.isFinite(period.fromMs) && Number.isFinite(period.untilMs) ? period : undefined
  } catch {
    // Not a certificate; the code that uses it reports that.
    return undefined
  }
}

function min(periods: readonly Period[], field: keyof Period): number {
  return periods.reduce((least, period) => Math.min(least, period[field]), Infinity)
}

function max(periods: readonly Period[], field: keyof Period): number {
  return periods.reduce((most, period) => Math.max(most, period[field]), -Infinity)
}
