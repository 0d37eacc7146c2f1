// What a reflector makes of answers that no cluster gives every day: kinds that are gone, for good or for a moment.
import { Effect, Fiber, Layer, Logger, Queue } from 'effect'
import { TestClock } from 'effect/testing'
import { expect, it } from 'vitest'
import type { KubeObject } from '../translate/kube.ts'
import { ObjectCache } from './cache.ts'
import { endsInitial, KubeClient, type ListPage, type WatchEvent } from './client.ts'
import { type KubeError, KubeExpired, KubeNotFound, KubeRefused, KubeUnreachable } from './errors.ts'
import { reflect } from './reflector.ts'
import { TRANSLATED } from './resources.ts'

const POLICY: KubeObject = {
  apiVersion: 'gw.dev/v1alpha1',
  kind: 'GwPolicy',
  metadata: { name: 'deny', namespace: 'shop', uid: '1', resourceVersion: '1' },
}
const GONE = new KubeNotFound({ path: 'gwpolicies' })

const UNKNOWN_PARAMETER = new KubeRefused({
  method: 'GET',
  path: 'gwpolicies',
  status: 422,
  reason: 'Invalid',
  message: 'sendInitialEvents: Forbidden',
  retryAfterMs: undefined,
})

/** Each call fails as `state` says. */
interface State {
  list?: KubeError | undefined
  watch?: KubeError | undefined
  failsAfter?: '1 millis'
  lists: number
  /** The events of a streamed list, which then stays open for a second; unset: the server rejects it. */
  stream?: readonly WatchEvent[]
  streams?: number
}

function clientOf(state: State): KubeClient['Service'] {
  const page: ListPage = { items: [POLICY], resourceVersion: '1', next: undefined }
  const unused = (): never => {
    throw new Error('not used')
  }
  return KubeClient.of({
    list: () =>
      Effect.suspend(() => {
        state.lists += 1
        return state.list === undefined ? Effect.succeed(page) : Effect.fail(state.list)
      }),
    watch: (_resource, { from, onOpen }, onEvent) =>
      Effect.suspend(() => {
        if (from === undefined) {
          state.streams = (state.streams ?? 0) + 1
          if (state.stream === undefined) return Effect.fail(UNKNOWN_PARAMETER)
          for (const event of state.stream) onEvent(event)
          return Effect.sleep(state.stream.some(endsInitial) ? '1 second' : '1 hour')
        }
        if (state.watch === undefined) return Effect.andThen(Effect.sync(onOpen), Effect.sleep('1 second'))
        return Effect.andThen(Effect.sleep(state.failsAfter ?? '1 second'), Effect.fail(state.watch))
      }),
    get: unused,
    apply: unused,
    tryApply: unused,
    create: unused,
    replace: unused,
    patch: unused,
    remove: unused,
    document: unused,
  })
}

interface Reflected {
  readonly state: State
  readonly count: () => number
  readonly synced: () => number
  /** The reported values; 0: it is followed. */
  readonly lost: number[]
}

/** With one policy that is known, and a watch under way. */
const reflected = (state: State, body: (at: Reflected) => Effect.Effect<void>): Promise<void> => {
  const cache = new ObjectCache()
  let synced = 0
  const lost: number[] = []
  const test = Effect.gen(function* () {
    const relist = yield* Queue.sliding<void>(1)
    const fiber = yield* Effect.forkChild(
      reflect({
        resource: TRANSLATED.GwPolicy,
        into: 'GwPolicy',
        select: {},
        cache,
        isSelected: () => true,
        onSynced: () => void (synced += 1),
        onFollowed: (ms) => void lost.push(ms === undefined ? 0 : Math.round(ms)),
        relist,
      }),
    )
    yield* TestClock.adjust('100 millis')
    yield* body({ state, count: () => cache.count('GwPolicy'), synced: () => synced, lost })
    yield* Fiber.interrupt(fiber)
  })
  const layers = Layer.merge(TestClock.layer(), Logger.layer([]))
  return Effect.runPromise(test.pipe(Effect.provideService(KubeClient, clientOf(state)), Effect.provide(layers)))
}

it('keeps the objects of a kind that is not found for a moment', () =>
  reflected({ lists: 0 }, ({ state, count }) =>
    Effect.gen(function* () {
      expect(count()).toBe(1)
      state.watch = new KubeExpired({ path: 'gwpolicies' })
      state.list = GONE
      yield* TestClock.adjust('4 seconds')
      expect(state.lists).toBeGreaterThan(1)
      expect(count()).toBe(1)
      delete state.list
      delete state.watch
      yield* TestClock.adjust('4 seconds')
      expect(count()).toBe(1)
    }),
  ))

it('forgets them when the kind stays missing, and waits for it', () =>
  reflected({ lists: 0 }, ({ state, count }) =>
    Effect.gen(function* () {
      state.watch = GONE
      state.list = GONE
      yield* TestClock.adjust('10 seconds')
      expect(count()).toBe(0)
      const { lists } = state
      yield* TestClock.adjust('20 seconds')
      expect(state.lists - lists).toBe(10)
      delete state.list
      delete state.watch
      yield* TestClock.adjust('2 seconds')
      expect(count()).toBe(1)
    }),
  ))

it('looks for a served version again when the one it watches is gone', () =>
  reflected({ lists: 0 }, ({ state, count }) =>
    Effect.gen(function* () {
      state.watch = GONE
      yield* TestClock.adjust('2 seconds')
      delete state.watch
      yield* TestClock.adjust('200 millis')
      expect(state.lists).toBe(2)
      expect(count()).toBe(1)
    }),
  ))

it('treats a kind that was never served as one without objects at once', () =>
  reflected({ lists: 0, list: GONE }, ({ count, synced }) =>
    Effect.sync(() => {
      expect(count()).toBe(0)
      expect(synced()).toBe(1)
    }),
  ))

it('reports for how long the cluster is not followed, until a watch is open again', () =>
  reflected({ lists: 0 }, ({ state, lost }) =>
    Effect.gen(function* () {
      expect(new Set(lost)).toEqual(new Set([0]))
      state.watch = new KubeUnreachable({ method: 'GET', path: 'gwpolicies', cause: 'no route' })
      yield* TestClock.adjust('90 seconds')
      expect(lost.at(-1)).toBeGreaterThan(75_000)
      // A kind that is not served is waited for, and not lost.
      state.watch = GONE
      state.list = GONE
      yield* TestClock.adjust('20 seconds')
      expect(lost.at(-1)).toBe(0)
      state.list = new KubeUnreachable({ method: 'GET', path: 'gwpolicies', cause: 'no route' })
      yield* TestClock.adjust('40 seconds')
      expect(lost.at(-1)).toBeGreaterThan(20_000)
      expect(lost.at(-1)).toBeLessThan(40_000)
      delete state.list
      delete state.watch
      yield* TestClock.adjust('10 seconds')
      expect(lost.at(-1)).toBe(0)
    }),
  ))

it('limits lists on a server whose resource versions expire at once', () =>
  reflected({ lists: 0 }, ({ state }) =>
    Effect.gen(function* () {
      state.watch = new KubeExpired({ path: 'gwpolicies' })
      state.failsAfter = '1 millis'
      yield* TestClock.adjust('60 seconds')
      expect(state.lists).toBeLessThan(25)
      expect(state.lists).toBeGreaterThan(5)
    }),
  ))

const named = (type: string, name: string, version: string): WatchEvent => ({
  type,
  object: { metadata: { name, namespace: 'shop', uid: name, resourceVersion: version } },
})
const END: WatchEvent = {
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } } },
}
const LISTED = [named('ADDED', 'one', '1'), named('ADDED', 'two', '2'), named('DELETED', 'one', '3')]

it('takes a streamed list when it is complete, and the changes that follow it', () =>
  reflected({ lists: 0, stream: [...LISTED, END, named('ADDED', 'three', '8')] }, ({ state, count, synced }) =>
    Effect.gen(function* () {
      expect([count(), synced(), state.lists]).toEqual([2, 1, 0])
      // Continues from its version, without another list.
      yield* TestClock.adjust('10 seconds')
      expect([count(), synced(), state.lists, state.streams]).toEqual([2, 1, 0, 1])
      // Objects that a later list does not contain are gone.
      state.watch = new KubeExpired({ path: 'gwpolicies' })
      state.stream = [END]
      yield* TestClock.adjust('4 seconds')
      expect([count(), state.lists]).toEqual([0, 0])
    }),
  ))

it('lists in pages if the server rejects a streamed list, and does not ask for one again', () =>
  reflected({ lists: 0 }, ({ state, count }) =>
    Effect.gen(function* () {
      expect([count(), state.lists, state.streams]).toEqual([1, 1, 1])
      state.watch = new KubeExpired({ path: 'gwpolicies' })
      yield* TestClock.adjust('4 seconds')
      expect(state.lists).toBeGreaterThan(1)
      expect(state.streams).toBe(1)
    }),
  ))

it('lists in pages if the server stops sending before a streamed list is complete', () =>
  reflected({ lists: 0, stream: LISTED }, ({ state, count, synced }) =>
    Effect.gen(function* () {
      expect([count(), synced()]).toEqual([0, 0])
      yield* TestClock.adjust('21 seconds')
      expect([count(), synced(), state.lists]).toEqual([1, 1, 1])
    }),
  ))
