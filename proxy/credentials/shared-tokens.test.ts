// Tokens that several workers share through the main thread.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LEASE_MS_MORE, type TokenPeer } from './shared-tokens.ts'
import { TokenError, type TokenSource } from './token.ts'
import { type FakeWorker, workers } from './workers.testing.ts'

const HOUR_MS = 3_600_000

class CountingSource implements TokenSource<string> {
  readonly key = 'k'
  readonly name = { kind: 'cloudB', owner: 'ns/policy' } as const
  fetches = 0
  /** Life of each token. */
  endsMs: readonly number[] = []
  failure: TokenError | undefined = undefined

  async fetch(_signal: AbortSignal): Promise<{ value: string; expiresMs: number }> {
    this.fetches++
    await Promise.resolve()
    if (this.failure !== undefined) throw this.failure
    return { value: `token ${this.fetches}`, expiresMs: Date.now() + (this.endsMs[this.fetches - 1] ?? HOUR_MS) }
  }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const valuesOf = (all: readonly FakeWorker[], source: CountingSource): Promise<string[]> =>
  Promise.all(all.map(async ({ store }) => (await store.get(source)).value))

describe('workers', () => {
  it('share one fetch, those that ask later too', async () => {
    const { all } = workers(4)
    const source = new CountingSource()
    expect(await valuesOf(all.slice(0, 3), source)).toEqual(['token 1', 'token 1', 'token 1'])
    expect(await valuesOf(all, source)).toEqual(Array.from({ length: 4 }, () => 'token 1'))
    expect(source.fetches).toBe(1)
  })

  it.each(['Rejected', 'SubjectRejected', 'Unavailable'] as const)('share a failure with reason %s', async (reason) => {
    const { all } = workers(3)
    const source = new CountingSource()
    source.failure = new TokenError(reason, 'invalid_client')
    const outcomes = await Promise.allSettled(all.map(async ({ store }) => store.get(source)))
    expect(outcomes).toMatchObject(
      all.map(() => ({ status: 'rejected', reason: { reason, message: 'invalid_client' } })),
    )
    expect(source.fetches).toBe(1)
  })

  it('fetch once when the peers of all of them refuse a token', async () => {
    const { all } = workers(3)
    const source = new CountingSource()
    const tokens = await Promise.all(all.map(async ({ store }) => store.get(source)))
    for (const [index, { store }] of all.entries()) {
      const refused = tokens[index]
      if (refused !== undefined) store.invalidate(source, refused)
    }
    expect(await valuesOf(all, source)).toEqual(['token 2', 'token 2', 'token 2'])
    expect(source.fetches).toBe(2)
  })

  it('fetch once when the peer of one refuses a token, and no other serves it again', async () => {
    const { all } = workers(3)
    const source = new CountingSource()
    // The second one ends earlier than the first.
    source.endsMs = [HOUR_MS, HOUR_MS / 2]
    await valuesOf(all, source)
    const [first] = all
    const refused = await first?.store.get(source)
    expect(refused === undefined || first?.store.invalidate(source, refused)).toBe(true)
    await vi.advanceTimersByTimeAsync(0)
    for (const { store } of all) expect(store.get(source)).toBeInstanceOf(Promise)
    expect(await valuesOf(all, source)).toEqual(['token 2', 'token 2', 'token 2'])
    expect(source.fetches).toBe(2)
  })

  it('do not fetch for each request if their peers refuse every token: once in 10 s', async () => {
    const { all } = workers(3)
    const source = new CountingSource()
    for (let second = 0; second < 30; second++) {
      for (const { store } of all) {
        const token = await store.get(source)
        store.invalidate(source, token)
      }
      await vi.advanceTimersByTimeAsync(1000)
    }
    // At 0, 0, 10 and 20 s.
    expect(source.fetches).toBe(4)
  })

  it('keep a token when a peer refuses the one that it replaced', async () => {
    const { main, all } = workers(2)
    const source = new CountingSource()
    await valuesOf(all, source)
    const [first, second] = all
    if (first === undefined || second === undefined) throw new Error('no workers')
    const old = await first.store.get(source)
    await vi.advanceTimersByTimeAsync(HOUR_MS * 0.95)
    await valuesOf(all, source)
    await vi.advanceTimersByTimeAsync(1)
    expect(first.store.invalidate(source, old)).toBe(true)
    main.receive(second.peer, { type: 'tokenRefused', key: `${source.name.kind} ${source.key}`, id: 'of none' })
    await vi.advanceTimersByTimeAsync(1)
    expect(await valuesOf(all, source)).toEqual(['token 2', 'token 2'])
    expect(source.fetches).toBe(2)
  })

  it('refresh a token once for all of them', async () => {
    const { all } = workers(3)
    const source = new CountingSource()
    await valuesOf(all, source)
    await vi.advanceTimersByTimeAsync(HOUR_MS * 0.95)
    expect(await valuesOf(all, source)).toEqual(['token 1', 'token 1', 'token 1'])
    await vi.advanceTimersByTimeAsync(1)
    expect(await valuesOf(all, source)).toEqual(['token 2', 'token 2', 'token 2'])
    expect(source.fetches).toBe(2)
  })
})

describe('a worker that was about to fetch', () => {
  const stuck = (): CountingSource => {
    const source = new CountingSource()
    const fetch = source.fetch.bind(source)
    let isFirst = true
    source.fetch = (signal) => {
      if (!isFirst) return fetch(signal)
      isFirst = false
      return new Promise(() => {})
    }
    return source
  }

  it('and died hands over to the next one', async () => {
    const { main, all } = workers(2)
    const [dead, living] = all
    const source = stuck()
    void Promise.resolve(dead?.store.get(source)).catch(() => undefined)
    await vi.advanceTimersByTimeAsync(1)
    const waiting = living?.store.get(source)
    await vi.advanceTimersByTimeAsync(1)
    if (dead !== undefined) main.left(dead.peer)
    expect(await waiting).toMatchObject({ value: 'token 1' })
  })

  it('and does not respond loses its turn', async () => {
    const { main } = workers(0)
    const posted: string[] = []
    const peer = (name: string): TokenPeer => ({
      post: (message) => posted.push(`${name} ${JSON.stringify('answer' in message ? message.answer : message)}`),
    })
    const [first, second] = [peer('first'), peer('second')]
    main.receive(first, { type: 'tokenClaimed', key: 'k', otherThan: undefined, afterMs: 0, fetchMs: 30_000 })
    main.receive(second, { type: 'tokenClaimed', key: 'k', otherThan: undefined, afterMs: 0, fetchMs: 30_000 })
    await vi.advanceTimersByTimeAsync(30_000 + LEASE_MS_MORE - 1)
    expect(posted).toEqual(['first "Fetch"'])
    await vi.advanceTimersByTimeAsync(1)
    expect(posted).toEqual(['first "Fetch"', 'second "Fetch"'])
    main.receive(first, {
      type: 'tokenFetched',
      key: 'k',
      outcome: { token: { value: 'late', expiresMs: 1 }, id: '1' },
    })
    main.receive(second, {
      type: 'tokenFetched',
      key: 'k',
      outcome: { token: { value: 'new', expiresMs: 2 }, id: '2' },
    })
    main.receive(first, { type: 'tokenClaimed', key: 'k', otherThan: undefined, afterMs: 1, fetchMs: 30_000 })
    expect(posted[2]).toContain('"new"')
  })
})
