// When the fetcher asks, what it keeps, and that it never asks more than it may. Time is a test clock; no network.
import { expect, it } from '@effect/vitest'
import { Effect, Layer } from 'effect'
import { TestClock } from 'effect/testing'
import type { StoredKeySet } from '../translate/policy/stored-key-sets.ts'
import { requestTo } from '../translate/policy/jwks-request.ts'
import { JwksFetchError } from './errors.ts'
import type { JwksAnswer } from './exchange.ts'
import { makeJwksFetcher } from './fetcher.ts'
import { JwksHttp } from './http.ts'
import type { OwnedRequest, Refresh } from './requests.ts'
import { memoryJwksStore } from './store.ts'

const KEYS = (kid: string): string => `{"keys":[{"kty":"EC","kid":"${kid}"}]}`

function owned(host: string, refresh: Refresh = { afterMs: 300_000 }): OwnedRequest {
  return { ...requestTo({ place: { host, port: 80 }, path: '/keys' }), refresh }
}

class World {
  readonly entries = new Map<string, StoredKeySet>()
  readonly asked: string[] = []
  readonly reported: string[] = []
  running = 0
  runningMax = 0
  takesMs = 0
  answer: (url: string) => JwksAnswer | string = () => ({
    text: KEYS('a'),
    cacheControl: undefined,
    expires: undefined,
  })

  readonly layer = Layer.merge(
    memoryJwksStore(this.entries),
    Layer.succeed(JwksHttp, JwksHttp.of({ get: ({ url }) => this.#get(url) })),
  )

  /** What is stored, by kid. */
  kids(): string[] {
    return [...this.entries.values()].map(({ jwks }) => /"kid":"(\w+)"/.exec(jwks)?.[1] ?? 'none')
  }

  start() {
    return makeJwksFetcher({
      stored: ({ url }, warnings) => Effect.sync(() => void this.reported.push(`stored ${url}`, ...warnings)),
      failed: ({ detail }) => Effect.sync(() => void this.reported.push(`failed ${detail}`)),
    }).pipe(Effect.provide(this.layer), Effect.orDie)
  }

  #get(url: string): Effect.Effect<JwksAnswer, JwksFetchError> {
    return Effect.gen({ self: this }, function* () {
      this.asked.push(url)
      this.runningMax = Math.max(this.runningMax, ++this.running)
      if (this.takesMs > 0) yield* Effect.sleep(this.takesMs)
      const answer = this.answer(url)
      return typeof answer === 'string' ? yield* new JwksFetchError({ url, detail: answer }) : answer
    }).pipe(Effect.ensuring(Effect.sync(() => this.running--)))
  }
}

const settle = TestClock.adjust(0)

it.effect('fetches at once, then each time the set is due', () =>
  Effect.gen(function* () {
    const world = new World()
    const fetcher = yield* world.start()
    yield* fetcher.setRequests([owned('a')])
    yield* settle
    expect([world.asked.length, world.kids()]).toEqual([1, ['a']])
    yield* TestClock.adjust(299_999)
    expect(world.asked).toHaveLength(1)
    world.answer = () => ({ text: KEYS('b'), cacheControl: undefined, expires: undefined })
    yield* TestClock.adjust(1)
    expect([world.asked.length, world.kids()]).toEqual([2, ['b']])
    yield* fetcher.setRequests([owned('a')])
    yield* settle
    expect(world.asked).toHaveLength(2)
    expect(world.reported).toEqual(['stored http://a:80/keys', 'stored http://a:80/keys'])
  }),
)

it.effect('stores no private members of a fetched key, and reports them once', () =>
  Effect.gen(function* () {
    const world = new World()
    const text = '{"keys":[{"kty":"EC","kid":"a","d":"planted"},{"kty":"oct","k":"planted"}]}'
    world.answer = () => ({ text, cacheControl: undefined, expires: undefined })
    const fetcher = yield* world.start()
    yield* fetcher.setRequests([owned('a')])
    yield* TestClock.adjust(900_000)
    expect(world.kids()).toEqual(['a'])
    expect(JSON.stringify([...world.entries.values()])).not.toContain('planted')
    expect(world.reported).toEqual([
      'stored http://a:80/keys',
      expect.stringContaining('key 0 contains private members (`d`)'),
      expect.stringContaining('key 1 is a symmetric key'),
    ])
  }),
)

it.effect('reports keys only when they differ', () =>
  Effect.gen(function* () {
    const world = new World()
    const fetcher = yield* world.start()
    yield* fetcher.setRequests([owned('a')])
    yield* TestClock.adjust(900_000)
    expect([world.asked.length, world.reported]).toEqual([4, ['stored http://a:80/keys']])
  }),
)

it.effect('retries after 200 ms doubling to 15 s without end, keeps the old keys, and reports a reason once', () =>
  Effect.gen(function* () {
    const world = new World()
    const fetcher = yield* world.start()
    yield* fetcher.setRequests([owned('a')])
    yield* settle
    world.answer = () => 'down'
    yield* TestClock.adjust(300_000)
    const seen: number[] = []
    for (const waitMs of [200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000, 15_000]) {
      yield* TestClock.adjust(waitMs - 1)
      const before = world.asked.length
      yield* TestClock.adjust(1)
      seen.push(world.asked.length - before)
    }
    expect(seen).toEqual(seen.map(() => 1))
    expect(world.kids()).toEqual(['a'])
    world.answer = () => 'still down'
    yield* TestClock.adjust(15_000)
    world.answer = () => ({ text: KEYS('b'), cacheControl: undefined, expires: undefined })
    yield* TestClock.adjust(15_000)
    expect(world.kids()).toEqual(['b'])
    expect(world.reported.slice(1)).toEqual(['failed down', 'failed still down', 'stored http://a:80/keys'])
  }),
)

it.effect('reports a response that is not a key set as a failure', () =>
  Effect.gen(function* () {
    const world = new World()
    world.answer = () => ({ text: '<html>', cacheControl: undefined, expires: undefined })
    const fetcher = yield* world.start()
    yield* fetcher.setRequests([owned('a')])
    yield* settle
    expect([world.kids(), world.reported]).toEqual([
      [],
      ['failed the response is not a JSON Web Key Set, {"keys": [...]}'],
    ])
  }),
)

it.effect('counts from the stored time, so a restart does not fetch early', () =>
  Effect.gen(function* () {
    const world = new World()
    const request = owned('a')
    const { key: requestKey, url } = request
    world.entries.set(requestKey, { requestKey, url, fetchedAt: '1970-01-01T00:00:00.000Z', jwks: KEYS('old') })
    yield* TestClock.adjust(100_000)
    const fetcher = yield* world.start()
    yield* fetcher.setRequests([request])
    yield* TestClock.adjust(199_999)
    expect(world.asked).toEqual([])
    yield* TestClock.adjust(1)
    expect([world.asked.length, world.kids()]).toEqual([1, ['a']])
  }),
)

it.effect('fetches at most ten at once, and each within 10 s', () =>
  Effect.gen(function* () {
    const world = new World()
    world.takesMs = 60_000
    const fetcher = yield* world.start()
    yield* fetcher.setRequests(Array.from({ length: 25 }, (_, index) => owned(`h${index}`)))
    yield* TestClock.adjust(9_999)
    expect([world.runningMax, world.asked.length]).toEqual([10, 10])
    expect(world.reported).toEqual([])
    yield* TestClock.adjust(1)
    expect(world.reported).toEqual(world.reported.map(() => 'failed no response within 10 s'))
    expect([world.runningMax, world.asked.length, world.reported.length]).toEqual([10, 20, 10])
  }),
)

it.effect('removes orphans after the first list of requests and after each successful fetch, never before', () =>
  Effect.gen(function* () {
    const world = new World()
    const put = (host: string): void => {
      const { key: requestKey, url } = owned(host)
      world.entries.set(requestKey, { requestKey, url, fetchedAt: '1970-01-01T00:00:00.000Z', jwks: KEYS(host) })
    }
    put('stays')
    put('orphan')
    const fetcher = yield* world.start()
    yield* settle
    expect(world.kids()).toEqual(['stays', 'orphan'])
    yield* fetcher.setRequests([owned('stays')])
    yield* settle
    expect(world.kids()).toEqual(['stays'])
    world.answer = () => 'down'
    yield* fetcher.setRequests([owned('next')])
    yield* settle
    // The old keys stay until the new ones are there.
    expect(world.kids()).toEqual(['stays'])
    world.answer = () => ({ text: KEYS('next'), cacheControl: undefined, expires: undefined })
    yield* TestClock.adjust(200)
    expect(world.kids()).toEqual(['next'])
  }),
)

it.effect('does not fetch a set again that is no longer requested', () =>
  Effect.gen(function* () {
    const world = new World()
    const fetcher = yield* world.start()
    yield* fetcher.setRequests([owned('a')])
    yield* settle
    yield* fetcher.setRequests([])
    yield* TestClock.adjust(3_600_000)
    expect(world.asked).toHaveLength(1)
  }),
)

it.effect('a shorter time to live counts from the last fetch', () =>
  Effect.gen(function* () {
    const world = new World()
    const fetcher = yield* world.start()
    yield* fetcher.setRequests([owned('a', { afterMs: 3_600_000 })])
    yield* TestClock.adjust(400_000)
    yield* fetcher.setRequests([owned('a', { afterMs: 600_000 })])
    yield* TestClock.adjust(199_999)
    expect(world.asked).toHaveLength(1)
    yield* TestClock.adjust(1)
    expect(world.asked).toHaveLength(2)
  }),
)

it.effect('an unknown key fetches out of turn, at most once in 30 s', () =>
  Effect.gen(function* () {
    const world = new World()
    const fetcher = yield* world.start()
    const request = owned('a')
    yield* fetcher.setRequests([request])
    yield* settle
    yield* fetcher.refresh('another')
    yield* settle
    expect(world.asked).toHaveLength(1)
    for (const asked of [2, 3]) {
      for (let turn = 0; turn < 5; turn++) yield* fetcher.refresh(request.key)
      yield* settle
      expect(world.asked).toHaveLength(asked)
      yield* TestClock.adjust(29_999)
      yield* fetcher.refresh(request.key)
      yield* settle
      expect(world.asked).toHaveLength(asked)
      yield* TestClock.adjust(1)
    }
    yield* TestClock.adjust(269_999)
    expect(world.asked).toHaveLength(3)
    yield* TestClock.adjust(1)
    expect(world.asked).toHaveLength(4)
  }),
)

it.effect('as the response headers require: after a minute at the earliest, 15 s after a failure', () =>
  Effect.gen(function* () {
    const world = new World()
    world.answer = () => ({ text: KEYS('a'), cacheControl: 'public, max-age=1', expires: undefined })
    const fetcher = yield* world.start()
    yield* fetcher.setRequests([owned('a', 'asServerSays')])
    yield* TestClock.adjust(59_999)
    expect(world.asked).toHaveLength(1)
    world.answer = () => 'down'
    yield* TestClock.adjust(1)
    expect(world.asked).toHaveLength(2)
    yield* TestClock.adjust(14_999)
    expect(world.asked).toHaveLength(2)
    yield* TestClock.adjust(1)
    expect(world.asked).toHaveLength(3)
  }),
)
