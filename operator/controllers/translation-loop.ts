// Runs the translator when something changed that it reads: the first change after a quiet time at once, those that
// follow close behind it together.
import { Duration, Effect, Fiber, Queue } from 'effect'
import type { ObjectCache } from '../kube/cache.ts'
import { elapsedMs } from '../kube/elapsed.ts'
import { TRANSLATED } from '../kube/resources.ts'
import { LIVE_STATUS } from '../kube/stable-view.ts'
import type { KubeObject } from '../translate/kube.ts'
import { createSnapshotter, type Snapshot } from '../translate/snapshot.ts'
import type { Translation, TranslateSettings } from '../translate/translation.ts'
import { describe } from '../translate/object-ref.ts'
import { createTranslator } from '../translate/cluster/translator.ts'

export interface TranslationLoop {
  /** The last result. */
  current(): Translation
  /** The snapshot it was translated from. */
  snapshot(): Snapshot
  /** Nothing has changed since. */
  isIdle(): boolean
}

export interface TranslationResult {
  readonly translation: Translation
  readonly snapshot: Snapshot
  readonly seconds: number
}

export interface TranslationLoopOptions {
  readonly settings: TranslateSettings
  readonly cache: ObjectCache
  /** All kinds are listed. Before this, translation would treat missing objects as deleted. */
  readonly isReady: () => boolean
  /** Ends when the content of these objects is in the cache. */
  readonly fetch: (missing: readonly KubeObject[]) => Effect.Effect<void>
  readonly onTranslation: (result: TranslationResult) => void
  /** A defect: the last result stays. */
  readonly onFailure: () => void
  /** A defect that hit one object of this kind. */
  readonly onDefect: (kind: string) => void
}

const NOTHING: Translation = { perGateway: new Map(), statuses: [], problems: [] }

/** From the end of one translation to the next: changes that come with one `kubectl apply`. */
const GATHER_MS = 5
/** While the first lists are missing. */
const SYNC_CHECK_MS = 5
/** The longest time that changes wait for the next translation to begin, however long a translation takes. */
const GATHER_MS_MAX = 500
/**
 * Changes wait as long for the content of Secrets and ConfigMaps that were not referred to before; the first
 * translation waits until it has all of it. After that, what refers to missing content is rejected.
 */
const FETCH_MS_MAX = 1000

export const makeTranslationLoop = Effect.fn('operator.translationLoop')(function* (options: TranslationLoopOptions) {
  const { settings, cache, isReady, onTranslation, onFailure, onDefect } = options
  const kinds = new Set<string>(Object.keys(TRANSLATED))
  const changes = yield* Queue.sliding<void>(1)
  // Both keep state: a change costs only what it affects, and the rest of the result stays the same objects.
  const snapshotOf = createSnapshotter()
  const translator = createTranslator(settings)
  let state: Translation = NOTHING
  let snapshot = snapshotOf([])
  let isBusy = true
  cache.onChange(({ kind, isStatusOnly }) => {
    if (!kinds.has(kind) || (isStatusOnly && LIVE_STATUS.has(kind))) return
    isBusy = true
    Queue.offerUnsafe(changes, undefined)
  })
  let notBefore = 0
  let isFirst = true
  const translateOnce = Effect.gen(function* () {
    yield* Queue.clear(changes)
    isBusy = false
    const before = yield* elapsedMs
    const now = snapshotOf(...listsOf(cache, kinds))
    const { result, missing } = cache.reading(() => translator.translate(now))
    return { snapshot: now, state: result, missing, elapsed: (yield* elapsedMs) - before }
  })
  const scope = yield* Effect.scope
  /** False: other changes wait no longer for it; it continues, and the objects change when it is done. */
  const areFetched = Effect.fnUntraced(function* (missing: readonly KubeObject[]) {
    isBusy = true
    const done = Effect.as(Fiber.join(yield* Effect.forkIn(options.fetch(missing), scope)), true)
    if (isFirst) return yield* done
    return yield* Effect.raceFirst(done, Effect.as(Effect.sleep(Duration.millis(FETCH_MS_MAX)), false))
  })
  const once = Effect.gen(function* () {
    yield* Queue.take(changes)
    const wait = notBefore - (yield* elapsedMs)
    if (wait > 0) yield* Effect.sleep(Duration.millis(wait))
    while (!isReady()) yield* Effect.sleep(Duration.millis(SYNC_CHECK_MS))
    let next = yield* translateOnce
    let { elapsed } = next
    // What has read an object without its content is incomplete: the last result stays active meanwhile.
    while (next.missing.length > 0 && (yield* areFetched(next.missing))) {
      next = yield* translateOnce
      elapsed += next.elapsed
    }
    ;({ snapshot, state } = next)
    // Translation uses at most half of the time. Traffic may wait for what follows the first one, as a GatewayClass.
    const pauseMs = isFirst ? GATHER_MS : Math.min(Math.max(GATHER_MS, elapsed), GATHER_MS_MAX)
    notBefore = (yield* elapsedMs) + pauseMs
    isFirst = false
    for (const { id, object, path, stack } of translator.takeDefects()) {
      onDefect(object.kind)
      yield* Effect.logError('internal error in the translation of one object', id, describe(object), path, stack)
    }
    onTranslation({ translation: state, snapshot, seconds: elapsed / 1000 })
  })
  const guarded = once.pipe(
    Effect.catchCause((cause) => {
      onFailure()
      return Effect.logError('internal error in the translation, the last result stays active', cause)
    }),
  )
  // An empty cluster is translated once as well.
  Queue.offerUnsafe(changes, undefined)
  yield* Effect.forkScoped(Effect.annotateLogs(Effect.forever(guarded), 'component', 'translator'))
  const loop: TranslationLoop = { current: () => state, snapshot: () => snapshot, isIdle: () => !isBusy }
  return loop
})

function listsOf(cache: ObjectCache, kinds: ReadonlySet<string>): Array<readonly KubeObject[]> {
  return [...kinds].map((kind) => cache.views(kind))
}
