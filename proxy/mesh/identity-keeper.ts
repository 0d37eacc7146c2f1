// Keeps the certificate of the proxy in a mesh current, on the main thread: requests it at the start and again before
// half of its time is over, retries with a growing delay, and withdraws it when it ends. Other parts never wait for it.
import { messageOf } from '../exchange/diagnosis.ts'
import type { Logger } from '../log/logger.ts'
import { certificatesOf } from './bundle.ts'
import type { MeshCertificate } from './ca-client.ts'

/** Requests of one certificate, and the roots that hold now. */
export interface CertificateSource {
  /** @throws {Error} with a message for the log. */
  request(signal: AbortSignal): Promise<MeshCertificate>
  /** PEM. @throws {Error} */
  roots(): Promise<string>
}

export interface IdentityKeeperOptions {
  readonly source: CertificateSource
  readonly logger: Logger
  /** undefined: there is no certificate, or it has expired. */
  readonly changed: (certificate: MeshCertificate | undefined) => void
  /** The value of `trouble` may be another one. */
  readonly troubled?: () => void
  /** 0 to 1. */
  readonly random?: () => number
}

/** For config_dump: no secret. */
export interface ShownIdentity {
  readonly state: 'valid' | 'expired' | 'missing'
  readonly spiffeId?: string
  readonly notBefore?: string
  readonly notAfter?: string
  /** Time of the next request. */
  readonly nextRequest?: string
  /** Consecutive failed requests. */
  readonly failures: number
  readonly lastError?: string
}

/**
 * A new certificate is requested when between this share and half of its time is over, from its receipt: certificates
 * of Istio start two minutes in the past, and near the end of their authority these would be most of their time.
 */
const RENEW_SHARE_MIN = 0.4
const RENEW_SHARE_MAX = 0.5
const RETRY_MS_MIN = 1000
const RETRY_MS_MAX = 60_000
const RETRY_DOUBLINGS_MAX = 6
/** Consecutive failures that a status reports: the first ones may be those of a mesh that starts with the proxy. */
const FAILURES_REPORTED_MIN = 3
/** Certificates of a few seconds must not cause a request after the other. */
const RENEW_MS_MIN = 1000
const ROOTS_CHECK_MS = 10_000
/** Timers of Node.js are limited to 24 days, and stand still while the machine sleeps. */
const TIMER_MS_MAX = 3_600_000

export class IdentityKeeper {
  readonly #options: IdentityKeeperOptions
  readonly #random: () => number
  readonly #stopping = new AbortController()
  #certificate: MeshCertificate | undefined = undefined
  #failures = 0
  #requests = { succeeded: 0, failed: 0 }
  #lastError: string | undefined = undefined
  #nextMs: number | undefined = undefined
  #renewal: NodeJS.Timeout | undefined = undefined
  #end: NodeJS.Timeout | undefined = undefined
  #checking: NodeJS.Timeout | undefined = undefined
  #isRequesting = false
  /** The roots changed while a request was under way. */
  #isStale = false
  #isReported = false

  constructor(options: IdentityKeeperOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
  }

  start(): void {
    this.#checking = setInterval(() => void this.#checkRoots(), ROOTS_CHECK_MS).unref()
    void this.#request()
  }

  /** Requests end, and nothing is reported any more. */
  close(): void {
    this.#stopping.abort()
    clearInterval(this.#checking)
    clearTimeout(this.#renewal)
    clearTimeout(this.#end)
  }

  /** undefined: there is none, or it has expired. */
  get certificate(): MeshCertificate | undefined {
    const certificate = this.#certificate
    return certificate !== undefined && Date.now() < certificate.untilMs ? certificate : undefined
  }

  /** Requests since the start. */
  get requests(): { readonly succeeded: number; readonly failed: number } {
    return { ...this.#requests }
  }

  /** For the status of the Gateway; undefined: the certificate is current, or few requests have failed. */
  get trouble(): string | undefined {
    if (this.#failures < FAILURES_REPORTED_MIN) return undefined
    return `${this.#stateText()}; the last request for one failed: ${this.#lastError ?? ''}`
  }

  #stateText(): string {
    if (this.#certificate === undefined) return 'it has no certificate'
    const end = new Date(this.#certificate.untilMs).toISOString()
    return this.certificate === undefined ? `its certificate expired at ${end}` : `its certificate ends at ${end}`
  }

  shown(): ShownIdentity {
    const known = this.#certificate
    return {
      state: this.certificate !== undefined ? 'valid' : known === undefined ? 'missing' : 'expired',
      ...(known && {
        spiffeId: known.spiffeId,
        notBefore: new Date(known.fromMs).toISOString(),
        notAfter: new Date(known.untilMs).toISOString(),
      }),
      ...(this.#nextMs !== undefined && { nextRequest: new Date(this.#nextMs).toISOString() }),
      failures: this.#failures,
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
    }
  }

  async #request(): Promise<void> {
    if (this.#isRequesting) {
      this.#isStale = true
      return
    }
    clearTimeout(this.#renewal)
    this.#isRequesting = true
    this.#isStale = false
    this.#nextMs = undefined
    try {
      const certificate = await this.#options.source.request(this.#stopping.signal)
      if (!this.#isStopped) this.#obtained(certificate)
    } catch (error) {
      if (!this.#isStopped) this.#failed(messageOf(error))
    } finally {
      this.#isRequesting = false
    }
    if (this.#isStale && !this.#isStopped) void this.#request()
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  #obtained(certificate: MeshCertificate): void {
    this.#requests.succeeded++
    this.#failures = 0
    this.#lastError = undefined
    this.#isReported = false
    this.#certificate = certificate
    const { fromMs, untilMs, spiffeId } = certificate
    const share = RENEW_SHARE_MIN + (RENEW_SHARE_MAX - RENEW_SHARE_MIN) * this.#random()
    const startMs = Math.max(fromMs, Date.now())
    this.#requestAt(Math.max(startMs + (untilMs - startMs) * share, Date.now() + RENEW_MS_MIN))
    this.#watchEnd(untilMs)
    const [notAfter, next] = [untilMs, this.#nextMs ?? 0].map((ms) => new Date(ms).toISOString())
    this.#options.logger.info('certificate of the mesh obtained', { id: spiffeId, not_after: notAfter, next })
    this.#options.changed(this.certificate)
    this.#options.troubled?.()
  }

  #failed(message: string): void {
    this.#requests.failed++
    const delayMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(this.#failures, RETRY_DOUBLINGS_MAX))
    this.#failures++
    this.#requestAt(Date.now() + delayMs * (0.5 + this.#random() / 2))
    // One line for each cause: a mesh may be missing for as long as the proxy lives.
    if (message !== this.#lastError) {
      this.#options.logger.warn('no certificate of the mesh; the proxy tries again', { error: message })
    }
    this.#lastError = message
    this.#options.troubled?.()
  }

  #requestAt(atMs: number): void {
    this.#nextMs = atMs
    clearTimeout(this.#renewal)
    this.#renewal = setTimeout(() => {
      if (Date.now() >= atMs) void this.#request()
      else this.#requestAt(atMs)
    }, waitFor(atMs)).unref()
  }

  #watchEnd(untilMs: number): void {
    clearTimeout(this.#end)
    this.#end = setTimeout(() => {
      if (Date.now() < untilMs) this.#watchEnd(untilMs)
      else this.#expired()
    }, waitFor(untilMs)).unref()
  }

  #expired(): void {
    if (!this.#isReported) this.#options.logger.error('the certificate of the mesh has expired; mesh connections fail')
    this.#isReported = true
    this.#options.changed(undefined)
    this.#options.troubled?.()
  }

  /** A root that was removed must not be accepted for as long as the certificate lasts. */
  async #checkRoots(): Promise<void> {
    const known = this.#certificate
    if (known === undefined) return
    try {
      const roots = await this.#options.source.roots()
      if (this.#isStopped || this.#certificate !== known || roots === known.roots) return
      certificatesOf(roots)
      this.#certificate = { ...known, roots }
      this.#options.logger.info('root certificates of the mesh changed')
      this.#options.changed(this.certificate)
      await this.#request()
    } catch (error) {
      this.#lastError = `the root certificates of the mesh cannot be read, the previous ones stay: ${messageOf(error)}`
    }
  }
}

function waitFor(atMs: number): number {
  return Math.min(Math.max(atMs - Date.now(), 0), TIMER_MS_MAX)
}
