// Keeps the cache like the cluster for one kind: list in pages, watch from there, resume, list again when the
// server has forgotten the version. A kind that is not served (its CRD is missing) counts as empty and is waited for.
import { Duration, Effect, Queue, Random } from 'effect'
import type { KubeObject } from '../translate/kube.ts'
import type { ObjectCache } from './cache.ts'
import { KubeClient, type ListOptions, type WatchEvent } from './client.ts'
import { elapsedMs } from './elapsed.ts'
import { describeKubeError, type KubeError, KubeExpired } from './errors.ts'
import { apiVersionOf, collectionPath, type Resource } from './resources.ts'

export interface ReflectorOptions {
  readonly resource: Resource
  /** Name in the cache; the kind, unless one kind is reflected twice. */
  readonly into: string
  readonly select: ListOptions
  readonly cache: ObjectCache
  /** The namespaces whose objects are kept. */
  readonly isSelected: (namespace: string) => boolean
  /** Which of their objects are kept; undefined: all. */
  readonly isKept?: ((object: KubeObject) => boolean) | undefined
  /** After every list, and when the kind turned out not to be served. */
  readonly onSynced: () => void
  /** After each list, watch and failure: for how long the cluster has not been followed; undefined: it is. */
  readonly onFollowed: (lostMs: number | undefined) => void
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

/** The progress of a reflector. */
interface Progress {
  /** To watch from; undefined: to be listed. */
  version: string | undefined
  /** All in a row. */
  failures: number
  /** Lists that did not find the kind. */
  misses: number
  /** Watches whose version had expired although it was that of a list. */
  expirations: number
  /** Since when the cluster is not followed. */
  lostAtMs: number | undefined
}

/** Runs until it is interrupted. */
export const reflect = Effect.fn('operator.reflect')(function* (options: ReflectorOptions) {
  const at: Progress = { version: undefined, failures: 0, misses: 0, expirations: 0, lostAtMs: undefined }
  const onOpen = (): void => {
    at.lostAtMs = undefined
    options.onFollowed(undefined)
  }
  const step = Effect.gen(function* () {
    const from = at.version
    at.version = from === undefined ? yield* list(options) : yield* watchUntilRelist(options, from, onOpen)
    onOpen()
    at.failures = 0
    at.misses = 0
    if (from !== undefined) at.expirations = 0
  })
  return yield* Effect.forever(step.pipe(Effect.catch((error) => recover(options, at, error))))
})

const recover = Effect.fnUntraced(function* (options: ReflectorOptions, at: Progress, error: KubeError) {
  if (error._tag === 'KubeExpired') {
    at.version = undefined
    at.expirations += 1
    // Limits the rate of lists on a server whose versions expire at once.
    if (at.expirations > 1) yield* Effect.sleep(Duration.millis(yield* waitMs(at.expirations - 1, error)))
    return
  }
  const nowMs = yield* elapsedMs
  if (error._tag === 'KubeNotFound') {
    at.lostAtMs = undefined
    options.onFollowed(undefined)
    yield* absent(options, at)
    return
  }
  at.lostAtMs ??= nowMs
  at.failures += 1
  options.onFollowed(nowMs - at.lostAtMs)
  yield* Effect.logWarning(`watch of ${options.resource.plural} failed`, describeKubeError(error))
  yield* Effect.sleep(Duration.millis(yield* waitMs(at.failures, error)))
})

/**
 * A watched version may disappear while another one is served, and one of several API servers may not have a kind for
 * a moment while it starts. Policies must not get lost by that: known objects stay until it is certain.
 */
const absent = Effect.fnUntraced(function* ({ cache, into, select, onSynced }: ReflectorOptions, at: Progress) {
  const wasWatched = at.version !== undefined
  at.version = undefined
  if (wasWatched) return yield* Effect.sleep(Duration.millis(WAIT_FIRST_MS))
  at.misses += 1
  if (at.misses >= MISSES_MIN || !hasObjects(cache, into, select.namespace)) {
    cache.replace(into, [], select.namespace)
    onSynced()
  }
  return yield* Effect.sleep(Duration.millis(ABSENT_MS))
})

function hasObjects(cache: ObjectCache, into: string, namespace: string | undefined): boolean {
  if (namespace === undefined) return cache.count(into) > 0
  return [...cache.all(into)].some(({ metadata }) => metadata.namespace === namespace)
}

/** Doubling, with a jitter of half; a time that the server requests takes precedence. */
export const waitMs = Effect.fnUntraced(function* (failures: number, error: KubeError, firstMs = WAIT_FIRST_MS) {
  if (error._tag === 'KubeRefused' && error.retryAfterMs !== undefined) return Math.min(error.retryAfterMs, WAIT_MAX_MS)
  const ms = Math.min(firstMs * 2 ** Math.min(failures - 1, 16), WAIT_MAX_MS)
  return ms / 2 + (yield* Random.next) * (ms / 2)
})

const list = Effect.fnUntraced(function* (options: ReflectorOptions) {
  const { resource, into, cache, onSynced, select } = options
  const client = yield* KubeClient
  const objects: KubeObject[] = []
  let page = yield* client.list(resource, select)
  for (;;) {
    // Items of a list of this resource. Trimmed page by page: a whole list as it came is several times as large.
    for (const item of page.items as KubeObject[]) {
      const kept = isWanted(options, item) ? cache.fit(into, item) : undefined
      if (kept !== undefined) objects.push(kept)
    }
    if (page.next === undefined) break
    page = yield* client.list(resource, select, page.next)
  }
  cache.replace(into, objects, select.namespace)
  onSynced()
  return page.resourceVersion
})

const watchUntilRelist = (options: ReflectorOptions, from: string, onOpen: () => void) =>
  Effect.raceFirst(
    watch(options, from, onOpen),
    Effect.map(Queue.take(options.relist), () => undefined),
  )

const watch = Effect.fnUntraced(function* (options: ReflectorOptions, from: string, onOpen: () => void) {
  const { resource, select } = options
  const client = yield* KubeClient
  const seconds = Math.ceil(WATCH_SECONDS * (1 + (yield* Random.next)))
  let version: string | undefined = from
  const onEvent = (event: WatchEvent): void => {
    const seen = take(options, event)
    if (event.type === 'ERROR') version = undefined
    else if (version !== undefined && seen !== undefined) version = seen
  }
  // Changes received before the connection broke are not requested again.
  const ended = yield* Effect.result(client.watch(resource, { ...select, from, seconds, onOpen }, onEvent))
  if (version === undefined) return yield* new KubeExpired({ path: collectionPath(resource, '') })
  if (ended._tag === 'Success' || (version !== from && ended.failure._tag === 'KubeUnreachable')) return version
  return yield* Effect.fail(ended.failure)
})

function isWanted({ isSelected, isKept }: ReflectorOptions, object: KubeObject): boolean {
  return isSelected(object.metadata.namespace ?? '') && isKept?.(object) !== false
}

/** The version of the event. */
function take(options: ReflectorOptions, { type, object }: WatchEvent): string | undefined {
  const { resource, into, cache } = options
  if (typeof object !== 'object' || object === null || type === 'ERROR') return undefined
  // Objects of a watch of this resource; bookmarks have only a version.
  const seen = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind } as KubeObject
  const isChange = type === 'ADDED' || type === 'MODIFIED'
  if (isChange && isWanted(options, seen)) cache.put(into, seen)
  // Deleted, or changed so that it is no longer kept.
  else if (type === 'DELETED' || (isChange && options.isKept !== undefined)) cache.remove(into, seen)
  return seen.metadata.resourceVersion
}
