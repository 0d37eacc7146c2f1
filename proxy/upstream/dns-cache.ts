// Names of upstreams, remembered for as long as the name servers say (data-plane supplement section 5.3). A failing
// resolver never takes a known name away.
import { isIP } from 'node:net'
import type { BackendGuard } from './backend-guard.ts'
import { systemLookup } from './system-lookup.ts'
import type { Lookup } from './lookup.ts'

/** For a resolver that returns none. */
const TTL_MS = 30_000
/** Bounds of a time to live from a name server. */
const TTL_MS_MIN = 5000
const TTL_MS_MAX = 300_000
/** After a failure; doubles with each one. */
const RETRY_MS = 100
const RETRY_MS_MAX = 5000
/** The old addresses of a name that was unused for long are used again if new ones take longer than this. */
const FRESH_WAIT_MS = 1000
const ENTRIES_MAX = 4096
/** An address that could not be connected to comes last for so long. */
const FAILED_MS = 30_000

const NOTHING: readonly string[] = []

type Done = (addresses: readonly string[], error: Error | undefined) => void

interface Entry {
  /** Last good answer; those of the first one's family come first. */
  addresses: readonly string[]
  /** How many are of the family of the first one. */
  preferred: number
  /** Why there is no address, or no fresh one. */
  error: Error | undefined
  failures: number
  /** No question before then. */
  freshUntilMs: number
  /** From then on the answer is too old to be used without a lookup; the name was unused for its whole time to live. */
  usableUntilMs: number
  next: number
  /** Addresses that could not be connected to, and until when they come last. */
  readonly failed: Map<string, number>
  waiting: Done[]
  patience: NodeJS.Timeout | undefined
  isRefreshing: boolean
}

export class DnsCache {
  /** For those who connect to the addresses, or to a unix socket; undefined: everything may be connected to. */
  readonly guard: BackendGuard | undefined
  readonly #lookup: Lookup
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()

  constructor(lookup: Lookup = systemLookup(), now: () => number = () => performance.now(), guard?: BackendGuard) {
    this.#lookup = lookup
    this.#now = now
    this.guard = guard
  }

  /**
   * Addresses to try in this order; calls back at once for addresses and known names. No addresses: the error has the
   * reason.
   */
  resolve(host: string, done: Done): void {
    if (isIP(host) !== 0) {
      done([host], undefined)
      return
    }
    const entry = this.#entry(host)
    if (entry === undefined) {
      done([], new Error('too many names are being resolved'))
      return
    }
    const now = this.#now()
    if (now >= entry.freshUntilMs && !entry.isRefreshing) this.#refresh(host, entry)
    if (!entry.isRefreshing || (entry.addresses.length > 0 && now < entry.usableUntilMs)) this.#answer(entry, done)
    else this.#wait(entry, done)
  }

  /**
   * The last good answer, for those who hold connections: the same object until there is another one, which is asked
   * for when this one is too old.
   */
  known(host: string): readonly string[] {
    const entry = this.#entry(host)
    if (entry === undefined) return NOTHING
    if (this.#now() >= entry.freshUntilMs && !entry.isRefreshing) this.#refresh(host, entry)
    return entry.addresses
  }

  /** No connection to it succeeded. The others are tried first for a while. */
  failed(host: string, address: string): void {
    const entry = this.#entries.get(host)
    if (entry?.addresses.includes(address) === true) entry.failed.set(address, this.#now() + FAILED_MS)
  }

  /** undefined: a caller waits for each of the entries. */
  #entry(host: string): Entry | undefined {
    const known = this.#entries.get(host)
    if (known !== undefined) return known
    if (this.#entries.size >= ENTRIES_MAX && !this.#evict()) return undefined
    const entry: Entry = {
      addresses: [],
      preferred: 0,
      error: undefined,
      failures: 0,
      freshUntilMs: -Infinity,
      usableUntilMs: -Infinity,
      next: 0,
      failed: new Map(),
      waiting: [],
      patience: undefined,
      isRefreshing: false,
    }
    this.#entries.set(host, entry)
    return entry
  }

  /** The oldest entry without waiting requests. */
  #evict(): boolean {
    for (const [host, entry] of this.#entries) {
      if (entry.isRefreshing) continue
      this.#entries.delete(host)
      return true
    }
    return false
  }

  #refresh(host: string, entry: Entry): void {
    entry.isRefreshing = true
    this.#lookup(host, (error, addresses, ttlMs = TTL_MS) => {
      entry.isRefreshing = false
      if (error === undefined && addresses.length > 0) this.#succeeded(entry, addresses, ttlMs)
      else this.#failed(entry, error ?? new Error('no address'))
      this.#answerAll(entry)
    })
  }

  #succeeded(entry: Entry, addresses: readonly string[], ttlMs: number): void {
    const family = isIP(addresses[0] ?? '')
    const preferred = addresses.filter((address) => isIP(address) === family)
    entry.addresses = [...preferred, ...addresses.filter((address) => isIP(address) !== family)]
    entry.preferred = preferred.length
    for (const address of entry.failed.keys()) if (!addresses.includes(address)) entry.failed.delete(address)
    entry.error = undefined
    entry.failures = 0
    const lifeMs = Math.min(Math.max(ttlMs, TTL_MS_MIN), TTL_MS_MAX)
    entry.freshUntilMs = this.#now() + lifeMs
    entry.usableUntilMs = entry.freshUntilMs + lifeMs
  }

  #failed(entry: Entry, error: Error): void {
    entry.error = error
    entry.freshUntilMs = this.#now() + Math.min(RETRY_MS * 2 ** entry.failures, RETRY_MS_MAX)
    entry.failures++
    // No request waits again for a broken resolver.
    entry.usableUntilMs = Infinity
  }

  #wait(entry: Entry, done: Done): void {
    entry.waiting.push(done)
    if (entry.addresses.length > 0)
      entry.patience ??= setTimeout(() => {
        // Once is enough for this question.
        entry.usableUntilMs = Infinity
        this.#answerAll(entry)
      }, FRESH_WAIT_MS)
  }

  #answerAll(entry: Entry): void {
    clearTimeout(entry.patience)
    entry.patience = undefined
    const waiting = entry.waiting
    entry.waiting = []
    for (const done of waiting) this.#answer(entry, done)
  }

  #answer(entry: Entry, done: Done): void {
    if (entry.addresses.length === 0) done([], entry.error ?? new Error('no address known'))
    else if (entry.failed.size === 0) done(rotated(entry), undefined)
    else done(failedLast(entry, this.#now()), undefined)
  }
}

/** Round robin: each caller begins at the next address, of the preferred family as long as there are any. */
function rotated(entry: Entry): readonly string[] {
  const { addresses, preferred } = entry
  if (preferred === 1) return addresses
  const first = entry.next++ % preferred
  return [...addresses.slice(first, preferred), ...addresses.slice(0, first), ...addresses.slice(preferred)]
}

/** Round robin among those that did not fail; the others after them, in the hope that they work again. */
function failedLast(entry: Entry, nowMs: number): readonly string[] {
  const { failed } = entry
  for (const [address, untilMs] of failed) if (nowMs >= untilMs) failed.delete(address)
  const all = rotated(entry)
  return [...all.filter((address) => !failed.has(address)), ...all.filter((address) => failed.has(address))]
}
