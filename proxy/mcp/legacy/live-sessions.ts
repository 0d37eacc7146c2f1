// What this process learned about sessions since their ids were sealed: server sessions that were opened again, and
// sessions that clients ended. Shared by its workers, never an authority: all of it can be lost at any time.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { BroadcastChannel } from 'node:worker_threads'
import { isRecord } from '#api/json.ts'
import type { TargetSession } from '../targets/target.ts'
import { type Known, mayBeOpen, type Reopened, withReopened } from './reopened.ts'

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
/** After the end of a session, for messages of other workers that opened a session at a server meanwhile. */
const LATE_MS = 10_000
/** Smaller than the claims of workers that have not begun. */
const BEGUN = ''

interface Opening {
  /** The id at the server that the server no longer has; undefined: it may have it. */
  readonly gone: string | undefined
  readonly open: () => Promise<Reopened>
}

type EndOne = (session: TargetSession) => Promise<void>

interface Attempts {
  readonly failures: number
  readonly notBeforeMs: number
}

type Shared =
  | { readonly kind: 'claim'; readonly key: string; readonly claim: string }
  | { readonly kind: 'withdrawn'; readonly key: string; readonly claim: string }
  | { readonly kind: 'reopened'; readonly key: string; readonly id: string; readonly reopened: Known }
  | { readonly kind: 'ended'; readonly id: string }

interface Rival {
  claim: string
  readonly outcome: PromiseWithResolvers<Reopened | undefined>
}

export class LiveSessions {
  readonly #name: string
  /** The first is in use. */
  readonly #reopened = new Map<string, readonly Known[]>()
  readonly #attempts = new Map<string, Attempts>()
  readonly #opening = new Map<string, Promise<Reopened>>()
  /** Of this worker. */
  readonly #claims = new Map<string, string>()
  /** The smallest claim of other workers, and who waits for its outcome. */
  readonly #rivals = new Map<string, Rival>()
  readonly #ended = new Set<string>()
  /** For sessions at servers that other workers report after the end of the client's session. */
  readonly #late = new Map<string, EndOne>()
  readonly #watchers = new Map<string, Set<() => void>>()
  #channel: BroadcastChannel | undefined = undefined

  constructor(name = CHANNEL) {
    this.#name = name
  }

  /** undefined: that of the id of the session. `id`: digest of the id. */
  current(id: string, target: string): Reopened | undefined {
    this.#open()
    return this.#reopened.size === 0 ? undefined : this.#reopened.get(keyOf(id, target))?.[0]
  }

  /** Calls `changed` when another session at the server is in use, until the returned function is called. */
  watch(id: string, target: string, changed: () => void): () => void {
    const key = keyOf(id, target)
    const watchers = this.#watchers.get(key) ?? new Set()
    this.#watchers.set(key, watchers.add(changed))
    return () => {
      watchers.delete(changed)
      if (watchers.size === 0 && this.#watchers.get(key) === watchers) this.#watchers.delete(key)
    }
  }

  /**
   * Ends all sessions at a server that workers opened for the session of a client, also those that lost against the one
   * of another worker. `sealed`: that of the id of the session.
   */
  async endAll(id: string, target: string, sealed: TargetSession, end: EndOne): Promise<void> {
    const key = keyOf(id, target)
    if (this.#ended.has(id)) {
      keep(this.#late, key, end)
      setTimeout(() => void this.#late.delete(key), LATE_MS).unref()
    }
    await Promise.all(mayBeOpen(sealed, this.#reopened.get(key)).map(end))
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
    const opening = this.#opening.get(key) ?? this.#firstOf(id, key, lost)
    this.#opening.set(key, opening)
    try {
      return await opening
    } finally {
      if (this.#opening.get(key) === opening) this.#opening.delete(key)
    }
  }

  /** One worker of the process opens: that with the smallest claim, or one that has begun. */
  async #firstOf(id: string, key: string, lost: Opening): Promise<Reopened> {
    const claim = randomUUID()
    const before = this.#reopened.get(key)?.[0]
    this.#claims.set(key, claim)
    this.#share({ kind: 'claim', key, claim })
    try {
      await delay(CLAIM_MS)
      const reopened = this.#newerThan(before, key) ?? (await this.#ofRival(key, claim))
      if (reopened !== undefined) return reopened
      this.#claims.set(key, BEGUN)
      this.#share({ kind: 'claim', key, claim: BEGUN })
      return await this.#attempt(id, key, { ...lost, claim, generation: (before?.generation ?? 0) + 1 })
    } finally {
      this.#share({ kind: 'withdrawn', key, claim: this.#claims.get(key) ?? claim })
      this.#claims.delete(key)
    }
  }

  #newerThan(before: Known | undefined, key: string): Known | undefined {
    const known = this.#reopened.get(key)?.[0]
    return known === before ? undefined : known
  }

  /** What a worker with a smaller claim opened; undefined: none of them opened a session in time. */
  async #ofRival(key: string, claim: string): Promise<Reopened | undefined> {
    const rival = this.#rivals.get(key)
    if (rival === undefined || rival.claim > claim) return undefined
    const reopened = await Promise.race([rival.outcome.promise, delay(OUTCOME_MS, undefined, { ref: false })])
    // The worker may have ended.
    if (reopened === undefined && this.#rivals.get(key) === rival) this.#rivals.delete(key)
    return reopened
  }

  async #attempt(
    id: string,
    key: string,
    { gone, open, claim, generation }: Opening & Pick<Known, 'claim' | 'generation'>,
  ): Promise<Reopened> {
    const failures = this.#attempts.get(key)?.failures ?? 0
    try {
      const reopened = { ...(await open()), gone, claim, generation }
      this.#attempts.delete(key)
      this.#share({ kind: 'reopened', key, id, reopened })
      return this.#note(key, reopened)
    } catch (error) {
      const waitMs = Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX)
      keep(this.#attempts, key, { failures: failures + 1, notBeforeMs: performance.now() + waitMs })
      throw error
    }
  }

  /** Returns the used one. */
  #note(key: string, reopened: Known): Known {
    const before = this.#reopened.get(key)
    const known = withReopened(before, reopened)
    keep(this.#reopened, key, known)
    const used = known[0] ?? reopened
    if (used !== before?.[0]) for (const changed of this.#watchers.get(key) ?? []) changed()
    return used
  }

  #noteEnded(id: string): void {
    this.#ended.add(id)
    const [oldest] = this.#ended
    if (this.#ended.size > ENDED_MAX && oldest !== undefined) this.#ended.delete(oldest)
  }

  /** The channel does not keep a worker alive. */
  #open(): BroadcastChannel {
    if (this.#channel !== undefined) return this.#channel
    this.#channel = new BroadcastChannel(this.#name)
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
    else if (shared.kind === 'reopened') this.#noteReopened(shared)
    else if (this.#rivals.get(shared.key)?.claim === shared.claim) this.#settle(shared.key, undefined)
  }

  #noteReopened({ id, key, reopened }: Extract<Shared, { readonly kind: 'reopened' }>): void {
    const used = this.#note(key, reopened)
    // The other worker has not got this one's, for example because it has just started.
    if (used.claim !== reopened.claim) this.#share({ kind: 'reopened', key, id, reopened: used })
    this.#settle(key, used)
    if (this.#ended.has(id)) void this.#late.get(key)?.(reopened.session)
  }

  #settle(key: string, outcome: Reopened | undefined): void {
    this.#rivals.get(key)?.outcome.resolve(outcome)
    this.#rivals.delete(key)
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
