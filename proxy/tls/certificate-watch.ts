// Reports certificates before they expire: the log once for each, metrics and the dump of the configuration always.
// Runs on the main thread; whether a handshake succeeds is not decided here.
import {
  CertificateReader,
  type CertificateState,
  type Period,
  periodAt,
  stateAt,
  type UsedCertificate,
} from '#api/tls/certificate-times.ts'
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { Logger } from '../log/logger.ts'
import type { PlainMetric } from '../metrics/exposed.ts'

/** The soonest to end; more are neither shown nor measured. */
const SHOWN_MAX = 1000
/** Lines at once. */
const LINES_MAX = 20
const CHECK_MS = 60_000
/** Deliveries come in quick succession, and each is active before its certificates are checked. */
const TAKEN_MS = 1000

export interface ShownCertificate {
  readonly use: UsedCertificate['use']
  readonly owner: string
  readonly secret?: string
  readonly notBefore: string
  readonly notAfter: string
  readonly state: CertificateState
}

interface Judged {
  readonly certificate: UsedCertificate
  readonly period: Period
  readonly state: CertificateState
}

const NEWS: { readonly [S in CertificateState]?: readonly ['warn' | 'error', string] } = {
  expiring: ['warn', 'a certificate expires soon'],
  expired: ['error', 'a certificate has expired'],
  notYetValid: ['warn', 'a certificate is not valid yet'],
}

export class CertificateWatch {
  readonly #logger: Logger
  readonly #nowMs: () => number
  readonly #reader = new CertificateReader()
  readonly #checking = setInterval(() => this.check(), CHECK_MS).unref()
  /** Not looked at yet. */
  #taken: readonly [RenderedConfig, RenderedSecrets] | undefined
  #soon: NodeJS.Timeout | undefined
  #used: readonly UsedCertificate[] = []
  /** Reports about certificates in use. */
  #reported: ReadonlySet<string> = new Set()

  constructor(logger: Logger, nowMs: () => number = Date.now) {
    this.#logger = logger
    this.#nowMs = nowMs
  }

  /** The configuration in force; it is checked within a second, or on request. */
  take(config: RenderedConfig, secrets: RenderedSecrets): void {
    this.#taken = [config, secrets]
    this.#soon ??= setTimeout(() => this.check(), TAKEN_MS).unref()
  }

  check(): void {
    clearTimeout(this.#soon)
    this.#soon = undefined
    const reported = new Set<string>()
    let left = LINES_MAX
    let more = 0
    for (const one of this.#all()) {
      const [level, message] = NEWS[one.state] ?? []
      if (level === undefined || message === undefined) continue
      const { state, use, owner, secret, notBefore, notAfter } = shownOf(one)
      const news = `${state} ${use} ${owner} ${secret ?? ''} ${notAfter}`
      reported.add(news)
      if (this.#reported.has(news)) continue
      const time = state === 'notYetValid' ? { not_before: notBefore } : { not_after: notAfter }
      if (left-- > 0) this.#logger.log(level, message, { use, owner, secret, ...time })
      else more++
    }
    if (more > 0) this.#logger.warn('further certificates expire soon, have expired or are not valid yet', { more })
    this.#reported = reported
  }

  /** The soonest to end first. */
  shown(): ShownCertificate[] {
    return this.#all().slice(0, SHOWN_MAX).map(shownOf)
  }

  metrics(): PlainMetric[] {
    return [
      {
        name: 'gw_certificate_expiration_timestamp_seconds',
        help: 'Expiry time of the certificates in use, since the epoch',
        type: 'gauge',
        values: () =>
          this.#all()
            .slice(0, SHOWN_MAX)
            .map(({ certificate: { use, owner, secret = '' }, period: { untilMs } }) => ({
              labels: { use, owner, secret },
              value: untilMs / 1000,
            })),
      },
    ]
  }

  close(): void {
    clearInterval(this.#checking)
    clearTimeout(this.#soon)
  }

  #all(): Judged[] {
    this.#look()
    const nowMs = this.#nowMs()
    return this.#used
      .map((certificate) => {
        const period = periodAt(certificate, nowMs)
        return { certificate, period, state: stateAt(period, nowMs) }
      })
      .sort((a, b) => a.period.untilMs - b.period.untilMs)
  }

  #look(): void {
    if (this.#taken === undefined) return
    this.#used = this.#reader.read(...this.#taken)
    this.#taken = undefined
  }
}

function shownOf({
  certificate: { use, owner, secret },
  period: { fromMs, untilMs },
  state,
}: Judged): ShownCertificate {
  const [notBefore, notAfter] = [new Date(fromMs).toISOString(), new Date(untilMs).toISOString()]
  return { use, owner, ...(secret !== undefined && { secret }), notBefore, notAfter, state }
}
