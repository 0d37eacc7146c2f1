import { expect, it } from '@effect/vitest'
import { Effect } from 'effect'
import { TestClock } from 'effect/testing'
import type { CollectionFlavor } from '#api/full-collection.ts'
import { until } from '../../test/wait.ts'
import { collectWhenIdle, ownHeap } from './idle-collection.ts'

/** A heap that a full collection brings down to `live`. */
const setUp = Effect.gen(function* () {
  const seen = { bytes: 100, live: 100, collections: 0, releases: 0, isStarted: true }
  const listeners: (() => void)[] = []
  let collected = (): void => {}
  const heap = {
    bytes: () => seen.bytes,
    collect: (flavor: CollectionFlavor) => {
      seen.collections++
      if (flavor === 'last-resort') seen.releases++
      seen.bytes = seen.live
    },
    onCollected: (listener: () => void) => void (collected = listener),
  }
  const onChange = (listener: () => void): void => void listeners.push(listener)
  yield* Effect.forkChild(collectWhenIdle({ heap, isStarted: () => seen.isStarted, onChange }))
  yield* Effect.yieldNow
  /** The heap has grown to `bytes`, and so many milliseconds pass. */
  const changed = Effect.fnUntraced(function* (bytes: number, ms: number) {
    seen.bytes = bytes
    for (const listener of listeners) listener()
    yield* TestClock.adjust(ms)
  })
  return { seen, changed, collectedByV8: () => collected() }
})

it.effect('a heap that has grown by a fifth: 250 ms after the last change', () =>
  Effect.gen(function* () {
    const { seen, changed } = yield* setUp
    yield* changed(120, 249)
    expect(seen.collections).toBe(0)
    yield* TestClock.adjust(1)
    expect(seen.collections).toBe(1)
  }),
)

it.effect('none before the start is complete', () =>
  Effect.gen(function* () {
    const { seen, changed } = yield* setUp
    seen.isStarted = false
    yield* changed(300, 10_000)
    expect(seen.collections).toBe(0)
    seen.isStarted = true
    yield* TestClock.adjust(250)
    expect(seen.collections).toBe(1)
  }),
)

it.effect('one that has grown by less: none', () =>
  Effect.gen(function* () {
    const { seen, changed } = yield* setUp
    yield* changed(119, 10_000)
    expect(seen.collections).toBe(0)
  }),
)

it.effect('continuing changes postpone it', () =>
  Effect.gen(function* () {
    const { seen, changed } = yield* setUp
    for (let i = 0; i < 50; i++) yield* changed(200, 100)
    expect(seen.collections).toBe(0)
    yield* TestClock.adjust(500)
    expect(seen.collections).toBe(1)
  }),
)

it.effect('growth is counted from the last full collection, whoever made it', () =>
  Effect.gen(function* () {
    const { seen, changed, collectedByV8 } = yield* setUp
    seen.live = 200
    yield* changed(300, 1000)
    expect(seen.collections).toBe(1)
    yield* changed(239, 1000)
    expect(seen.collections).toBe(1)
    seen.bytes = 50
    collectedByV8()
    yield* changed(60, 1000)
    expect(seen.collections).toBe(2)
  }),
)

it.effect('a heap that has doubled is released 2 s after the last change, once', () =>
  Effect.gen(function* () {
    const { seen, changed } = yield* setUp
    seen.live = 200
    yield* changed(300, 1000)
    yield* changed(200, 250 + 1999)
    expect(seen.releases).toBe(0)
    yield* TestClock.adjust(1)
    expect(seen.releases).toBe(1)
    yield* changed(350, 10_000)
    expect(seen.releases).toBe(1)
    seen.live = 400
    yield* changed(400, 10_000)
    expect(seen.releases).toBe(2)
  }),
)

it('shrinks the heap of this process, and reports the collection', async () => {
  const heap = ownHeap()
  let reports = 0
  heap.onCollected(() => reports++)
  const garbage: unknown[] = []
  for (let i = 0; i < 300_000; i++) garbage.push({ i })
  const before = heap.bytes()
  garbage.length = 0
  heap.collect('regular')
  expect(heap.bytes()).toBeLessThan(before)
  await until('it is reported', () => reports > 0)
})
