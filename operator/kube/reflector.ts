// Keeps the cache like the cluster for one kind: list, watch from there, resume, list again when the server has
// forgotten the version. The list is the beginning of the watch where the server has streamed lists, which takes less
// memory of both, otherwise it comes in pages. A kind that is not served (its CRD is missing) counts as empty and is
// waited for.
import { Data, Duration, Effect, Queue, Random } from 'effect'
import type { KubeObject } from '../translate/kube.ts'
import { keyOf } from '../translate/object-ref.ts'
import type { ObjectCache } from './cache.ts'
import { endsInitial, KubeClient, type ListOptions, type WatchEvent } from './client.ts'
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
/** Until a list in pages, where the server sends nothing although the list is not complete. */
const STREAM_STALL_MS = 10_000
/** Bad request, and invalid: the server has no streamed lists. */
const STREAM_REJECTED: ReadonlySet<number> = new Set([400, 422])
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
  /** False: the server has rejected a streamed list, or sent none. */
  canStream: boolean
}

/** Runs until it is interrupted. */
export const reflect = Effect.fn('operator.reflect')(function* (options: ReflectorOptions) {
  const at: Progress = {
    version: undefined,
    failures: 0,
    misses: 0,
    expirations: 0,
    lostAtMs: undefined,
    canStream: true,
  }
  const onOpen = (): void => {
    at.lostAtMs = undefined
    options.onFollowed(undefined)
  }
  const step = Effect.gen(function* () {
    const from = at.version
    const isPaged = from === undefined && !isStreamed(options, at)
    at.version = isPaged ? yield* list(options) : yield* watchUntilRelist(options, at, { from, onOpen })
    onOpen()
    at.failures = 0
    at.misses = 0
    if (!isPaged) at.expirations = 0
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

/** Kinds with several versions are looked for with a list. */
function isStreamed({ resource }: ReflectorOptions, { canStream }: Progress): boolean {
  return canStream && resource.older === undefined
}

interface From {
  /** undefined: the current objects first. */
  readonly from: string | undefined
  readonly onOpen: () => void
}

/** The version to continue from; undefined: a new list is needed. */
const watchUntilRelist = (options: ReflectorOptions, at: Progress, where: From) =>
  Effect.raceFirst(
    where.from === undefined ? streamOrList(options, at, where.onOpen) : watch(options, where.from, where.onOpen),
    Effect.map(Queue.take(options.relist), () => undefined),
  )

/** The server ended the watch, or stopped sending, before all current objects had arrived. */
class NotStreamed extends Data.TaggedError('NotStreamed') {}

const streamOrList = (options: ReflectorOptions, at: Progress, onOpen: () => void) =>
  streamed(options, onOpen).pipe(
    Effect.catch((error) => {
      const isRejected = error._tag === 'KubeRefused' && STREAM_REJECTED.has(error.status)
      if (isRejected) at.canStream = false
      return isRejected || error._tag === 'NotStreamed' ? list(options) : Effect.fail(error)
    }),
  )

/** The current objects and the changes that follow, in one response. */
const streamed = Effect.fnUntraced(function* (options: ReflectorOptions, onOpen: () => void) {
  const { resource, into, cache, select, onSynced } = options
  const client = yield* KubeClient
  const initial = new Map<string, KubeObject>()
  const at: Stream = { version: undefined, events: 0, isExpired: false }
  const onEvent = (event: WatchEvent): void => {
    at.events += 1
    if (event.type === 'ERROR') at.isExpired = true
    else if (at.version !== undefined) at.version = take(options, event) ?? at.version
    else if (endsInitial(event)) {
      cache.replace(into, [...initial.values()], select.namespace)
      initial.clear()
      at.version = objectOf(options, event)?.metadata.resourceVersion
      onSynced()
      onOpen()
    } else collect(options, event, initial)
  }
  const seconds = yield* watchSeconds
  const watching = client.watch(resource, { ...select, from: undefined, seconds, onOpen: () => undefined }, onEvent)
  const ended = yield* Effect.result(Effect.raceFirst(watching, stalled(at)))
  if (at.isExpired) return yield* new KubeExpired({ path: collectionPath(resource, '') })
  const { version } = at
  if (version !== undefined && (ended._tag === 'Success' || ended.failure._tag === 'KubeUnreachable')) return version
  return yield* ended._tag === 'Success' ? new NotStreamed() : Effect.fail(ended.failure)
})

interface Stream {
  /** undefined: the list is not complete. */
  version: string | undefined
  events: number
  isExpired: boolean
}

/** Fails when nothing has arrived for a while although the list is not complete. */
const stalled = Effect.fnUntraced(function* (at: Stream) {
  for (;;) {
    const { events } = at
    yield* Effect.sleep(Duration.millis(STREAM_STALL_MS))
    if (at.version !== undefined) return yield* Effect.never
    if (at.events === events) return yield* new NotStreamed()
  }
})

/** An object of a streamed list, or its change before the list is complete. */
function collect(options: ReflectorOptions, event: WatchEvent, into: Map<string, KubeObject>): void {
  const seen = objectOf(options, event)
  if (seen === undefined || event.type === 'BOOKMARK') return
  const isThere = event.type !== 'DELETED' && isWanted(options, seen)
  const kept = isThere ? options.cache.fit(options.into, seen) : undefined
  if (kept === undefined) into.delete(keyOf(seen))
  else into.set(keyOf(seen), kept)
}

const watch = Effect.fnUntraced(function* (options: ReflectorOptions, from: string, onOpen: () => void) {
  const { resource, select } = options
  const client = yield* KubeClient
  const seconds = yield* watchSeconds
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

/** Up to twice as long: watches that began together must not end together. */
const watchSeconds = Effect.map(Random.next, (random) => Math.ceil(WATCH_SECONDS * (1 + random)))

function isWanted({ isSelected, isKept }: ReflectorOptions, object: KubeObject): boolean {
  return isSelected(object.metadata.namespace ?? '') && isKept?.(object) !== false
}

/** The version of the event. */
function take(options: ReflectorOptions, event: WatchEvent): string | undefined {
  const { into, cache } = options
  const seen = objectOf(options, event)
  if (seen === undefined) return undefined
  const isChange = event.type === 'ADDED' || event.type === 'MODIFIED'
  if (isChange && isWanted(options, seen)) cache.put(into, seen)
  // Deleted, or changed so that it is no longer kept.
  else if (event.type === 'DELETED' || (isChange && options.isKept !== undefined)) cache.remove(into, seen)
  return seen.metadata.resourceVersion
}

/** Bookmarks have only a version. */
function objectOf({ resource }: ReflectorOptions, { type, object }: WatchEvent): KubeObject | undefined {
  if (typeof object !== 'object' || object === null || type === 'ERROR') return undefined
  // Of a watch of this resource.
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind } as KubeObject
}
