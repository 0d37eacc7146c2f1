// Name resolution for upstreams: the system resolver with a small cache. A failing resolver never takes a known name
// away.
import dns from 'node:dns'
import { isIP } from 'node:net'

/** `ttlMs`: undefined when the resolver tells none. */
export type Lookup = (
  host: string,
  done: (error: Error | undefined, addresses: readonly string[], ttlMs?: number) => void,
) => void

/** getaddrinfo tells no TTL; changes are seen within this time. */
const TTL_MS = 30_000
/** Bounds of a time to live that a name server told (data-plane supplement section 5.3). */
const TTL_MS_MIN = 5000
const TTL_MS_MAX = 300_000
/** After a failed refresh of a known name. */
const RETRY_MS = 5000
const ENTRIES_MAX = 4096

interface Entry {
  addresses: readonly string[]
  freshUntilMs: number
  next: number
  waiting: ((addresses: readonly string[], error: Error | undefined) => void)[]
  isRefreshing: boolean
}

export class DnsCache {
  readonly #lookup: Lookup
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()

  constructor(lookup: Lookup = systemLookup, now: () => number = () => performance.now()) {
    this.#lookup = lookup
    this.#now = now
  }

  /**
   * Addresses to try in this order, one family only if IPv4 exists first; calls back at once for addresses and known
   * names. No addresses: the error says why.
   */
  resolve(host: string, done: (addresses: readonly string[], error: Error | undefined) => void): void {
    if (isIP(host) !== 0) {
      done([host], undefined)
      return
    }
    const entry = this.#entry(host)
    if (entry === undefined) {
      done([], new Error('too many names are being resolved'))
      return
    }
    if (this.#now() >= entry.freshUntilMs && !entry.isRefreshing) this.#refresh(host, entry)
    if (entry.addresses.length === 0) {
      if (entry.isRefreshing) entry.waiting.push(done)
      else done([], new Error('no address known'))
      return
    }
    done(rotated(entry), undefined)
  }

  /** undefined: somebody waits for each of the entries. */
  #entry(host: string): Entry | undefined {
    const known = this.#entries.get(host)
    if (known !== undefined) return known
    if (this.#entries.size >= ENTRIES_MAX && !this.#evict()) return undefined
    const entry: Entry = { addresses: [], freshUntilMs: -Infinity, next: 0, waiting: [], isRefreshing: false }
    this.#entries.set(host, entry)
    return entry
  }

  /** The oldest entry nobody waits for. */
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
      const isKnown = error === undefined && addresses.length > 0
      if (isKnown) entry.addresses = addresses
      // A name that never resolved is asked for again by the next request.
      else if (entry.addresses.length === 0) this.#entries.delete(host)
      entry.freshUntilMs = this.#now() + (isKnown ? Math.min(Math.max(ttlMs, TTL_MS_MIN), TTL_MS_MAX) : RETRY_MS)
      const waiting = entry.waiting
      entry.waiting = []
      for (const done of waiting) done(entry.addresses.length === 0 ? [] : rotated(entry), error)
    })
  }
}

/** Round robin: each caller begins at the next address. */
function rotated(entry: Entry): readonly string[] {
  const { addresses } = entry
  if (addresses.length === 1) return addresses
  const first = entry.next++ % addresses.length
  return [...addresses.slice(first), ...addresses.slice(0, first)]
}

function systemLookup(host: string, done: (error: Error | undefined, addresses: readonly string[]) => void): void {
  dns.lookup(host, { all: true, order: 'ipv4first' }, (error, found) => {
    if (error !== null) done(error, [])
    else
      done(
        undefined,
        found.map(({ address }) => address),
      )
  })
}
