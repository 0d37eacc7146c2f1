import { describe, expect, it } from 'vitest'
import { CredentialList } from './credential-list.ts'
import type { FetchOutcome } from './token-observer.ts'

const START_MS = Date.parse('2026-01-01T00:00:00Z')
const HOUR_MS = 3_600_000

interface Fetched {
  readonly key?: string
  readonly owner?: string
  readonly usedBy?: string | undefined
  readonly atMs?: number
  readonly outcome?: FetchOutcome
}

function fetched(
  list: CredentialList,
  { key = 'k', owner = 'ns/azure/clientSecret', usedBy = 'ns/policy', atMs = 0, outcome }: Fetched,
): void {
  list.receive({
    type: 'credentialFetched',
    fetch: {
      name: { kind: 'cloudB', owner },
      key,
      usedBy,
      durationMs: 5,
      endMs: START_MS + atMs,
      outcome: outcome ?? { expiresMs: START_MS + atMs + HOUR_MS },
    },
  })
}

describe('the list of credentials', () => {
  it('shows source, users, ends, the last fetch and the last error of an owner', () => {
    const list = new CredentialList()
    fetched(list, {})
    fetched(list, { key: 'other', atMs: 60_000, usedBy: 'ns/a' })
    fetched(list, { atMs: 120_000, outcome: { reason: 'Unavailable', message: 'connect timeout' } })
    list.receive({
      type: 'credentialRefused',
      refusal: { name: { kind: 'cloudB', owner: 'ns/azure/clientSecret' }, key: 'other', atMs: START_MS + 180_000 },
    })
    expect(list.shown(START_MS + 180_000)).toEqual([
      {
        kind: 'cloudB',
        owner: 'ns/azure/clientSecret',
        usedBy: ['ns/a', 'ns/policy'],
        tokens: 1,
        firstExpiry: '2026-01-01T01:00:00.000Z',
        lastExpiry: '2026-01-01T01:00:00.000Z',
        lastFetch: '2026-01-01T00:01:00.000Z',
        lastError: { time: '2026-01-01T00:02:00.000Z', reason: 'Unavailable', message: 'connect timeout' },
        failuresInRow: 1,
        lastRefusal: '2026-01-01T00:03:00.000Z',
      },
    ])
    fetched(list, { atMs: 200_000 })
    expect(list.shown(START_MS + 200_000)).toMatchObject([{ failuresInRow: 0 }])
  })

  it('counts tokens that have not ended, and drops owners without one after an hour', () => {
    const list = new CredentialList()
    for (let i = 0; i < 3; i++) fetched(list, { key: `subject ${i}`, atMs: i * 1000 })
    expect(list.counts(START_MS)).toEqual(new Map([['cloudB', 3]]))
    expect(list.counts(START_MS + HOUR_MS + 1000)).toEqual(new Map([['cloudB', 1]]))
    expect(list.shown(START_MS + HOUR_MS + 2000 - 1)).toHaveLength(1)
    expect(list.shown(START_MS + HOUR_MS + 2000)).toHaveLength(0)
  })

  it('has bounds for tokens, owners and users', () => {
    const list = new CredentialList()
    for (let i = 0; i < 20_000; i++) fetched(list, { key: `subject ${i}` })
    for (let i = 0; i < 20; i++) fetched(list, { usedBy: `ns/policy-${i}` })
    expect(list.counts(START_MS)).toEqual(new Map([['cloudB', 16_384]]))
    expect(list.shown(START_MS)[0]?.usedBy).toHaveLength(10)
    for (let i = 0; i < 2000; i++) fetched(list, { owner: `owner ${i}`, key: `o${i}` })
    expect(list.shown(START_MS)).toHaveLength(1024)
  })
})
