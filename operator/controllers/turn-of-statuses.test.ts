import { expect, it } from '@effect/vitest'
import { Effect, Fiber } from 'effect'
import { TestClock } from 'effect/testing'
import { TurnOfStatuses } from './turn-of-statuses.ts'

/** Whether the turn has come after so many milliseconds, one after the other. */
const comes = Effect.fnUntraced(function* (
  turn: TurnOfStatuses,
  afterMs: readonly number[],
  key = 'HTTPRoute a/route',
) {
  const fiber = yield* Effect.forkChild(turn.come(key))
  const seen: boolean[] = []
  for (const ms of afterMs) {
    yield* TestClock.adjust(ms)
    seen.push(fiber.pollUnsafe() !== undefined)
  }
  yield* Fiber.interrupt(fiber)
  return seen
})

it.effect('no write in progress: statuses are written at once', () =>
  Effect.gen(function* () {
    expect(yield* comes(new TurnOfStatuses(), [0])).toEqual([true])
  }),
)

it.effect('a configuration is being written: statuses wait 700 ms at most', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.delay('a/b')
    expect(yield* comes(turn, [699, 1])).toEqual([false, true])
  }),
)

it.effect('the last of several writes failed: statuses are written at once', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.delay('a/b')
    turn.delay('a/c')
    turn.ended('a/b')
    expect(yield* comes(turn, [10])).toEqual([false])
    turn.ended('a/c')
    expect(yield* comes(turn, [0])).toEqual([true])
  }),
)

it.effect('a configuration was just written: statuses wait for the proxies', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.delay('a/b')
    yield* TestClock.adjust(5)
    yield* turn.written('a/b', 1)
    turn.ended('a/b')
    expect(yield* comes(turn, [24, 1])).toEqual([false, true])
    expect(yield* comes(turn, [0])).toEqual([true])
  }),
)

it.effect('a leader starts: statuses wait until each first configuration was written or has failed', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.start(['a/b', 'a/c'], true)
    turn.ended('a/b')
    expect(yield* comes(turn, [10_000])).toEqual([false])
    turn.ended('a/c')
    expect(yield* comes(turn, [0])).toEqual([true])
  }),
)

it.effect('a first configuration cannot be written: statuses wait 15 s at most', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.start(['a/b'], true)
    expect(yield* comes(turn, [14_999, 1])).toEqual([false, true])
  }),
)

it.effect('a leader starts without its GatewayClass: statuses wait for the first configurations that it leads to', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.start([], false)
    expect(yield* comes(turn, [10_000])).toEqual([false])
    turn.classFound(['a/b'])
    expect(yield* comes(turn, [1000])).toEqual([false])
    turn.classFound(['a/b', 'a/later'])
    turn.ended('a/b')
    expect(yield* comes(turn, [0])).toEqual([true])
  }),
)

it.effect('a GatewayClass cannot be created: statuses wait 15 s at most', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.start([], false)
    expect(yield* comes(turn, [14_999, 1])).toEqual([false, true])
  }),
)

it.effect('a leader starts without Gateways: statuses are written at once', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.start([], true)
    expect(yield* comes(turn, [0])).toEqual([true])
  }),
)

it.effect('a configuration is written slowly: it delays statuses once, and those of a later change as usual', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.delay('a/slow')
    expect(yield* comes(turn, [700])).toEqual([true])
    expect(yield* comes(turn, [0])).toEqual([true])
    turn.delay('a/slow')
    turn.delay('a/web')
    const waiter = yield* Effect.forkChild(turn.come('HTTPRoute a/route'))
    yield* TestClock.adjust(10)
    expect(waiter.pollUnsafe()).toBeUndefined()
    turn.ended('a/web')
    yield* TestClock.adjust(0)
    expect(waiter.pollUnsafe()).toBeDefined()
  }),
)

it.effect(
  'configurations of other namespaces are written slowly: statuses wait a tenth of a second for all of them',
  () =>
    Effect.gen(function* () {
      const turn = new TurnOfStatuses()
      turn.delay('slow/gateway')
      const fiber = yield* Effect.forkChild(turn.come('HTTPRoute shop/cart'))
      for (const [ms, name] of ['one', 'two', 'three'].entries()) {
        yield* TestClock.adjust(20)
        turn.delay(`other-${ms}/${name}`)
        yield* turn.written('a/b', 1)
      }
      expect(fiber.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust(40)
      expect(fiber.pollUnsafe()).toBeDefined()
      // Those of its own namespace.
      expect(yield* comes(turn, [599, 1], 'HTTPRoute slow/cart')).toEqual([false, true])
    }),
)

it.effect('a leader has written a large first configuration: statuses wait until a proxy has loaded it', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.start(['a/b'], true)
    yield* turn.written('a/b', 3)
    turn.ended('a/b')
    expect(yield* comes(turn, [4000])).toEqual([false])
    turn.loaded('a/b')
    expect(yield* comes(turn, [0])).toEqual([true])
  }),
)

it.effect('no proxy loads it: statuses wait 5 s at most, counted from the write', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.start(['a/b'], true)
    yield* turn.written('a/b', 3)
    turn.ended('a/b')
    yield* TestClock.adjust(3000)
    expect(yield* comes(turn, [1999, 1])).toEqual([false, true])
    yield* TestClock.adjust(60_000)
    expect(yield* comes(turn, [0])).toEqual([true])
  }),
)

it.effect('a small first configuration, or a large one later: statuses wait only a moment', () =>
  Effect.gen(function* () {
    const turn = new TurnOfStatuses()
    turn.start(['a/b'], true)
    yield* turn.written('a/b', 2)
    turn.ended('a/b')
    expect(yield* comes(turn, [25])).toEqual([true])
    yield* turn.written('a/b', 20)
    expect(yield* comes(turn, [25])).toEqual([true])
  }),
)
