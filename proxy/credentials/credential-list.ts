// The credentials that all workers fetched, on the main thread: for the dump of the configuration and for metrics. Has
// no token, only when it ends.
import { BoundedCache } from '../auth/bounded-cache.ts'
import type { CredentialMessage, TokenFetch } from './token-observer.ts'
import type { TokenError, TokenName } from './token.ts'

/** As many as the store of a worker keeps (token-store.ts). */
const OWNERS_MAX = 1024
/** As many as workers share (shared-tokens.ts). */
const TOKENS_MAX = 16_384
const USERS_MAX = 10
/** One without a valid token that was not fetched for so long is not shown: its policy may be gone. */
const SHOWN_MS = 3_600_000

interface Owner {
  readonly name: TokenName
  /** The last ones that caused a fetch. */
  readonly usedBy: Set<string>
  lastFetchMs: number | undefined
  lastError: { readonly atMs: number; readonly reason: TokenError['reason']; readonly message: string } | undefined
  failuresInRow: number
  lastRefusalMs: number | undefined
}

interface Kept {
  readonly owner: string
  readonly expiresMs: number
}

export interface ShownCredential {
  readonly kind: TokenName['kind']
  readonly owner: string
  readonly usedBy: string[]
  readonly tokens: number
  readonly firstExpiry?: string
  readonly lastExpiry?: string
  readonly lastFetch?: string
  readonly lastError?: { readonly time: string; readonly reason: TokenError['reason']; readonly message: string }
  readonly failuresInRow: number
  readonly lastRefusal?: string
}

export class CredentialList {
  readonly #owners = new BoundedCache<Owner>({ entriesMax: OWNERS_MAX, weightMax: OWNERS_MAX })
  readonly #tokens = new BoundedCache<Kept>({ entriesMax: TOKENS_MAX, weightMax: TOKENS_MAX })

  receive(message: CredentialMessage): void {
    if (message.type === 'credentialFetched') this.#fetched(message.fetch)
    else {
      const { name, key, atMs } = message.refusal
      this.#owner(name).lastRefusalMs = atMs
      this.#tokens.delete(`${name.kind} ${key}`)
    }
  }

  /** By kind and owner. */
  shown(nowMs = Date.now()): ShownCredential[] {
    const tokens = Map.groupBy(this.#valid(nowMs), ({ owner }) => owner)
    const all = [...this.#owners.entries()].map(([key, owner]) => ({ owner, kept: tokens.get(key) ?? [] }))
    return all
      .filter(({ owner, kept }) => kept.length > 0 || nowMs - latestOf(owner) < SHOWN_MS)
      .map(({ owner, kept }) => shownOf(owner, kept))
      .toSorted((a, b) => (`${a.kind} ${a.owner}` < `${b.kind} ${b.owner}` ? -1 : 1))
  }

  /** Tokens that have not ended, by kind. */
  counts(nowMs = Date.now()): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { owner } of this.#valid(nowMs)) {
      const kind = owner.slice(0, owner.indexOf(' '))
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
    }
    return counts
  }

  #fetched({ name, key, usedBy, endMs, outcome }: TokenFetch): void {
    const owner = this.#owner(name)
    if (usedBy !== undefined) rememberUser(owner.usedBy, usedBy)
    if ('expiresMs' in outcome) {
      owner.lastFetchMs = endMs
      owner.failuresInRow = 0
      this.#tokens.set(`${name.kind} ${key}`, { owner: ownerKey(name), expiresMs: outcome.expiresMs })
    } else {
      owner.lastError = { atMs: endMs, reason: outcome.reason, message: outcome.message }
      owner.failuresInRow++
    }
  }

  *#valid(nowMs: number): Generator<Kept, void, undefined> {
    for (const [, kept] of this.#tokens.entries()) if (kept.expiresMs > nowMs) yield kept
  }

  #owner(name: TokenName): Owner {
    const key = ownerKey(name)
    const known = this.#owners.get(key)
    if (known !== undefined) return known
    const owner: Owner = {
      name,
      usedBy: new Set(),
      lastFetchMs: undefined,
      lastError: undefined,
      failuresInRow: 0,
      lastRefusalMs: undefined,
    }
    this.#owners.set(key, owner)
    return owner
  }
}

function ownerKey({ kind, owner }: TokenName): string {
  return `${kind} ${owner}`
}

function rememberUser(users: Set<string>, user: string): void {
  users.delete(user)
  users.add(user)
  for (const oldest of users) {
    if (users.size <= USERS_MAX) return
    users.delete(oldest)
  }
}

function latestOf({ lastFetchMs = 0, lastError, lastRefusalMs = 0 }: Owner): number {
  return Math.max(lastFetchMs, lastError?.atMs ?? 0, lastRefusalMs)
}

function shownOf(
  { name, usedBy, lastFetchMs, lastError, failuresInRow, lastRefusalMs }: Owner,
  kept: readonly Kept[],
): ShownCredential {
  const ends = kept.map(({ expiresMs }) => expiresMs)
  const [first, last] = ends.reduce(([low, high], end) => [Math.min(low, end), Math.max(high, end)], [Infinity, 0])
  return {
    kind: name.kind,
    owner: name.owner,
    usedBy: [...usedBy].toSorted(),
    tokens: kept.length,
    ...(kept.length > 0 && { firstExpiry: timeOf(first), lastExpiry: timeOf(last) }),
    ...(lastFetchMs !== undefined && { lastFetch: timeOf(lastFetchMs) }),
    ...(lastError && {
      lastError: { time: timeOf(lastError.atMs), reason: lastError.reason, message: lastError.message },
    }),
    failuresInRow,
    ...(lastRefusalMs !== undefined && { lastRefusal: timeOf(lastRefusalMs) }),
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
