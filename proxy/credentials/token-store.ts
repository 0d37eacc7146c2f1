// Keeps fetched credentials of one worker: one fetch for all who ask, refreshed before the end, failures held briefly.
// Never serves a token that has ended.
import { randomUUID } from 'node:crypto'
import { BoundedCache } from '../auth/bounded-cache.ts'
import type { FetchOutcome, TokenObserver } from './token-observer.ts'
import type { TokenShare } from './token-share.ts'
import { INVALIDATION_MS_MIN, sizeOf, type Token, TokenError, type TokenSource, type TokenStore } from './token.ts'
import { untilAborted } from './until-aborted.ts'

/** Of one owner, where its source names no other bound (data-plane supplement section 8.5). */
const ENTRIES_MAX = 8192
/** Characters of the tokens of one owner. */
const SIZE_MAX = 32 * 1024 * 1024
/** Policies and backends whose tokens are kept. */
const OWNERS_MAX = 1024
/** A token is not served in its last seconds: clocks differ, and a request takes time (section 8.5). */
const LAST_MS = 15_000
/** No token is kept longer, whatever its issuer claims. */
const LIFE_MS_MAX = 24 * 3_600_000
/** Refreshed when between one and two fifths of its life are left, but not earlier than twice this before its end. */
const AHEAD_MS_MAX = 300_000
const AHEAD_SHARE = 0.2
/** A fetch may take so long, where its source asks for no more. Sources may have shorter limits. */
const FETCH_MS = 10_000
/** Longest fetch that a source may ask for: waiting requests take memory. */
export const FETCH_MS_MAX = 60_000
const FETCHES_MAX = 1024
/** So that an endpoint that does not answer leaves fetches to others. */
const FETCHES_OF_OWNER_MAX = 512
/** After a failure no request asks again for this time, doubled with each failure in a row. */
const HELD_MS_MIN = 1000
const HELD_MS_MAX = 30_000
const HELD_DOUBLINGS_MAX = 5
/** So many failures in a row of one owner, whatever the key: its endpoint is down. */
const CIRCUIT_FAILURES = 3

export interface TokenClock {
  /** Unix time in milliseconds. */
  now(): number
  /** 0–1. */
  random(): number
  /** Aborts after that time. */
  timeout(ms: number): AbortSignal
}

const SYSTEM_CLOCK: TokenClock = {
  now: () => Date.now(),
  random: () => Math.random(),
  timeout: (ms) => AbortSignal.timeout(ms),
}

interface Fetched {
  readonly token: Token<unknown>
  /** The same in all workers; absent: it is not shared. */
  readonly id?: string
}

interface Failure {
  readonly error: TokenError
  readonly count: number
  readonly untilMs: number
}

interface Entry {
  token: Token<unknown> | undefined
  /** Of the last token, also after a peer refused it: only another one is of use. */
  id: string | undefined
  refreshAtMs: number
  fetching: Promise<Token<unknown>> | undefined
  failure: Failure | undefined
  /** When a peer refused a token, here or in another worker. */
  invalidatedMs: number
}

interface Owner {
  readonly entries: BoundedCache<Entry>
  /** Of its endpoint: consecutive failures to reach it. */
  circuit: Failure | undefined
  /** Its circuit was open, and one fetch tries the endpoint again. */
  isProbed: boolean
  fetches: number
}

export interface TokenStoreOptions {
  readonly clock?: TokenClock
  /** Of the workers; absent: this one is alone. */
  readonly share?: TokenShare
  readonly observer?: TokenObserver
}

/** The source of a fetch, and what it is for. */
interface Needed {
  readonly source: TokenSource<unknown>
  readonly usedBy: string | undefined
}

export class WorkerTokenStore implements TokenStore {
  readonly #owners = new BoundedCache<Owner>({ entriesMax: OWNERS_MAX, weightMax: OWNERS_MAX })
  readonly #clock: TokenClock
  readonly #share: TokenShare | undefined
  readonly #observer: TokenObserver | undefined
  #fetches = 0

  constructor({ clock = SYSTEM_CLOCK, share, observer }: TokenStoreOptions = {}) {
    this.#observer = observer
    this.#clock = clock
    this.#share = share
    share?.onRefused((kind, key, id) => this.#refusedElsewhere(kind, key, id))
  }

  get<T>(source: TokenSource<T>, usedBy?: string): Token<T> | Promise<Token<T>> {
    // What is kept for a key came from a source with that key, so it has its type.
    return this.#get(source, usedBy) as Token<T> | Promise<Token<T>>
  }

  invalidate<T>(source: TokenSource<T>, refused: Token<T>): boolean {
    if (source.entriesMax === 0) return false
    const entry = this.#owner(source).entries.get(source.key)
    if (entry === undefined) return false
    // Refused before, by another request or in another worker.
    if (entry.token !== refused) return true
    const now = this.#clock.now()
    if (now - entry.invalidatedMs < INVALIDATION_MS_MIN) return false
    entry.token = undefined
    entry.invalidatedMs = now
    this.#observer?.refused({ name: source.name, key: source.key, atMs: now })
    if (entry.id !== undefined) this.#share?.refused(shareKey(source), entry.id)
    return true
  }

  #refusedElsewhere(kind: string, key: string, id: string): void {
    for (const [owner, { entries }] of this.#owners.entries()) {
      const entry = owner.startsWith(`${kind} `) ? entries.get(key) : undefined
      if (entry?.id !== id) continue
      entry.token = undefined
      entry.invalidatedMs = this.#clock.now()
    }
  }

  #get(source: TokenSource<unknown>, usedBy: string | undefined): Token<unknown> | Promise<Token<unknown>> {
    const owner = this.#owner(source)
    const entry = entryOf(owner, source)
    const now = this.#clock.now()
    const { token } = entry
    if (token !== undefined && token.expiresMs - LAST_MS > now) {
      if (now >= entry.refreshAtMs && entry.fetching === undefined && heldBack(owner, entry, now) === undefined)
        // The failure is kept in the entry; requests have the token that is still valid.
        this.#start({ source, usedBy }, owner, entry).catch(() => undefined)
      return token
    }
    if (entry.fetching !== undefined) return entry.fetching
    const held = heldBack(owner, entry, now)
    return held === undefined ? this.#start({ source, usedBy }, owner, entry) : Promise.reject(held.error)
  }

  #start(needed: Needed, owner: Owner, entry: Entry): Promise<Token<unknown>> {
    if (this.#fetches >= FETCHES_MAX || owner.fetches >= FETCHES_OF_OWNER_MAX) {
      return Promise.reject(new TokenError('Unavailable', 'too many credentials are being fetched'))
    }
    const isProbe = isOpen(owner)
    if (isProbe) owner.isProbed = true
    this.#fetches++
    owner.fetches++
    const fetching = this.#fetch(needed, owner, entry).finally(() => {
      this.#fetches--
      owner.fetches--
      if (isProbe) owner.isProbed = false
      entry.fetching = undefined
    })
    entry.fetching = fetching
    return fetching
  }

  async #fetch(needed: Needed, owner: Owner, entry: Entry): Promise<Token<unknown>> {
    try {
      const { token, id } = await this.#fetchOrShare(needed, entry)
      const now = this.#clock.now()
      const ahead = Math.min((token.expiresMs - now) * AHEAD_SHARE, AHEAD_MS_MAX) * (1 + this.#clock.random())
      entry.token = token
      entry.id = id
      entry.refreshAtMs = token.expiresMs - LAST_MS - ahead
      entry.failure = owner.circuit = undefined
      owner.entries.set(needed.source.key, entry, sizeOf(token))
      return token
    } catch (error) {
      const known = tokenError(error)
      const now = this.#clock.now()
      entry.failure = failureAfter(entry.failure, known, now)
      // An endpoint that refuses a request answers.
      owner.circuit = known.reason === 'Unavailable' ? circuitAfter(owner.circuit, known, now) : undefined
      throw known
    }
  }

  async #fetchOrShare(needed: Needed, entry: Entry): Promise<Fetched> {
    const { source } = needed
    const share = source.entriesMax === 0 ? undefined : this.#share
    if (share === undefined) return { token: await this.#fetchOnce(needed) }
    const key = shareKey(source)
    const fetchMs = fetchMsOf(source)
    const wanted = { otherThan: entry.id, afterMs: this.#clock.now() + LAST_MS, fetchMs }
    const answer = await share.claim(key, wanted, this.#clock.timeout(fetchMs))
    if (answer !== 'Fetch') {
      if ('token' in answer) return answer
      throw new TokenError(answer.reason, answer.message)
    }
    try {
      const fetched = { token: await this.#fetchOnce(needed), id: randomUUID() }
      share.fetched(key, fetched)
      return fetched
    } catch (error) {
      const { reason, message } = tokenError(error)
      share.fetched(key, { reason, message })
      throw error
    }
  }

  async #fetchOnce({ source, usedBy }: Needed): Promise<Token<unknown>> {
    const startMs = this.#clock.now()
    const report = (outcome: FetchOutcome): void => {
      const endMs = this.#clock.now()
      this.#observer?.fetched({
        name: source.name,
        key: source.key,
        usedBy,
        durationMs: endMs - startMs,
        endMs,
        outcome,
      })
    }
    try {
      const token = await this.#fetchChecked(source)
      report({ expiresMs: token.expiresMs })
      return token
    } catch (error) {
      const { reason, message } = tokenError(error)
      report({ reason, message })
      throw error
    }
  }

  async #fetchChecked(source: TokenSource<unknown>): Promise<Token<unknown>> {
    const token = await inTime(source, this.#clock.timeout(fetchMsOf(source)))
    const now = this.#clock.now()
    // Also where the time is not a number.
    if (!(token.expiresMs > now)) throw new TokenError('Unavailable', 'the issuer gave a token that has ended')
    const latestMs = now + LIFE_MS_MAX
    return token.expiresMs <= latestMs ? token : { ...token, expiresMs: latestMs }
  }

  #owner({ name, entriesMax = ENTRIES_MAX }: TokenSource<unknown>): Owner {
    const key = `${name.kind} ${name.owner}`
    const known = this.#owners.get(key)
    if (known !== undefined) return known
    const owner: Owner = {
      entries: new BoundedCache({ entriesMax, weightMax: SIZE_MAX }),
      circuit: undefined,
      isProbed: false,
      fetches: 0,
    }
    this.#owners.set(key, owner)
    return owner
  }
}

function entryOf({ entries }: Owner, { key }: TokenSource<unknown>): Entry {
  const known = entries.get(key)
  if (known !== undefined) return known
  const entry: Entry = {
    token: undefined,
    id: undefined,
    refreshAtMs: 0,
    fetching: undefined,
    failure: undefined,
    invalidatedMs: -Infinity,
  }
  entries.set(key, entry)
  return entry
}

/** Why no token is fetched now. */
function heldBack(owner: Owner, { failure }: Entry, now: number): Failure | undefined {
  if (failure !== undefined && now < failure.untilMs) return failure
  const { circuit, isProbed } = owner
  return circuit !== undefined && isOpen(owner) && (isProbed || now < circuit.untilMs) ? circuit : undefined
}

/** Nothing is fetched until its time is over; then one fetch at a time, until the endpoint answers. */
function isOpen({ circuit }: Owner): boolean {
  return circuit !== undefined && circuit.count >= CIRCUIT_FAILURES
}

/** Fetches that ran side by side fail side by side: they count once it is open. */
function circuitAfter(before: Failure | undefined, error: TokenError, now: number): Failure {
  const isCounted = before !== undefined && before.count >= CIRCUIT_FAILURES && now < before.untilMs
  return isCounted ? before : failureAfter(before, error, now)
}

function fetchMsOf({ fetchMs = FETCH_MS }: TokenSource<unknown>): number {
  return Math.min(Math.max(fetchMs, FETCH_MS), FETCH_MS_MAX)
}

/** Of workers: sources of different kinds may have the same key. */
function shareKey({ name, key }: TokenSource<unknown>): string {
  return `${name.kind} ${key}`
}

function failureAfter(before: Failure | undefined, error: TokenError, now: number): Failure {
  const count = (before?.count ?? 0) + 1
  const heldMs = Math.min(HELD_MS_MAX, HELD_MS_MIN * 2 ** Math.min(count - 1, HELD_DOUBLINGS_MAX))
  return { error, count, untilMs: now + heldMs }
}

/** Anything else is a bug of the source; its text may hold what it was sent, so it is not repeated. */
function tokenError(error: unknown): TokenError {
  return error instanceof TokenError
    ? error
    : new TokenError('Unavailable', 'the credential could not be fetched: internal error', { cause: error })
}

/** A source that does not listen to the signal is not waited for. */
function inTime(source: TokenSource<unknown>, signal: AbortSignal): Promise<Token<unknown>> {
  const late = () => new TokenError('Unavailable', 'the credential did not come in time')
  return untilAborted(signal, () => source.fetch(signal), late)
}
