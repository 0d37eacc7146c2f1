// Full garbage collections while no work waits. The garbage of thousands of changes must be collected at some time; V8
// by itself begins when the heap is full, in the middle of a change, and takes half a second.
import { getHeapSpaceStatistics, type HeapSpaceInfo } from 'node:v8'
import { Effect, Queue } from 'effect'
import { type CollectionFlavor, fullCollection } from '#api/full-collection.ts'
import { elapsedMs } from '../kube/elapsed.ts'

export interface Heap {
  /** Size of all objects, including garbage, except the youngest. */
  bytes(): number
  /** What their pages take beyond it, which the system could have. */
  spareBytes(): number
  /** Blocks the thread. */
  collect(flavor: CollectionFlavor): void
  /** Called after every full collection, also those that V8 begins by itself. */
  onCollected(listener: () => void): void
}

export interface IdleCollectionOptions {
  readonly heap: Heap
  /** False: at its start, with pauses between the lists of the kinds. A collection would only delay it. */
  readonly isStarted: () => boolean
  /** Called at once for every change of an object. */
  readonly onChange: (listener: () => void) => void
}

/**
 * Time without a change: longer than the work after a change, and than the pause between two changes of a program.
 * Retries do not count as changes.
 */
const QUIET_MS = 250
/** With less growth V8 decides: an unnecessary collection delays a concurrent change as much as a necessary one. */
const GROWTH_MIN = 0.2

/**
 * When so much has become spare since the last release, and so large a part of the objects, as after a start with
 * thousands of routes, pages with little in them are given back to the system as well. V8 itself keeps them. It takes
 * several times as long as a regular collection, so the heap must have been quiet for longer, and it is rare.
 */
const RELEASE_SPARE_MIN = 32 * 1024 * 1024
const RELEASE_SPARE_SHARE = 0.15
const RELEASE_QUIET_MS = 2000
const RELEASE_EVERY_MS = 60_000

/** Never ends. */
export const collectWhenIdle = Effect.fn('operator.collectWhenIdle')(function* (options: IdleCollectionOptions) {
  const { heap, isStarted, onChange } = options
  const changes = yield* Queue.sliding<void>(1)
  onChange(() => void Queue.offerUnsafe(changes, undefined))
  let collected = heap.bytes()
  let releasedAtMs = -RELEASE_EVERY_MS
  let spareThen = 0
  heap.onCollected(() => {
    collected = heap.bytes()
  })
  const isQuiet = Effect.gen(function* () {
    yield* Queue.clear(changes)
    yield* Effect.sleep(QUIET_MS)
    return isStarted() && (yield* Queue.size(changes)) === 0
  })
  const collect = Effect.fnUntraced(function* (flavor: CollectionFlavor) {
    const before = heap.bytes()
    const start = yield* elapsedMs
    heap.collect(flavor)
    collected = heap.bytes()
    const ms = (yield* elapsedMs) - start
    yield* Effect.logDebug('garbage collected while idle', { flavor, before, after: collected, ms })
  })
  const isReleaseDue = Effect.gen(function* () {
    const isRecent = (yield* elapsedMs) < releasedAtMs + RELEASE_EVERY_MS
    const min = Math.max(RELEASE_SPARE_MIN, heap.bytes() * RELEASE_SPARE_SHARE)
    return !isRecent && heap.spareBytes() - spareThen >= min
  })
  const once = Effect.gen(function* () {
    yield* Queue.take(changes)
    while (!(yield* isQuiet));
    if (heap.bytes() >= collected * (1 + GROWTH_MIN)) yield* collect('regular')
    if (!(yield* isReleaseDue)) return
    for (let quietMs = QUIET_MS; quietMs < RELEASE_QUIET_MS; quietMs += QUIET_MS) {
      // The change is the first of the next round.
      if (!(yield* isQuiet)) return
    }
    yield* collect('last-resort')
    releasedAtMs = yield* elapsedMs
    spareThen = heap.spareBytes()
  })
  return yield* Effect.forever(once)
})

/** Of this process. */
export function ownHeap(): Heap {
  const regular = fullCollection('regular')
  let report = (): void => {}
  // Collections of young garbage skip registered objects. The registry must be referenced, or it reports nothing.
  const registry = new FinalizationRegistry<undefined>(() => {
    report()
    registry.register({}, undefined)
  })
  return {
    bytes: () => sumOfOld((space) => space.space_used_size),
    spareBytes: () => sumOfOld((space) => space.physical_space_size - space.space_used_size),
    collect: (flavor) => (flavor === 'regular' ? regular() : fullCollection(flavor)()),
    onCollected: (listener) => {
      report = listener
      registry.register({}, undefined)
    },
  }
}

function sumOfOld(sizeOf: (space: HeapSpaceInfo) => number): number {
  const old = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'))
  return old.reduce((sum, space) => sum + sizeOf(space), 0)
}
