// Sessions that clients left without ending them: the worker that opened one ends it at the servers when no worker of
// the process has used it for a while. A client that returns later gets new sessions at the servers (healing.ts).
import { BroadcastChannel } from 'node:worker_threads'
import type { SessionReport } from '../../exchange/open-sessions.ts'
import type { McpSession } from './session-id.ts'
import { type SessionPlace, SessionPlaces } from './session-places.ts'

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
  /** Streams, and requests that wait for a server. */
  holds: number
  readonly place: SessionPlace
  readonly client: string | undefined
  /** Milliseconds since the epoch; undefined: another worker or replica opened the session. */
  openedMs: number | undefined
}

/** A session with the digest of its id. */
export interface UsedSession {
  readonly id: string
  readonly session: Pick<McpSession, 'scope' | 'targets' | 'client'>
}

/** In a report. */
const REPORTED_MAX = 2000
/** Of the name and version that a client sent. */
const CLIENT_CHARACTERS_MAX = 100

export class IdleSessions {
  readonly #sessions = new Map<string, Entry>()
  readonly #places = new SessionPlaces()
  #channel: BroadcastChannel | undefined = undefined
  #isChecked = false
  #isReaping = false

  /** This worker has opened sessions at servers. `end`: ends all of them; must not throw. */
  opened(used: UsedSession, ttlMs: number, end: () => Promise<void>): void {
    const entry = this.#used(used, ttlMs)
    entry.end = end
    entry.openedMs ??= Date.now()
  }

  /** A client uses the session. */
  use(used: UsedSession, ttlMs: number): void {
    this.#used(used, ttlMs)
  }

  /** A session in use stays so until the function is called. */
  hold(used: UsedSession, ttlMs: number): () => void {
    const entry = this.#sessions.get(used.id) ?? this.#used(used, ttlMs)
    entry.holds++
    return () => {
      entry.holds--
      entry.usedMs = performance.now()
    }
  }

  forget(id: string): void {
    this.#sessions.delete(id)
  }

  /** Those used last. `isEnded`: whether a client ended the session at another worker. */
  report(isEnded: (id: string) => boolean): SessionReport {
    const [now, epoch] = [performance.now(), Date.now()]
    const open = [...this.#sessions].filter(([id]) => !isEnded(id))
    const latest = open.sort(([, a], [, b]) => b.usedMs - a.usedMs).slice(0, REPORTED_MAX)
    return {
      total: open.length,
      sessions: latest.map(([id, { place, client, openedMs, usedMs, holds }]) => ({
        id,
        ...place,
        client,
        openedMs,
        usedMs: epoch - (now - usedMs),
        busy: holds,
      })),
    }
  }

  #used({ id, session }: UsedSession, ttlMs: number): Entry {
    let entry = this.#sessions.get(id)
    if (entry === undefined) {
      const place = this.#places.of(session)
      const [client, usedMs] = [shownClient(session), performance.now()]
      entry = { ttlMs, end: undefined, usedMs, sharedMs: -Infinity, holds: 0, place, client, openedMs: undefined }
      this.#add(id, entry)
    }
    this.#touch(id, entry)
    return entry
  }

  #touch(id: string, entry: Entry): void {
    const now = performance.now()
    entry.usedMs = now
    if (now - entry.sharedMs > entry.ttlMs / CHECKS) {
      entry.sharedMs = now
      this.#open().postMessage(id)
    }
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
    for (const [id, entry] of this.#sessions) {
      const { ttlMs, holds, usedMs, end } = entry
      if (holds > 0) this.#touch(id, entry)
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

/** Clients choose both. */
function shownClient({ client }: UsedSession['session']): string | undefined {
  const { name, version } = client?.clientInfo ?? {}
  const parts = [name, version].filter((part) => typeof part === 'string')
  return parts.length === 0 ? undefined : parts.join(' ').slice(0, CLIENT_CHARACTERS_MAX)
}
