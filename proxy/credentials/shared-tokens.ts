// Tokens of all workers, on the main thread: one worker fetches for a key, the others get what it fetched.
import { BoundedCache } from '../auth/bounded-cache.ts'
import { INVALIDATION_MS_MIN, sizeOf, type Token, type TokenError } from './token.ts'

const TOKENS_MAX = 16_384
/** Characters of all of them. */
const SIZE_MAX = 64 * 1024 * 1024
/** Added to the time that a fetch may take: a worker that does not answer by then does not respond at all. */
export const LEASE_MS_MORE = 2000

/** `Fetch`: the worker that gets it fetches the token and reports the outcome. */
export type TokenAnswer = 'Fetch' | TokenOutcome

/** `id`: of this token, and of no other. */
export interface SharedToken {
  readonly token: Token<unknown>
  readonly id: string
}

export type TokenOutcome = SharedToken | { readonly reason: TokenError['reason']; readonly message: string }

export type TokenMessage =
  /** Answered once, with TokenReply. */
  | ({ readonly type: 'tokenClaimed'; readonly key: string } & WantedToken)
  | { readonly type: 'tokenFetched'; readonly key: string; readonly outcome: TokenOutcome }
  /** A peer refused the token with this id. All other workers get the same message. */
  | TokenRefused

export interface WantedToken {
  /** The id of a token that is of no use. */
  readonly otherThan: string | undefined
  /** Only a token that ends later is of use. Unix time in milliseconds. */
  readonly afterMs: number
  /** How long a fetch may take, in milliseconds. */
  readonly fetchMs: number
}

export interface TokenRefused {
  readonly type: 'tokenRefused'
  readonly key: string
  readonly id: string
}

export interface TokenReply {
  readonly type: 'token'
  readonly key: string
  readonly answer: TokenAnswer
}

/** A worker, as far as it shares tokens. */
export interface TokenPeer {
  post(message: TokenReply | TokenRefused): void
}

interface Lease {
  readonly holder: TokenPeer
  readonly waiting: readonly TokenPeer[]
  /** Of the fetch, in milliseconds. */
  readonly fetchMs: number
  readonly timer: NodeJS.Timeout
}

export class SharedTokens {
  readonly #tokens = new BoundedCache<SharedToken>({ entriesMax: TOKENS_MAX, weightMax: SIZE_MAX })
  /** When a token was refused, Unix time in milliseconds. */
  readonly #refusals = new BoundedCache<number>({ entriesMax: TOKENS_MAX, weightMax: TOKENS_MAX })
  /** At most as many as the workers fetch at a time. */
  readonly #leases = new Map<string, Lease>()
  readonly #peers = new Set<TokenPeer>()

  /** A worker that will share tokens. */
  joined(peer: TokenPeer): void {
    this.#peers.add(peer)
  }

  receive(peer: TokenPeer, message: TokenMessage): void {
    if (message.type === 'tokenClaimed') this.#claimed(peer, message.key, message)
    else if (message.type === 'tokenFetched') this.#fetched(peer, message.key, message.outcome)
    else this.#refused(peer, message)
  }

  /** The worker is gone: others fetch what it was about to. */
  left(peer: TokenPeer): void {
    this.#peers.delete(peer)
    for (const [key, lease] of this.#leases) {
      const waiting = lease.waiting.filter((each) => each !== peer)
      if (lease.holder === peer) this.#passOn(key, { ...lease, waiting })
      else this.#leases.set(key, { ...lease, waiting })
    }
  }

  #claimed(peer: TokenPeer, key: string, { otherThan, afterMs, fetchMs }: WantedToken): void {
    const kept = this.#tokens.get(key)
    const lease = this.#leases.get(key)
    // Within the time after a refusal, a worker that did not know of it gets the same token again.
    const isWanted = kept !== undefined && (kept.id !== otherThan || this.#isRefusedLately(key))
    if (isWanted && kept.token.expiresMs > afterMs) answer(peer, key, kept)
    else if (lease === undefined) this.#grant(key, { holder: peer, waiting: [], fetchMs })
    else this.#leases.set(key, { ...lease, waiting: [...lease.waiting, peer] })
  }

  #fetched(peer: TokenPeer, key: string, outcome: TokenOutcome): void {
    const lease = this.#leases.get(key)
    if (lease?.holder !== peer) return
    clearTimeout(lease.timer)
    this.#leases.delete(key)
    if ('token' in outcome) this.#tokens.set(key, outcome, sizeOf(outcome.token))
    for (const each of lease.waiting) answer(each, key, outcome)
  }

  #refused(from: TokenPeer, message: TokenRefused): void {
    const { key, id } = message
    // A newer one is not concerned, and all workers learned of that one already.
    if (this.#tokens.get(key)?.id !== id || this.#isRefusedLately(key)) return
    this.#tokens.delete(key)
    this.#refusals.set(key, Date.now())
    for (const peer of this.#peers) if (peer !== from) peer.post(message)
  }

  #isRefusedLately(key: string): boolean {
    return Date.now() - (this.#refusals.get(key) ?? -Infinity) < INVALIDATION_MS_MIN
  }

  #grant(key: string, { holder, waiting, fetchMs }: Omit<Lease, 'timer'>): void {
    const onEnd = (): void => {
      const lease = this.#leases.get(key)
      if (lease !== undefined) this.#passOn(key, lease)
    }
    this.#leases.set(key, { holder, waiting, fetchMs, timer: setTimeout(onEnd, fetchMs + LEASE_MS_MORE).unref() })
    answer(holder, key, 'Fetch')
  }

  #passOn(key: string, { timer, waiting, fetchMs }: Lease): void {
    clearTimeout(timer)
    this.#leases.delete(key)
    const [next, ...others] = waiting
    if (next !== undefined) this.#grant(key, { holder: next, waiting: others, fetchMs })
  }
}

function answer(peer: TokenPeer, key: string, given: TokenAnswer): void {
  peer.post({ type: 'token', key, answer: given })
}
