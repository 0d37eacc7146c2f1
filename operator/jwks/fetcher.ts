// Keeps the requested key sets fresh in the store: fetches them at once, again when they are due, and retries after
// failures. Old keys stay until new ones arrive.
import { Clock, Deferred, Effect, FiberMap, Result, Semaphore, type Scope } from 'effect'
import { elapsedMs } from '../kube/elapsed.ts'
import type { JwksRequest } from '../translate/policy/jwks-request.ts'
import type { StoredKeySet } from '../translate/policy/stored-key-sets.ts'
import { JwksFetchError, type JwksStoreError } from './errors.ts'
import type { JwksAnswer } from './exchange.ts'
import { JwksHttp } from './http.ts'
import { keySetOf } from '#api/credentials/key-set.ts'
import { goodForMs, retryMs } from './refresh.ts'
import type { OwnedRequest, Refresh } from './requests.ts'
import { JwksStore } from './store.ts'

/** Resources supplement section 2.17. */
const FETCHES_MAX = 10
const FETCH_MS_MAX = 10_000
/** Tokens with unknown keys trigger an early fetch, at most this often for each set. */
const OUT_OF_TURN_MS = 30_000

export interface JwksFetcher {
  /** All sets that are needed from now on. The same ones again change nothing. */
  readonly setRequests: (requests: readonly OwnedRequest[]) => Effect.Effect<void>
  /** A token has a key that is in no set: fetches early, unless that happened a moment ago. */
  readonly refresh: (requestKey: string) => Effect.Effect<void>
}

export interface FetchEvents {
  /** New or changed keys are in the store. `warnings`: the keys that were left out, without key material. */
  readonly stored: (entry: StoredKeySet, warnings: readonly string[]) => Effect.Effect<void>
  /** Called for each series of failures, and when its reason changes. */
  readonly failed: (error: JwksFetchError | JwksStoreError, request: JwksRequest) => Effect.Effect<void>
}

interface Task {
  readonly request: OwnedRequest
  /** Ends the present wait. */
  wake: Deferred.Deferred<void>
  /** The last early fetch. */
  wokenAtMs: number
}

export const makeJwksFetcher = Effect.fnUntraced(function* (
  events: FetchEvents,
): Effect.fn.Return<JwksFetcher, JwksStoreError, JwksStore | JwksHttp | Scope.Scope> {
  const store = yield* JwksStore
  return new Fetcher({
    events,
    store,
    http: yield* JwksHttp,
    permits: yield* Semaphore.make(FETCHES_MAX),
    fibers: yield* FiberMap.make<string>(),
    known: new Map((yield* store.list).map((entry) => [entry.requestKey, entry])),
  })
})

interface FetcherParts {
  readonly events: FetchEvents
  readonly store: JwksStore['Service']
  readonly http: JwksHttp['Service']
  readonly permits: Semaphore.Semaphore
  readonly fibers: FiberMap.FiberMap<string>
  /** What the store holds, by request key. */
  readonly known: Map<string, StoredKeySet>
}

class Fetcher implements JwksFetcher {
  readonly #parts: FetcherParts
  readonly #tasks = new Map<string, Task>()
  #isSynced = false

  constructor(parts: FetcherParts) {
    this.#parts = parts
  }

  setRequests(requests: readonly OwnedRequest[]): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const wanted = new Map(requests.map((request) => [request.key, request]))
      for (const key of this.#tasks.keys()) {
        if (wanted.has(key)) continue
        this.#tasks.delete(key)
        yield* FiberMap.remove(this.#parts.fibers, key)
      }
      for (const request of wanted.values()) yield* this.#follow(request)
      if (this.#isSynced) return
      this.#isSynced = true
      // If the store fails now, it is read again after the first fetch.
      yield* Effect.ignore(this.#removeOrphans())
    })
  }

  refresh(requestKey: string): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const task = this.#tasks.get(requestKey)
      const nowMs = yield* elapsedMs
      if (task === undefined || nowMs - task.wokenAtMs < OUT_OF_TURN_MS) return
      task.wokenAtMs = nowMs
      yield* Deferred.succeed(task.wake, undefined)
    })
  }

  #follow(request: OwnedRequest): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { key, refresh } = request
      const former = this.#tasks.get(key)
      if (isSame(former?.request.refresh, refresh)) return
      const task = { request, wake: yield* Deferred.make<void>(), wokenAtMs: former?.wokenAtMs ?? -Infinity }
      this.#tasks.set(key, task)
      yield* FiberMap.run(this.#parts.fibers, key, this.#run(task))
    })
  }

  #run(task: Task): Effect.Effect<never> {
    return Effect.gen({ self: this }, function* () {
      const { request } = task
      let waitMs = waitOf(this.#parts.known.get(request.key), request.refresh, yield* Clock.currentTimeMillis)
      let failures = 0
      let reason = ''
      for (;;) {
        if (waitMs > 0) yield* Effect.raceFirst(Effect.sleep(waitMs), Deferred.await(task.wake))
        task.wake = yield* Deferred.make<void>()
        const outcome = yield* Effect.result(this.#fetch(task))
        if (Result.isSuccess(outcome)) {
          waitMs = outcome.success
          failures = 0
          reason = ''
          continue
        }
        const { detail } = outcome.failure
        if (detail !== reason) yield* this.#parts.events.failed(outcome.failure, request)
        reason = detail
        waitMs = retryMs(request.refresh, ++failures)
      }
    })
  }

  /** How long the keys are valid. */
  #fetch(task: Task): Effect.Effect<number, JwksFetchError | JwksStoreError> {
    return Effect.gen({ self: this }, function* () {
      const { request } = task
      const { http, permits, store, known, events } = this.#parts
      const orElse = (): JwksFetchError =>
        new JwksFetchError({ url: request.url, detail: `no response within ${FETCH_MS_MAX / 1000} s` })
      const asking = Effect.timeoutOrElse(http.get(request), { duration: FETCH_MS_MAX, orElse })
      const answer = yield* permits.withPermit(asking)
      const { entry, warnings } = yield* entryOf(request, answer)
      yield* store.put(entry)
      const isNew = known.get(request.key)?.jwks !== entry.jwks
      known.set(request.key, entry)
      if (isNew) yield* events.stored(entry, warnings)
      yield* this.#removeOrphans()
      return goodForMs(request.refresh, answer, Date.parse(entry.fetchedAt))
    })
  }

  /** Not before the first list of requests: everything would be an orphan. */
  #removeOrphans(): Effect.Effect<void, JwksStoreError> {
    return Effect.gen({ self: this }, function* () {
      const { known, store } = this.#parts
      for (const key of known.keys()) {
        if (!this.#isSynced || this.#tasks.has(key)) continue
        yield* store.remove(key)
        known.delete(key)
      }
    })
  }
}

const entryOf = Effect.fnUntraced(function* ({ key, url }: JwksRequest, answer: JwksAnswer) {
  const outcome = keySetOf(answer.text)
  if ('problem' in outcome) return yield* new JwksFetchError({ url, detail: outcome.problem })
  const fetchedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const warnings = outcome.removed.map(({ message }) => message)
  return { entry: { requestKey: key, url, fetchedAt, jwks: outcome.jwks }, warnings }
})

/** Counted from the stored time, so that a restart does not fetch early. A time in the future counts as now. */
function waitOf(entry: StoredKeySet | undefined, refresh: Refresh, nowMs: number): number {
  const fetchedAtMs = Date.parse(entry?.fetchedAt ?? '')
  if (entry === undefined || refresh === 'asServerSays' || Number.isNaN(fetchedAtMs)) return 0
  return Math.max(0, Math.min(fetchedAtMs, nowMs) + refresh.afterMs - nowMs)
}

function isSame(one: Refresh | undefined, other: Refresh): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
