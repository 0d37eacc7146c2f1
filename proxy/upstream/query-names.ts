// Questions to name servers, with the time to live of the answers.
import { Resolver } from 'node:dns/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { LookupFamily } from '#api/units/lookup-family.ts'
import { asksFor } from './lookup-family.ts'

export interface Answer {
  readonly addresses: readonly string[]
  /** The shortest of all addresses. */
  readonly ttlMs: number
}

export type Outcome =
  | { readonly answer: Answer }
  /** `isAbsent`: name servers report that the name or address does not exist; otherwise unknown. */
  | { readonly error: Error; readonly isAbsent: boolean }

interface Found {
  readonly address: string
  readonly ttl: number
}

const TIMEOUT_MS = 2000
const TRIES = 2
/** One family has answered: the other one gets so much longer (RFC 8305 section 3, for slower name servers). */
const OTHER_FAMILY_MS = 250
const ABSENT: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA'])

/** `servers`: `address:port`; undefined: those of the system at this moment. */
export function nameServers(servers?: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers !== undefined) resolver.setServers(servers)
  return resolver
}

/** Never rejects. */
export async function queryName(resolver: Resolver, name: string, family: LookupFamily): Promise<Outcome> {
  const settled: PromiseSettledResult<readonly Found[]>[] = []
  const queries = asksFor(family).map(async (one) => {
    const query = one === 4 ? resolver.resolve4(name, { ttl: true }) : resolver.resolve6(name, { ttl: true })
    const [result] = await Promise.allSettled([query])
    settled.push(result)
    return result
  })
  const all = Promise.all(queries)
  const first = await Promise.race(queries)
  if (first.status === 'fulfilled' && queries.length > 1) await settledWithin(all, OTHER_FAMILY_MS)
  else await all
  return outcomeOf(settled)
}

async function settledWithin(work: Promise<unknown>, ms: number): Promise<void> {
  const waiting = new AbortController()
  const { signal } = waiting
  const late = delay(ms, undefined, { signal, ref: false }).catch(() => undefined)
  await Promise.race([work, late])
  waiting.abort()
}

function outcomeOf(settled: readonly PromiseSettledResult<readonly Found[]>[]): Outcome {
  const found = settled.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  if (found.length > 0) {
    const addresses = found.map(({ address }) => address)
    return { answer: { addresses, ttlMs: Math.min(...found.map(({ ttl }) => ttl)) * 1000 } }
  }
  const errors = settled.flatMap((result) => (result.status === 'rejected' ? [errorOf(result.reason)] : []))
  const cause = errors.find((error) => !isAbsence(error)) ?? errors[0] ?? new Error('no address')
  return { error: cause, isAbsent: errors.every(isAbsence) }
}

function isAbsence(error: Error): boolean {
  return 'code' in error && ABSENT.has(error.code)
}

function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
