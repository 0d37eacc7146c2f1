// Keeps the cache like the cluster for one kind: list in pages, watch from there, resume, list again when the
// server has forgotten the version. A kind that is not served (its CRD is missing) counts as empty and is waited for.
import { Duration, Effect, Queue, Random, Ref } from 'effect'
import type { KubeObject } from '../translate/kube.ts'
import type { ObjectCache } from './cache.ts'
import { KubeClient, type ListOptions, type WatchEvent } from './client.ts'
import { describeKubeError, type KubeError, KubeExpired } from './errors.ts'
import { apiVersionOf, collectionPath, type Resource } from './resources.ts'
import { trim } from './trim.ts'

export interface ReflectorOptions {
  readonly resource: Resource
  /** Name in the cache; the kind, unless one kind is reflected twice. */
  readonly into: string
  readonly select: ListOptions
  readonly cache: ObjectCache
  /** Of which namespaces objects are kept. */
  readonly isSelected: (namespace: string) => boolean
  /** After every list, and when the kind turned out not to be served. */
  readonly onSynced: () => void
  /** A message asks for a new list, as after a change of the selected namespaces. */
  readonly relist: Queue.Dequeue<void>
}

const WATCH_SECONDS = 240
const WAIT_FIRST_MS = 100
const WAIT_MAX_MS = 10_000
/** How often a missing kind is looked for. */
const ABSENT_MS = 2000
/** After these it is certain that the kind is gone. */
const MISSES_MIN = 3

/** Runs until it is interrupted. */
export const reflect = Effect.fn('operator.reflect')(function* (options: ReflectorOptions) {
  const version = yield* Ref.make<string | undefined>(undefined)
  const failures = yield* Ref.make(0)
  const misses = yield* Ref.make(0)
  const step = Effect.gen(function* () {
    const from = yield* Ref.get(version)
    const next = from === undefined ? yield* list(options) : yield* watchUntilRelist(options, from)
    yield* Ref.set(version, next)
    yield* Ref.set(failures, 0)
    yield* Ref.set(misses, 0)
  })
  return yield* Effect.forever(
    step.pipe(
      Effect.catch((error) =>
        Effect.gen(function* () {
          if (error._tag === 'KubeExpired') return yield* Ref.set(version, undefined)
          if (error._tag === 'KubeNotFound') return yield* absent({ options, version, misses })
          const count = yield* Ref.updateAndGet(failures, (known) => known + 1)
          yield* Effect.logWarning(`watch of ${options.resource.plural} failed`, describeKubeError(error))
          return yield* Effect.sleep(Duration.millis(yield* waitMs(count, error)))
        }),
      ),
    ),
  )
})

interface Absence {
  readonly options: ReflectorOptions
  readonly version: Ref.Ref<string | undefined>
  /** Lists in a row that did not find the kind. */
  readonly misses: Ref.Ref<number>
}

/**
 * A version that is watched may go while another one is served, and an API server may forget a kind for a moment, as
 * one of several that starts. Policies must not be lost by that: objects that are known stay until it is certain.
 */
const absent = Effect.fnUntraced(function* ({ options: { cache, into, select, onSynced }, version, misses }: Absence) {
  const wasWatched = (yield* Ref.getAndSet(version, undefined)) !== undefined
  if (wasWatched) return yield* Effect.sleep(Duration.millis(WAIT_FIRST_MS))
  const count = yield* Ref.updateAndGet(misses, (known) => known + 1)
  if (count >= MISSES_MIN || !hasObjects(cache, into, select.namespace)) {
    cache.replace(into, [], select.namespace)
    onSynced()
  }
  return yield* Effect.sleep(Duration.millis(ABSENT_MS))
})

function hasObjects(cache: ObjectCache, into: string, namespace: string | undefined): boolean {
  if (namespace === undefined) return cache.count(into) > 0
  return [...cache.all(into)].some(({ metadata }) => metadata.namespace === namespace)
}

/** Doubling, scattered by half; what the server asks for goes first. */
export const waitMs = Effect.fnUntraced(function* (failures: number, error: KubeError, firstMs = WAIT_FIRST_MS) {
  if (error._tag === 'KubeRefused' && error.retryAfterMs !== undefined) return Math.min(error.retryAfterMs, WAIT_MAX_MS)
  const ms = Math.min(firstMs * 2 ** Math.min(failures - 1, 16), WAIT_MAX_MS)
  return ms / 2 + (yield* Random.next) * (ms / 2)
})

const list = Effect.fnUntraced(function* (options: ReflectorOptions) {
  const { resource, into, cache, isSelected, onSynced, select } = options
  const client = yield* KubeClient
  const objects: KubeObject[] = []
  let page = yield* client.list(resource, select)
  for (;;) {
    // Items of a list of this resource. Trimmed page by page: a whole list as it came is several times as large.
    for (const item of page.items as KubeObject[]) {
      const kept = isSelected(item.metadata.namespace ?? '') ? trim(item) : undefined
      if (kept !== undefined) objects.push(kept)
    }
    if (page.next === undefined) break
    page = yield* client.list(resource, select, page.next)
  }
  cache.replace(into, objects, select.namespace)
  onSynced()
  return page.resourceVersion
})

const watchUntilRelist = (options: ReflectorOptions, from: string) =>
  Effect.raceFirst(
    watch(options, from),
    Effect.map(Queue.take(options.relist), () => undefined),
  )

const watch = Effect.fnUntraced(function* (options: ReflectorOptions, from: string) {
  const { resource, select } = options
  const client = yield* KubeClient
  const seconds = Math.ceil(WATCH_SECONDS * (1 + (yield* Random.next)))
  let version: string | undefined = from
  const onEvent = (event: WatchEvent): void => {
    const seen = take(options, event)
    if (event.type === 'ERROR') version = undefined
    else if (version !== undefined && seen !== undefined) version = seen
  }
  // What was seen before the connection broke is not asked for again.
  const ended = yield* Effect.result(client.watch(resource, { ...select, from, seconds }, onEvent))
  if (version === undefined) return yield* new KubeExpired({ path: collectionPath(resource, '') })
  if (ended._tag === 'Success' || (version !== from && ended.failure._tag === 'KubeUnreachable')) return version
  return yield* Effect.fail(ended.failure)
})

/** The version of the event. */
function take(
  { resource, into, cache, isSelected }: ReflectorOptions,
  { type, object }: WatchEvent,
): string | undefined {
  if (typeof object !== 'object' || object === null || type === 'ERROR') return undefined
  // Objects of a watch of this resource; bookmarks have only a version.
  const seen = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind } as KubeObject
  const { namespace = '', resourceVersion } = seen.metadata
  if (type === 'DELETED') cache.remove(into, seen)
  else if ((type === 'ADDED' || type === 'MODIFIED') && isSelected(namespace)) cache.put(into, seen)
  return resourceVersion
}
