// The contexts of a listener whose certificates are signed as they are asked for: one for each server name, kept while
// it is new enough. Bounded: names are what clients make of them.
import tls from 'node:tls'
import { Authority } from './authority.ts'
import type { CertificatePair } from './certificates.ts'

/** Some tens of KiB each; the one that was used last longest ago makes room. */
const NAMES_MAX = 256
/** Close to the end of the authority nothing lasts long. */
const KEPT_MS_MIN = 60_000

interface Known {
  readonly context: tls.SecureContext
  /** Half of its time is over. */
  readonly renewMs: number
}

export class SignedContexts {
  readonly #authority: Authority
  readonly #options: tls.SecureContextOptions
  readonly #known = new Map<string, Known>()

  /** `options` but the certificate. @throws {Error} when the pair is not that of an authority. */
  constructor(pair: CertificatePair, options: tls.SecureContextOptions) {
    this.#authority = new Authority(pair)
    this.#options = options
  }

  get size(): number {
    return this.#known.size
  }

  /** @throws {Error} when no certificate can be signed for the name. */
  for(serverName: string | undefined, nowMs = Date.now()): tls.SecureContext {
    if (serverName === undefined) throw new Error('client sent no server name to sign a certificate for')
    const name = serverName.toLowerCase()
    const known = this.#known.get(name)
    this.#known.delete(name)
    const kept = known !== undefined && nowMs < known.renewMs ? known : this.#made(name, nowMs)
    this.#known.set(name, kept)
    const [oldest] = this.#known.keys()
    if (this.#known.size > NAMES_MAX && oldest !== undefined) this.#known.delete(oldest)
    return kept.context
  }

  #made(name: string, nowMs: number): Known {
    const { certificate, privateKey, untilMs } = this.#authority.sign(name, nowMs)
    const context = tls.createSecureContext({ ...this.#options, cert: certificate, key: privateKey })
    return { context, renewMs: nowMs + Math.max((untilMs - nowMs) / 2, KEPT_MS_MIN) }
  }
}
