// Kubernetes Events about problems that a user must correct: one Event for each problem while it lasts, on its object.
// Their number is limited: the statuses report everything.
import { createHash } from 'node:crypto'
import { Clock, Effect } from 'effect'
import { printableLines } from '#api/printable.ts'
import { KubeClient } from '../kube/client.ts'
import { elapsedMs } from '../kube/elapsed.ts'
import { describeKubeError, type KubeError } from '../kube/errors.ts'
import { EVENTS } from '../kube/resources.ts'
import { KeyedBuckets } from '../kube/keyed-buckets.ts'
import { TokenBucket } from '../kube/token-bucket.ts'
import { fairlyAdmitted } from '../translate/fair-share.ts'
import type { KubeObject } from '../translate/kube.ts'
import { describe, type ObjectRef } from '../translate/object-ref.ts'

export interface Occurrence {
  readonly object: ObjectRef & { readonly uid: string }
  readonly reason: string
  readonly message: string
  /** Written only if the problem lasts this long: `kubectl apply` creates objects one after the other. */
  readonly afterMs: number
  /** With another value it is written again, as if the problem had come back. */
  readonly turn?: number
}

/** For all objects together, to limit the load of the API server. */
const WRITES = { perSecond: 10, burst: 50 } as const
/** For one object; further Events are dropped until no Event has been due for a while. */
const WRITES_OF_OBJECT = { perSecond: 1 / 60, burst: 10 } as const
/** Problems that are tracked at once. Namespaces share them fairly; the rest is only in the statuses. */
const STANDING_MAX = 10_000
/** Events that were written, for their counts. */
const REMEMBERED_MAX = 10_000
const MESSAGE_CHARS_MAX = 1024
/** Before the hash in the name of an Event. */
const NAME_CHARS_MAX = 200
/** Of objects that are in no namespace. */
const CLUSTER_NAMESPACE = 'default'

interface Standing {
  readonly id: string
  readonly occurrence: Occurrence
  readonly sinceMs: number
  state: 'new' | 'due' | 'written'
}

export class Events {
  readonly #component: string
  readonly #writes = new TokenBucket(WRITES)
  readonly #ofObjects = new KeyedBuckets(WRITES_OF_OBJECT)
  /** How often each was written. */
  readonly #counts = new Map<string, number>()
  #standing = new Map<string, Standing>()
  #isWaiting = false

  constructor(component: string) {
    this.#component = component
  }

  /** A problem has not lasted long enough yet: `update` must be called again. */
  get isWaiting(): boolean {
    return this.#isWaiting
  }

  /** All current problems; returns the keys of objects for `write`. A problem that comes back is written again. */
  update(occurrences: readonly Occurrence[], nowMs: number): string[] {
    const standing = new Map<string, Standing>()
    const keys = new Set<string>()
    this.#isWaiting = false
    for (const occurrence of fairly(occurrences)) {
      const { object, afterMs, turn } = occurrence
      const id = turn === undefined ? identityOf(occurrence) : `${identityOf(occurrence)} ${turn}`
      const one: Standing = this.#standing.get(id) ?? { id, occurrence, sinceMs: nowMs, state: 'new' }
      standing.set(id, one)
      if (one.state !== 'new') continue
      if (nowMs - one.sinceMs < afterMs) this.#isWaiting = true
      else {
        one.state = 'due'
        keys.add(describe(object))
      }
    }
    this.#standing = standing
    return [...keys]
  }

  /** Writes the due Events of one object. After a failure they are still due; the caller retries. */
  write(key: string): Effect.Effect<void, KubeError, KubeClient> {
    const due = [...this.#standing.values()].filter(
      ({ state, occurrence: { object } }) => state === 'due' && describe(object) === key,
    )
    return Effect.forEach(due, (one) => this.#tellOne(one), { discard: true })
  }

  #tellOne(one: Standing): Effect.Effect<void, KubeError, KubeClient> {
    return Effect.gen({ self: this }, function* () {
      const passedMs = yield* elapsedMs
      const { object, reason, message } = one.occurrence
      if (!this.#ofObjects.of(object.uid).tryTake(passedMs)) {
        one.state = 'written'
        yield* Effect.logDebug('event dropped: too many events for one object', describe(object), reason, message)
        return
      }
      const waitMs = this.#writes.take(passedMs)
      if (waitMs > 0) yield* Effect.sleep(waitMs)
      const known = this.#counts.get(identityOf(one.occurrence))
      const nowMs = yield* Clock.currentTimeMillis
      const count = yield* writeEvent({ ...one.occurrence, component: this.#component, known, nowMs })
      one.state = 'written'
      remember(this.#counts, identityOf(one.occurrence), count)
    })
  }
}

/** As many as problems can be tracked. */
function fairly(occurrences: readonly Occurrence[]): readonly Occurrence[] {
  const claimants = occurrences.map(({ object: { namespace } }) => ({ namespace, cost: 1 }))
  const admitted = fairlyAdmitted(claimants, STANDING_MAX)
  return admitted === undefined ? occurrences : occurrences.filter((_, at) => admitted[at])
}

function identityOf({ object, reason, message }: Occurrence): string {
  return `${object.uid} ${reason} ${message}`
}

function remember<T>(known: Map<string, T>, key: string, value: T): void {
  if (known.size >= REMEMBERED_MAX) known.clear()
  known.set(key, value)
}

interface EventInput extends Occurrence {
  readonly component: string
  /** How often this process and earlier ones have written it, as read from the Event; undefined: not known yet. */
  readonly known: number | undefined
  readonly nowMs: number
}

/**
 * How often it has been written now. The name follows from the content, so that the next leader finds the Event and
 * writes no second one: then the problem has lasted all the time, and the Event stays unchanged.
 */
const writeEvent = Effect.fnUntraced(
  function* (input: EventInput) {
    const client = yield* KubeClient
    const event = eventOf(input)
    const { name, namespace = '' } = event.metadata
    const { count, lastTimestamp } = event
    const written: KubeObject & { readonly count?: number } = yield* client.create(event, EVENTS, input.component).pipe(
      Effect.catchTag('KubeConflict', () => {
        // The permission to read Events is not needed: a patch without changes returns the object.
        const change = input.known === undefined ? {} : { lastTimestamp, count }
        return client.patch({ resource: EVENTS, namespace, name, isStatus: false }, change)
      }),
    )
    return written.count ?? count
  },
  // Not allowed, or the namespace is being deleted: a retry would fail as well.
  Effect.catchIf(isFinal, (error) => Effect.as(Effect.logWarning('event not written', describeKubeError(error)), 1)),
)

const TOO_MANY_REQUESTS = 429

function isFinal(error: KubeError): boolean {
  if (error._tag === 'KubeNotFound') return true
  return error._tag === 'KubeRefused' && error.status < 500 && error.status !== TOO_MANY_REQUESTS
}

interface EventObject extends KubeObject {
  readonly count: number
  readonly lastTimestamp: string
}

function eventOf({ object, component, reason, message, known = 0, nowMs }: EventInput): EventObject {
  const { apiVersion, kind, namespace, name, uid } = object
  const time = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  const hash = createHash('sha256')
    .update(JSON.stringify([kind, uid, reason, message]))
    .digest('hex')
    .slice(0, 16)
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${name.slice(0, NAME_CHARS_MAX).replace(/[.-]+$/, '')}.${hash}`,
      namespace: namespace === '' ? CLUSTER_NAMESPACE : namespace,
    },
    type: 'Warning',
    reason,
    message: printableLines(message).slice(0, MESSAGE_CHARS_MAX),
    involvedObject: { apiVersion, kind, name, uid, ...(namespace !== '' && { namespace }) },
    source: { component },
    firstTimestamp: time,
    lastTimestamp: time,
    count: known + 1,
  }
  return event
}
