// Tokens of all workers, on the main thread: one worker fetches for a key, the others get what it fetched.
import { BoundedCache } from '../auth/bounded-cache.ts'
import type { Token, TokenError } from './token.ts'

const TOKENS_MAX = 16_384
/** Longer than a fetch may take (token-store.ts): a worker that does not answer by then does not respond at all. */
export const LEASE_MS_MAX = 12_000

/** `Fetch`: the worker that gets it fetches the token and reports the outcome. */
export type TokenAnswer = 'Fetch' | TokenOutcome

export type TokenOutcome =
  | { readonly token: Token<unknown> }
  | { readonly reason: TokenError['reason']; readonly message: string }

export type TokenMessage =
  /** `afterMs`: only a token that ends later is of use. Answered once, with TokenReply. */
  | { readonly type: 'tokenClaimed'; readonly key: string; readonly afterMs: number }
  | { readonly type: 'tokenFetched'; readonly key: string; readonly outcome: TokenOutcome }

export interface TokenReply {
  readonly type: 'token'
  readonly key: string
  readonly answer: TokenAnswer
}

/** A worker, as far as it shares tokens. */
export interface TokenPeer {
  post(message: TokenReply): void
}

interface Lease {
  readonly holder: TokenPeer
  readonly waiting: readonly TokenPeer[]
  readonly timer: NodeJS.Timeout
}

export class SharedTokens {
  readonly #tokens = new BoundedCache<Token<unknown>>({ entriesMax: TOKENS_MAX, weightMax: TOKENS_MAX })
  /** At most as many as the workers fetch at a time. */
  readonly #leases = new Map<string, Lease>()

  receive(peer: TokenPeer, message: TokenMessage): void {
    if (message.type === 'tokenClaimed') this.#claimed(peer, message.key, message.afterMs)
    else this.#fetched(peer, message.key, message.outcome)
  }

  /** The worker is gone: others fetch what it was about to. */
  left(peer: TokenPeer): void {
    for (const [key, lease] of this.#leases) {
      const waiting = lease.waiting.filter((each) => each !== peer)
      if (lease.holder === peer) this.#passOn(key, { ...lease, waiting })
      else this.#leases.set(key, { ...lease, waiting })
    }
  }

  #claimed(peer: TokenPeer, key: string, afterMs: number): void {
    const token = this.#tokens.get(key)
    const lease = this.#leases.get(key)
    if (token !== undefined && token.expiresMs > afterMs) answer(peer, key, { token })
    else if (lease === undefined) this.#grant(key, peer, [])
    else this.#leases.set(key, { ...lease, waiting: [...lease.waiting, peer] })
  }

  #fetched(peer: TokenPeer, key: string, outcome: TokenOutcome): void {
    const lease = this.#leases.get(key)
    if (lease?.holder !== peer) return
    clearTimeout(lease.timer)
    this.#leases.delete(key)
    if ('token' in outcome) this.#tokens.set(key, outcome.token)
    for (const each of lease.waiting) answer(each, key, outcome)
  }

  #grant(key: string, holder: TokenPeer, waiting: readonly TokenPeer[]): void {
    const onEnd = (): void => {
      const lease = this.#leases.get(key)
      if (lease !== undefined) this.#passOn(key, lease)
    }
    this.#leases.set(key, { holder, waiting, timer: setTimeout(onEnd, LEASE_MS_MAX).unref() })
    answer(holder, key, 'Fetch')
  }

  #passOn(key: string, { timer, waiting }: Lease): void {
    clearTimeout(timer)
    this.#leases.delete(key)
    const [next, ...others] = waiting
    if (next !== undefined) this.#grant(key, next, others)
  }
}

function answer(peer: TokenPeer, key: string, given: TokenAnswer): void {
  peer.post({ type: 'token', key, answer: given })
}
