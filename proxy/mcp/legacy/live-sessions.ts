// What this process learned about sessions since their ids were sealed: server sessions that were opened again, and
// sessions that clients ended. Shared by its workers, never an authority: all of it can be lost at any time.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { BroadcastChannel } from 'node:worker_threads'
import { isRecord } from '#api/json.ts'
import type { TargetSession } from '../targets/target.ts'

/** Server sessions that were opened again; the oldest is forgotten. */
const REOPENED_MAX = 16_384
const ENDED_MAX = 16_384
/** Between attempts to reach a server that is down, for one session. */
const RETRY_MS = 1000
const RETRY_MS_MAX = 60_000
const CHANNEL = 'gw-mcp-sessions'
/** For the claims of other workers to arrive. */
const CLAIM_MS = 100
/** For the outcome in another worker; then this one tries. */
const OUTCOME_MS = 10_000
/** Smaller than the claims of workers that have not begun. */
const BEGUN = ''

export interface Reopened {
  readonly session: TargetSession
  /** Kinds of items whose lists the client may have. */
  readonly lists: readonly string[]
}

/** As workers share it. */
interface Known extends Reopened {
  /** The session at the server that was lost. */
  readonly replaces: string | undefined
  /** Of the worker that opened it. */
  readonly claim: string
}

interface Opening {
  readonly replaces: string | undefined
  readonly open: () => Promise<Reopened>
}

interface Attempts {
  readonly failures: number
  readonly notBeforeMs: number
}

type Shared =
  | { readonly kind: 'claim'; readonly key: string; readonly claim: string }
  | { readonly kind: 'failed'; readonly key: string }
  | { readonly kind: 'reopened'; readonly key: string; readonly reopened: Known }
  | { readonly kind: 'ended'; readonly id: string }

interface Rival {
  claim: string
  readonly outcome: PromiseWithResolvers<Reopened | undefined>
}

export class LiveSessions {
  readonly #reopened = new Map<string, Known>()
  readonly #attempts = new Map<string, Attempts>()
  readonly #opening = new Map<string, Promise<Reopened>>()
  /** Of this worker. */
  readonly #claims = new Map<string, string>()
  /** The smallest claim of other workers, and who waits for its outcome. */
  readonly #rivals = new Map<string, Rival>()
  readonly #ended = new Set<string>()
  #channel: BroadcastChannel | undefined = undefined

  /** undefined: that of the id of the session. `id`: digest of the id. */
  current(id: string, target: string): Reopened | undefined {
    this.#open()
    return this.#reopened.size === 0 ? undefined : this.#reopened.get(keyOf(id, target))
  }

  isEnded(id: string): boolean {
    this.#open()
    return this.#ended.has(id)
  }

  end(id: string): void {
    this.#noteEnded(id)
    this.#share({ kind: 'ended', id })
  }

  /** Whether a server that could not be reached may be tried again. */
  isDue(id: string, target: string, nowMs: number): boolean {
    return nowMs >= (this.#attempts.get(keyOf(id, target))?.notBeforeMs ?? 0)
  }

  /** One attempt at a time for each session and target: further callers wait for its outcome. */
  async reopen(id: string, target: string, lost: Opening): Promise<Reopened> {
    const key = keyOf(id, target)
    const opening = this.#opening.get(key) ?? this.#firstOf(key, lost)
    this.#opening.set(key, opening)
    try {
      return await opening
    } finally {
      if (this.#opening.get(key) === opening) this.#opening.delete(key)
    }
  }

  /** One worker of the process opens: that with the smallest claim, or one that has begun. */
  async #firstOf(key: string, lost: Opening): Promise<Reopened> {
    const claim = randomUUID()
    const before = this.#reopened.get(key)
    this.#claims.set(key, claim)
    this.#share({ kind: 'claim', key, claim })
    try {
      await delay(CLAIM_MS)
      const meanwhile = this.#reopened.get(key)
      if (meanwhile !== undefined && meanwhile !== before) return meanwhile
      const rival = this.#rivals.get(key)
      if (rival !== undefined && rival.claim < claim) {
        const outcome = await Promise.race([rival.outcome.promise, delay(OUTCOME_MS, undefined, { ref: false })])
        if (outcome !== undefined) return outcome
      }
      this.#claims.set(key, BEGUN)
      this.#share({ kind: 'claim', key, claim: BEGUN })
      return await this.#attempt(key, claim, lost)
    } finally {
      this.#claims.delete(key)
    }
  }

  async #attempt(key: string, claim: string, { replaces, open }: Opening): Promise<Reopened> {
    const failures = this.#attempts.get(key)?.failures ?? 0
    try {
      const reopened = { ...(await open()), replaces, claim }
      this.#attempts.delete(key)
      this.#share({ kind: 'reopened', key, reopened })
      return this.#note(key, reopened)
    } catch (error) {
      const waitMs = Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX)
      this.#share({ kind: 'failed', key })
      keep(this.#attempts, key, { failures: failures + 1, notBeforeMs: performance.now() + waitMs })
      throw error
    }
  }

  /** Of two sessions that workers opened at the same time, all use that of the smaller claim. Returns the used one. */
  #note(key: string, reopened: Known): Known {
    const known = this.#reopened.get(key)
    if (known !== undefined && known.replaces === reopened.replaces && known.claim < reopened.claim) return known
    keep(this.#reopened, key, reopened)
    return reopened
  }

  #noteEnded(id: string): void {
    this.#ended.add(id)
    const [oldest] = this.#ended
    if (this.#ended.size > ENDED_MAX && oldest !== undefined) this.#ended.delete(oldest)
  }

  /** The channel does not keep a worker alive. */
  #open(): BroadcastChannel {
    if (this.#channel !== undefined) return this.#channel
    this.#channel = new BroadcastChannel(CHANNEL)
    this.#channel.unref()
    this.#channel.onmessage = ({ data }: { readonly data: unknown }) => {
      if (!isRecord(data)) return
      // Only this class posts to the channel.
      this.#receive(data as Shared)
    }
    return this.#channel
  }

  #share(shared: Shared): void {
    this.#open().postMessage(shared)
  }

  #receive(shared: Shared): void {
    if (shared.kind === 'ended') this.#noteEnded(shared.id)
    else if (shared.kind === 'claim') this.#noteRival(shared.key, shared.claim)
    else {
      const reopened = shared.kind === 'reopened' ? shared.reopened : undefined
      if (reopened !== undefined) this.#note(shared.key, reopened)
      this.#rivals.get(shared.key)?.outcome.resolve(reopened)
      this.#rivals.delete(shared.key)
    }
  }

  #noteRival(key: string, claim: string): void {
    const rival = this.#rivals.get(key)
    if (rival === undefined) keep(this.#rivals, key, { claim, outcome: Promise.withResolvers<Reopened | undefined>() })
    else if (claim < rival.claim) rival.claim = claim
    // The other worker asked too late.
    if (claim !== BEGUN && this.#claims.get(key) === BEGUN) this.#share({ kind: 'claim', key, claim: BEGUN })
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > REOPENED_MAX && oldest !== undefined) map.delete(oldest)
}

function keyOf(id: string, target: string): string {
  return `${id}/${target}`
}
