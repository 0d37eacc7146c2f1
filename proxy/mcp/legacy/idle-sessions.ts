// Sessions that clients left without ending them: the worker that opened one ends it at the servers when no worker of
// the process has used it for a while. A client that returns later gets new sessions at the servers (healing.ts).
import { BroadcastChannel } from 'node:worker_threads'

/** Of one worker; the oldest is forgotten, and its servers end it. */
const SESSIONS_MAX = 16_384
/** Data-plane supplement section 4.3. */
const REAP_MS = 30_000
/** Shares of the time after which a session is idle: for checks, and between notes to other workers. */
const CHECKS = 4
/** Ended at once. */
const ENDING_MAX = 32
const CHANNEL = 'gw-mcp-used-sessions'

interface Entry {
  readonly ttlMs: number
  /** undefined: another worker opened the session, or another replica. */
  end: (() => Promise<void>) | undefined
  usedMs: number
  /** The last note to the other workers. */
  sharedMs: number
  /** Streams. */
  holds: number
}

export class IdleSessions {
  readonly #sessions = new Map<string, Entry>()
  #channel: BroadcastChannel | undefined = undefined
  #isChecked = false
  #isReaping = false

  /** This worker has opened sessions at servers. `id`: digest of the id. `end`: ends all of them; must not throw. */
  opened(id: string, ttlMs: number, end: () => Promise<void>): void {
    this.#used(id, ttlMs).end = end
  }

  /** A client uses the session. */
  use(id: string, ttlMs: number): void {
    this.#used(id, ttlMs)
  }

  /** A session in use stays so until the function is called. */
  hold(id: string, ttlMs: number): () => void {
    const entry = this.#sessions.get(id) ?? this.#used(id, ttlMs)
    entry.holds++
    return () => {
      entry.holds--
      entry.usedMs = performance.now()
    }
  }

  forget(id: string): void {
    this.#sessions.delete(id)
  }

  #used(id: string, ttlMs: number): Entry {
    const now = performance.now()
    let entry = this.#sessions.get(id)
    if (entry === undefined) {
      entry = { ttlMs, end: undefined, usedMs: now, sharedMs: -Infinity, holds: 0 }
      this.#add(id, entry)
    }
    entry.usedMs = now
    if (now - entry.sharedMs > ttlMs / CHECKS) {
      entry.sharedMs = now
      this.#open().postMessage(id)
    }
    return entry
  }

  #add(id: string, entry: Entry): void {
    this.#sessions.set(id, entry)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > SESSIONS_MAX && oldest !== undefined) this.#sessions.delete(oldest)
    this.#open()
    if (this.#isChecked) return
    this.#isChecked = true
    setInterval(() => void this.#reap(), Math.min(REAP_MS, entry.ttlMs / CHECKS)).unref()
  }

  async #reap(): Promise<void> {
    if (this.#isReaping) return
    this.#isReaping = true
    const idle: (() => Promise<void>)[] = []
    const now = performance.now()
    for (const [id, { ttlMs, holds, usedMs, end }] of this.#sessions) {
      if (holds > 0) this.#used(id, ttlMs)
      else if (now - usedMs > ttlMs) {
        this.#sessions.delete(id)
        if (end !== undefined) idle.push(end)
      }
    }
    for (let i = 0; i < idle.length; i += ENDING_MAX) {
      await Promise.all(idle.slice(i, i + ENDING_MAX).map((end) => end()))
    }
    this.#isReaping = false
  }

  /** Does not keep a worker alive. */
  #open(): BroadcastChannel {
    if (this.#channel !== undefined) return this.#channel
    this.#channel = new BroadcastChannel(CHANNEL)
    this.#channel.unref()
    this.#channel.onmessage = ({ data }: { readonly data: unknown }) => {
      const entry = this.#sessions.get(String(data))
      if (entry !== undefined) entry.usedMs = performance.now()
    }
    return this.#channel
  }
}
