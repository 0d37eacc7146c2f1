// Work by key: many changes of one key are one run, one key runs once at a time, and failures are retried with growing
// waits. Namespaces take turns (fair-keys.ts), and none takes all places. A defect is logged and counted, and the queue
// continues.
import { Cause, Duration, Effect, Queue } from 'effect'
import type { KubeClient } from './client.ts'
import { elapsedMs } from './elapsed.ts'
import { describeKubeError, type KubeError } from './errors.ts'
import { FairKeys, namespaceOfKey } from './fair-keys.ts'
import { KeyedBuckets } from './keyed-buckets.ts'
import { Places } from './places.ts'
import { waitMs } from './reflector.ts'

export interface WorkQueueOptions {
  readonly name: string
  /** Of log lines. */
  readonly component: string
  /** Keys that run at the same time; half of them for one namespace (places.ts). */
  readonly concurrency: number
  readonly work: (key: string) => Effect.Effect<void, KubeError, KubeClient>
  /** Of the first retry, doubling to 10 s; when unset 100 ms. */
  readonly retryFirstMs?: number
  /** Of retries, over all keys of a namespace. Unset: no limit but that of each key. */
  readonly retryLimit?: { readonly perSecond: number; readonly burst: number }
  /** Called after every run. */
  readonly observe: (run: WorkRun) => void
  /** Called when a run begins and when it ends, however it ends. */
  readonly observeRunning: (run: RunningWork) => void
}

export interface RunningWork {
  readonly queue: string
  readonly key: string
  readonly isRunning: boolean
}

export interface WorkRun {
  readonly queue: string
  readonly key: string
  readonly isSuccess: boolean
  readonly seconds: number
}

export interface WorkQueue {
  /** Can be called from anywhere; the run begins when its turn comes. */
  add(key: string): void
  /** Nothing waits and nothing runs. */
  isIdle(): boolean
}

/** The queue works in the scope of the caller, until that is closed. */
export const makeWorkQueue = Effect.fnUntraced(function* (options: WorkQueueOptions) {
  const { name, concurrency, observe, observeRunning, retryFirstMs } = options
  const buckets = options.retryLimit && new KeyedBuckets(options.retryLimit)
  /** One for each key that was added, and for each place that was freed or is left: then a key may have a place. */
  const turns = yield* Queue.unbounded<void>()
  const waiting = new FairKeys()
  const running = new Set<string>()
  const places = new Places(concurrency)
  const offerTurn = (): void => void (waiting.size > 0 && Queue.offerUnsafe(turns, undefined))
  const again = new Set<string>()
  const failures = new Map<string, number>()
  let later = 0
  const add = (key: string): void => {
    if (running.has(key)) again.add(key)
    else if (waiting.add(key)) Queue.offerUnsafe(turns, undefined)
  }
  const retry = Effect.fnUntraced(function* (key: string, error: KubeError | undefined) {
    const count = (failures.get(key) ?? 0) + 1
    failures.set(key, count)
    const turn = buckets?.of(namespaceOfKey(key)).take(yield* elapsedMs) ?? 0
    const wait = Math.max(turn, error === undefined ? DEFECT_WAIT_MS : yield* waitMs(count, error, retryFirstMs))
    later++
    yield* Effect.forkScoped(
      Effect.sleep(Duration.millis(wait)).pipe(
        Effect.ensuring(Effect.sync(() => later--)),
        Effect.andThen(Effect.sync(() => add(key))),
      ),
    )
  })
  const runOne = Effect.fnUntraced(function* (key: string) {
    observeRunning({ queue: name, key, isRunning: true })
    const ended = Effect.sync(() => observeRunning({ queue: name, key, isRunning: false }))
    const [elapsed, exit] = yield* Effect.timed(Effect.exit(options.work(key))).pipe(Effect.ensuring(ended))
    observe({ queue: name, key, isSuccess: exit._tag === 'Success', seconds: Duration.toSeconds(elapsed) })
    if (exit._tag === 'Success') {
      failures.delete(key)
      return
    }
    const error = exit.cause.reasons.find(Cause.isFailReason)?.error
    if (error === undefined) yield* Effect.logError(`${name}: defect`, key, Cause.pretty(exit.cause))
    else yield* Effect.logWarning(`${name}: will retry`, key, describeKubeError(error))
    yield* retry(key, error)
  })
  const worker = Effect.forever(
    Effect.gen(function* () {
      yield* Queue.take(turns)
      const key = waiting.take((namespace) => places.isFull(namespace))
      if (key === undefined) return
      running.add(key)
      places.enter(namespaceOfKey(key))
      offerTurn()
      yield* runOne(key)
      running.delete(key)
      places.leave(namespaceOfKey(key))
      if (again.delete(key)) add(key)
      offerTurn()
    }),
  )
  const logged = Effect.annotateLogs(worker, 'component', options.component)
  for (let i = 0; i < concurrency; i++) yield* Effect.forkScoped(logged)
  const made: WorkQueue = { add, isIdle: () => waiting.size === 0 && running.size === 0 && later === 0 }
  return made
})

const DEFECT_WAIT_MS = 10_000
