// Runs the translator when something changed that it reads: at once after a quiet time, and taking changes together
// while they come fast.
import { Clock, Duration, Effect, Queue } from 'effect'
import type { ObjectCache } from '../kube/cache.ts'
import { TRANSLATED } from '../kube/resources.ts'
import type { KubeObject } from '../translate/kube.ts'
import { createSnapshotter, type Snapshot } from '../translate/snapshot.ts'
import type { Translation, TranslateSettings } from '../translate/translation.ts'
import { createTranslator } from '../translate/translator.ts'

export interface TranslationLoop {
  /** The last result. */
  current(): Translation
  /** What it was made from. */
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
  /** Objects are translated from here on: before, half of the cluster would look deleted. */
  readonly isReady: () => boolean
  readonly onTranslation: (result: TranslationResult) => void
}

const NOTHING: Translation = { perGateway: new Map(), statuses: [], problems: [] }

/** Changes that come with one `kubectl apply`. */
const GATHER_MS = 5
/** However long a translation takes: changes wait no longer than this for the next one to begin. */
const GATHER_MS_MAX = 500

export const makeTranslationLoop = Effect.fn('operator.translationLoop')(function* (options: TranslationLoopOptions) {
  const { settings, cache, isReady, onTranslation } = options
  const kinds = new Set<string>(Object.keys(TRANSLATED))
  const changes = yield* Queue.sliding<void>(1)
  // Both remember: a change costs what it touches, and the rest of the result stays the same objects.
  const snapshotOf = createSnapshotter()
  const translator = createTranslator(settings)
  let state: Translation = NOTHING
  let snapshot = snapshotOf([])
  let isBusy = true
  cache.onChange(({ kind }) => {
    if (!kinds.has(kind)) return
    isBusy = true
    Queue.offerUnsafe(changes, undefined)
  })
  let gatherMs = GATHER_MS
  const once = Effect.gen(function* () {
    yield* Queue.take(changes)
    yield* Effect.sleep(Duration.millis(gatherMs))
    while (!isReady()) yield* Effect.sleep(Duration.millis(GATHER_MS))
    yield* Queue.clear(changes)
    const before = yield* Clock.currentTimeMillis
    isBusy = false
    snapshot = snapshotOf(objectsOf(cache, kinds))
    state = translator.translate(snapshot)
    const elapsed = (yield* Clock.currentTimeMillis) - before
    // No more than half of the time goes into translating.
    gatherMs = Math.min(Math.max(GATHER_MS, elapsed), GATHER_MS_MAX)
    onTranslation({ translation: state, snapshot, seconds: elapsed / 1000 })
  })
  const guarded = once.pipe(
    Effect.catchCause((cause) => Effect.logError('translation: defect, the last result stays', cause)),
  )
  // A cluster without any object is translated once as well.
  Queue.offerUnsafe(changes, undefined)
  yield* Effect.forkScoped(Effect.annotateLogs(Effect.forever(guarded), 'component', 'translator'))
  const loop: TranslationLoop = { current: () => state, snapshot: () => snapshot, isIdle: () => !isBusy }
  return loop
})

function objectsOf(cache: ObjectCache, kinds: ReadonlySet<string>): KubeObject[] {
  return [...kinds].flatMap((kind) => [...cache.all(kind)])
}
