import { expect, it } from '@effect/vitest'
import { Effect } from 'effect'
import { TestClock } from 'effect/testing'
import type { CollectionFlavor } from '#api/full-collection.ts'
import { until } from '../../test/wait.ts'
import { collectWhenIdle, ownHeap } from './idle-collection.ts'

/** A heap that a full collection brings down to `live`. */
const setUp = Effect.gen(function* () {
  const seen = { bytes: 100, live: 100, spare: 0, kept: 0, collections: 0, releases: 0, isStarted: true }
  const listeners: (() => void)[] = []
  let collected = (): void => {}
  const heap = {
    bytes: () => seen.bytes,
    spareBytes: () => seen.spare,
    collect: (flavor: CollectionFlavor) => {
      seen.collections++
      seen.bytes = seen.live
      if (flavor !== 'last-resort') return
      seen.releases++
      seen.spare = seen.kept
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

const MIB = 1024 * 1024

it.effect('spare pages of 32 MiB are released 2 s after the last change', () =>
  Effect.gen(function* () {
    const { seen, changed } = yield* setUp
    seen.spare = 32 * MIB - 1
    yield* changed(100, 10_000)
    expect(seen.releases).toBe(0)
    seen.spare = 32 * MIB
    yield* changed(100, 1999)
    expect(seen.releases).toBe(0)
    yield* TestClock.adjust(1)
    expect(seen.releases).toBe(1)
  }),
)

it.effect('spare pages of a large heap are released from 15 percent of it', () =>
  Effect.gen(function* () {
    const { seen, changed } = yield* setUp
    seen.live = 400 * MIB
    seen.spare = 59 * MIB
    yield* changed(400 * MIB, 10_000)
    expect(seen.releases).toBe(0)
    seen.spare = 60 * MIB
    yield* changed(400 * MIB, 10_000)
    expect(seen.releases).toBe(1)
  }),
)

it.effect('spare pages are released once a minute at most, and those that cannot be released count no more', () =>
  Effect.gen(function* () {
    const { seen, changed } = yield* setUp
    seen.spare = 100 * MIB
    seen.kept = 50 * MIB
    yield* changed(100, 3000)
    expect(seen.releases).toBe(1)
    seen.spare = 82 * MIB
    yield* changed(100, 60_000)
    expect(seen.releases).toBe(1)
    yield* changed(100, 10_000)
    expect(seen.releases).toBe(2)
    yield* changed(100, 100_000)
    seen.spare = 81 * MIB
    yield* changed(100, 10_000)
    expect(seen.releases).toBe(2)
  }),
)

it('shrinks the heap of this process, reports the collection, and gives spare pages back', async () => {
  const heap = ownHeap()
  let reports = 0
  heap.onCollected(() => reports++)
  const garbage: unknown[] = []
  for (let i = 0; i < 1_000_000; i++) garbage.push({ i })
  const before = heap.bytes()
  garbage.length = 0
  heap.collect('regular')
  expect(heap.bytes()).toBeLessThan(before)
  await until('it is reported', () => reports > 0)
  const spare = heap.spareBytes()
  heap.collect('last-resort')
  expect(heap.spareBytes()).toBeLessThanOrEqual(spare)
})
