import { describe, expect, it } from 'vitest'
import { type Token, TokenError, type TokenSource } from './token.ts'
import { type TokenClock, WorkerTokenStore } from './token-store.ts'

const HOUR_MS = 3_600_000
const START_MS = 1_700_000_000_000

class FakeClock implements TokenClock {
  ms = START_MS
  readonly timeouts: AbortController[] = []
  /** Of the same timeouts. */
  readonly limitsMs: number[] = []
  now = (): number => this.ms
  random = (): number => 0.5
  timeout = (ms: number): AbortSignal => {
    const controller = new AbortController()
    this.limitsMs.push(ms)
    this.timeouts.push(controller)
    return controller.signal
  }
}

/** Numbers its tokens. */
class FakeSource implements TokenSource<number> {
  readonly key: string
  readonly name = { kind: 'oauthTokenExchange', owner: 'ns/policy' } as const
  fetches = 0
  failure: Error | undefined = undefined
  lifeMs = HOUR_MS
  readonly #clock: FakeClock

  constructor(clock: FakeClock, key = 'k') {
    this.#clock = clock
    this.key = key
  }

  fetch(_signal: AbortSignal): Promise<Token<number>> {
    this.fetches++
    if (this.failure !== undefined) return Promise.reject(this.failure)
    return Promise.resolve({ value: this.fetches, expiresMs: this.#clock.ms + this.lifeMs })
  }
}

function start() {
  const clock = new FakeClock()
  return { clock, store: new WorkerTokenStore({ clock }), source: new FakeSource(clock) }
}

/** Lets background refreshes end. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a token', () => {
  it('is fetched once for all who ask, and served without a promise afterwards', async () => {
    const { store, source } = start()
    const all = await Promise.all(Array.from({ length: 1000 }, async () => store.get(source)))
    expect(new Set(all.map(({ value }) => value))).toEqual(new Set([1]))
    expect(store.get(source)).toMatchObject({ value: 1 })
    expect(source.fetches).toBe(1)
  })

  it('is refreshed before its end with one fetch, while requests have the old one: 1,000 gets, no failure', async () => {
    const { clock, store, source } = start()
    await store.get(source)
    const values = new Set<number>()
    for (let i = 0; i < 1000; i++) {
      clock.ms += (HOUR_MS * 1.2) / 1000
      const token = store.get(source)
      expect(token).not.toBeInstanceOf(Promise)
      const { value, expiresMs } = await token
      expect(expiresMs).toBeGreaterThan(clock.ms)
      values.add(value)
      await settle()
    }
    expect([...values]).toEqual([1, 2])
    expect(source.fetches).toBe(2)
  })

  it('is served while a slow endpoint refreshes it, until its last 15 s', async () => {
    const { clock, store, source } = start()
    await store.get(source)
    const { promise, resolve } = Promise.withResolvers<Token<number>>()
    let fetches = 0
    source.fetch = () => {
      fetches++
      return promise
    }
    clock.ms += HOUR_MS - 60_000
    for (let i = 0; i < 100; i++) expect(store.get(source)).toMatchObject({ value: 1 })
    clock.ms += 45_000
    const waiting = [store.get(source), store.get(source)]
    for (const one of waiting) expect(one).toBeInstanceOf(Promise)
    resolve({ value: 2, expiresMs: clock.ms + HOUR_MS })
    for (const one of waiting) expect(await one).toMatchObject({ value: 2 })
    expect(fetches).toBe(1)
  })

  it('is not served in its last 15 s', async () => {
    const { clock, store, source } = start()
    await store.get(source)
    source.failure = new TokenError('Unavailable', 'down')
    clock.ms += HOUR_MS - 15_001
    expect(await store.get(source)).toMatchObject({ value: 1 })
    await settle()
    clock.ms += 1
    await expect(store.get(source)).rejects.toThrow('down')
  })

  it.each([0, -1, -Infinity, NaN])('with a life of %s ms is an error', async (lifeMs) => {
    const { store, source } = start()
    source.lifeMs = lifeMs
    await expect(store.get(source)).rejects.toMatchObject({ reason: 'Unavailable' })
  })

  it.each([Infinity, Number.MAX_VALUE, 25 * HOUR_MS])('with a life of %s ms is kept for one day', async (lifeMs) => {
    const { clock, store, source } = start()
    source.lifeMs = lifeMs
    expect(await store.get(source)).toMatchObject({ expiresMs: START_MS + 24 * HOUR_MS })
    clock.ms += 24 * HOUR_MS - 15_000
    expect(await store.get(source)).toMatchObject({ value: 2 })
  })

  it('that a peer refused is fetched again once; a newer one is kept', async () => {
    const { store, source } = start()
    const refused = await store.get(source)
    for (let i = 0; i < 3; i++) store.invalidate(source, refused)
    expect(await store.get(source)).toMatchObject({ value: 2 })
    store.invalidate(source, refused)
    expect(store.get(source)).toMatchObject({ value: 2 })
    expect(source.fetches).toBe(2)
  })

  it('that a peer refuses again within 10 s is kept', async () => {
    const { clock, store, source } = start()
    expect(store.invalidate(source, await store.get(source))).toBe(true)
    const second = await store.get(source)
    clock.ms += 9999
    expect(store.invalidate(source, second)).toBe(false)
    expect(store.get(source)).toBe(second)
    clock.ms += 1
    expect(store.invalidate(source, second)).toBe(true)
    expect(await store.get(source)).toMatchObject({ value: 3 })
  })
})

describe('a failure', () => {
  it('is held 1 s, then 2 s, up to 30 s, and forgotten after a success', async () => {
    const { clock, store, source } = start()
    source.failure = new TokenError('Rejected', 'invalid_grant')
    const fetchedMs: number[] = []
    for (; fetchedMs.length < 8; clock.ms += 500) {
      const { fetches } = source
      await expect(store.get(source)).rejects.toThrow('invalid_grant')
      if (source.fetches > fetches) fetchedMs.push(clock.ms)
    }
    const heldMs = fetchedMs.slice(1).map((ms, index) => ms - (fetchedMs[index] ?? 0))
    expect(heldMs).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
    source.failure = undefined
    clock.ms += 30_000
    await store.get(source)
    expect(store.get(source)).not.toBeInstanceOf(Promise)
  })

  it('to reach the endpoint stops the fetches of all keys of its owner after three in a row', async () => {
    const { clock, store } = start()
    const sources = Array.from({ length: 10 }, (_, i) => {
      const source = new FakeSource(clock, `subject ${i}`)
      source.failure = new TokenError('Unavailable', 'connect timeout')
      return source
    })
    for (const source of sources) await expect(store.get(source)).rejects.toThrow('connect timeout')
    expect(sources.map(({ fetches }) => fetches)).toEqual([1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
    clock.ms += 4000
    const last = new FakeSource(clock, 'the endpoint is back')
    expect(await store.get(last)).toMatchObject({ value: 1 })
    expect(await store.get(new FakeSource(clock, 'and for others'))).toMatchObject({ value: 1 })
  })

  it('leaves one fetch at a time when its time is over, and twice that time when it fails again', async () => {
    const { clock, store } = start()
    const down = new TokenError('Unavailable', 'down')
    const failing = (key: string): FakeSource => Object.assign(new FakeSource(clock, key), { failure: down })
    const all = async (count: number, round: string): Promise<number> => {
      const sources = Array.from({ length: count }, (_, i) => failing(`${round} ${i}`))
      await Promise.allSettled(sources.map(async (source) => store.get(source)))
      return sources.reduce((sum, { fetches }) => sum + fetches, 0)
    }
    // Side by side, before any of them failed.
    expect(await all(100, 'burst')).toBe(100)
    clock.ms += 3999
    expect(await all(100, 'open')).toBe(0)
    clock.ms += 1
    expect(await all(100, 'half-open')).toBe(1)
    clock.ms += 7999
    expect(await all(100, 'open again')).toBe(0)
    clock.ms += 1
    const probe = new FakeSource(clock, 'an endpoint that refuses answers')
    probe.failure = new TokenError('Rejected', 'invalid_grant')
    await expect(store.get(probe)).rejects.toThrow('invalid_grant')
    expect(await all(100, 'closed')).toBe(100)
  })

  it('of 512 fetches of one owner leaves fetches to other owners', async () => {
    const { clock, store } = start()
    const silent = (key: string): FakeSource =>
      Object.assign(new FakeSource(clock, key), { fetch: () => new Promise(() => {}) })
    for (let i = 0; i < 512; i++) void Promise.resolve(store.get(silent(`subject ${i}`))).catch(() => undefined)
    await expect(store.get(silent('one more'))).rejects.toThrow('too many credentials are being fetched')
    const other = Object.assign(new FakeSource(clock), { name: { kind: 'cloudB', owner: 'other' } })
    expect(await store.get(other)).toMatchObject({ value: 1 })
    for (const controller of clock.timeouts) controller.abort()
  })

  it('of a source that never answers comes at the deadline', async () => {
    const { clock, store, source } = start()
    source.fetch = () => new Promise(() => {})
    const waiting = store.get(source)
    clock.timeouts[0]?.abort()
    await expect(waiting).rejects.toThrow('did not come in time')
  })

  it.each([
    [undefined, 10_000],
    [1, 10_000],
    [25_000, 25_000],
    [3_600_000, 60_000],
  ])('of a source that asks for %s ms comes after %i ms', async (fetchMs, limitMs) => {
    const { clock, store, source } = start()
    await store.get(Object.assign(source, fetchMs !== undefined && { fetchMs }))
    expect(clock.limitsMs).toEqual([limitMs])
  })
})

describe('the bound', () => {
  it('keeps 8,192 of 10,000 keys, those that were used last', async () => {
    const { clock, store } = start()
    const sources = Array.from({ length: 10_000 }, (_, i) => new FakeSource(clock, `subject ${i}`))
    for (const source of sources) await store.get(source)
    const kept = sources.slice(-8192).map((source) => store.get(source))
    expect(kept.some((token) => token instanceof Promise)).toBe(false)
    const [first] = sources
    if (first !== undefined) await store.get(first)
    expect(first?.fetches).toBe(2)
  })

  it('of 32 MiB keeps large tokens that were used last', async () => {
    const { clock, store } = start()
    const large = (key: string): TokenSource<string> => ({
      key,
      name: { kind: 'cloudC', owner: 'large' },
      fetch: () => Promise.resolve({ value: 'x'.repeat(2 ** 20), expiresMs: clock.ms + HOUR_MS }),
    })
    const sources = Array.from({ length: 40 }, (_, i) => large(`subject ${i}`))
    for (const source of sources) await store.get(source)
    const isKept = (source: TokenSource<string>): boolean => !(store.get(source) instanceof Promise)
    expect(sources.slice(-31).every(isKept)).toBe(true)
    expect(sources.slice(0, 2).some(isKept)).toBe(false)
  })

  it('of 0 keeps nothing', async () => {
    const { store, source } = start()
    Object.assign(source, { entriesMax: 0 })
    await store.get(source)
    expect(await store.get(source)).toMatchObject({ value: 2 })
  })
})
