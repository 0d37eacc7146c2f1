// Only one of several replicas writes: the one that holds the Lease. A replica that stops releases it at once; after a
// crash the Lease expires and another replica takes it. Polling is one small request, so a watch would save little.
import { Clock, Data, Duration, Effect } from 'effect'
import type { OwnerReference } from '#api/kube/object-meta.ts'
import { KubeClient } from '../kube/client.ts'
import { describeKubeError, type KubeError } from '../kube/errors.ts'
import { elapsedMs } from '../kube/elapsed.ts'
import { type Fence, fenced, isClosed } from '../kube/fence.ts'
import { LEASES } from '../kube/resources.ts'
import type { KubeObject } from '../translate/kube.ts'
import type { OperatorSettings } from './settings.ts'

export const LEASE_NAME = 'gw-gw'

export interface LeaseTimes {
  /** A holder that has not renewed for this long is dead. */
  readonly durationSeconds: number
  /** A holder that could not renew for this long writes nothing; shorter than the duration. */
  readonly renewDeadlineMs: number
  /** From one renewal to the next. */
  readonly intervalMs: number
  /** From one poll of a waiting replica to the next. */
  readonly lookMs: number
}

/**
 * Renewed as often as by most controllers (resources supplement, section 2.16); shorter than theirs, so that another
 * replica replaces a crashed leader within 5 s.
 */
export const LEASE_TIMES: LeaseTimes = {
  durationSeconds: 4,
  renewDeadlineMs: 3000,
  intervalMs: 2000,
  lookMs: 500,
}

export interface Candidacy {
  readonly settings: OperatorSettings
  readonly times: LeaseTimes
  /** The owners of a new Lease, as far as they are known by now. */
  readonly owners: () => readonly OwnerReference[]
}

/** Another replica has the lease. */
export class LeadershipLost extends Data.TaggedError('LeadershipLost')<{ readonly identity: string }> {}

interface Seen {
  readonly record: string
  /**
   * When it expires without a renewal. By the own clock, because clocks of machines differ, and counted from when it
   * was read: it may have been written while the request was in progress.
   */
  readonly endMs: number
}

/**
 * Waits for the lease, runs `lead` while it is held, gives it back at the end. While renewals fail, as with a slow API
 * server, the writes of `lead` wait: a restart would make the server slower. It ends when another replica has the
 * lease.
 */
export const withLeadership = Effect.fn('operator.leadership')(function* (
  candidacy: Candidacy,
  lead: Effect.Effect<never, never, KubeClient>,
) {
  const { settings, times } = candidacy
  const { lease, sentAt } = yield* acquire(candidacy)
  yield* Effect.logInfo('leading', settings.identity)
  // Other replicas count from when they read the lease, which is after it was sent.
  const fence = fenceFrom(sentAt, times)
  const client = yield* KubeClient
  const leading = Effect.provideService(lead, KubeClient, fenced(client, fence))
  const renewing = renewUntilLost({ candidacy, fence, lease })
  return yield* Effect.raceFirst(leading, renewing).pipe(Effect.ensuring(release(settings)))
})

interface Moment {
  /** Of the time that only runs forward. */
  readonly ms: number
  readonly wallMs: number
}

const moment: Effect.Effect<Moment> = Effect.zipWith(elapsedMs, Clock.currentTimeMillis, (ms, wallMs) => ({
  ms,
  wallMs,
}))

function fenceFrom({ ms, wallMs }: Moment, { renewDeadlineMs }: LeaseTimes): Fence {
  return { untilMs: ms + renewDeadlineMs, untilWallMs: wallMs + renewDeadlineMs }
}

const acquire = Effect.fnUntraced(function* (candidacy: Candidacy) {
  const { times } = candidacy
  let seen: Seen | undefined = undefined
  for (;;) {
    const outcome: Outcome = yield* tryAcquire(candidacy, seen)
    if (outcome.held !== undefined) return outcome.held
    seen = outcome.seen
    const leftMs = seen === undefined ? times.lookMs : seen.endMs - (yield* elapsedMs)
    // At once when the lease expires; at this interval while the API server does not answer.
    yield* Effect.sleep(Duration.millis(leftMs > 0 ? Math.min(leftMs, times.lookMs) : times.lookMs))
  }
})

interface Held {
  /** As written. */
  readonly lease: KubeObject
  readonly sentAt: Moment
}

interface Outcome {
  readonly held?: Held
  readonly seen: Seen | undefined
}

const tryAcquire = Effect.fnUntraced(
  function* (candidacy: Candidacy, seen: Seen | undefined) {
    const { settings, times } = candidacy
    const client = yield* KubeClient
    const lease = yield* client
      .get(LEASES, settings.namespace, LEASE_NAME)
      .pipe(Effect.catchTag('KubeNotFound', () => Effect.succeed(undefined)))
    const now = yield* moment
    if (lease === undefined) {
      const state = { now: now.wallMs, transitions: 0, lease: undefined }
      const made = yield* client.create(leaseOf(candidacy, state), LEASES, settings.controllerName)
      return { held: { lease: made, sentAt: now }, seen }
    }
    const spec = specOf(lease)
    const record = JSON.stringify(spec)
    const seconds = spec.leaseDurationSeconds ?? times.durationSeconds
    const endMs = seen?.record === record ? seen.endMs : now.ms + seconds * 1000
    const holder = spec.holderIdentity ?? ''
    const isFree = holder === '' || holder === settings.identity || now.ms >= endMs
    if (!isFree) return { seen: { record, endMs } }
    const transitions = (spec.leaseTransitions ?? 0) + (holder === settings.identity ? 0 : 1)
    const taken = leaseOf(candidacy, { now: now.wallMs, transitions, lease })
    return {
      held: { lease: yield* client.replace(taken, LEASES, settings.controllerName), sentAt: now },
      seen,
    }
  },
  (effect, _candidacy, seen) =>
    effect.pipe(
      Effect.catch((error: KubeError) =>
        Effect.as(Effect.logDebug('lease not acquired', describeKubeError(error)), { seen }),
      ),
    ),
)

interface Renewing {
  readonly candidacy: Candidacy
  readonly fence: Fence
  readonly lease: KubeObject
}

const renewUntilLost = Effect.fnUntraced(function* ({ candidacy, fence, lease }: Renewing) {
  const { settings, times } = candidacy
  let last = lease
  let isInDoubt = false
  let waitMs = times.intervalMs
  for (;;) {
    yield* Effect.sleep(Duration.millis(waitMs))
    const sentAt = yield* moment
    const renewed: KubeObject | undefined = yield* renew(candidacy, last).pipe(
      Effect.timeoutOrElse({
        duration: Duration.millis(times.renewDeadlineMs),
        orElse: () => Effect.succeed(undefined),
      }),
    )
    // A failure is retried soon: the lease expires shortly.
    waitMs = renewed === undefined ? times.lookMs : times.intervalMs
    if (renewed !== undefined) last = renewed
    // As above.
    if (renewed !== undefined) Object.assign(fence, fenceFrom(sentAt, times))
    const wasInDoubt = isInDoubt
    isInDoubt = yield* isClosed(fence)
    if (isInDoubt && !wasInDoubt)
      yield* Effect.logWarning('lease not renewed in time, writes are paused', settings.identity)
    if (wasInDoubt && !isInDoubt) yield* Effect.logInfo('lease renewed, writes resume', settings.identity)
  }
})

/** undefined: the attempt failed. @fails when another replica holds the lease. */
const renew = Effect.fnUntraced(
  function* (candidacy: Candidacy, last: KubeObject) {
    const { settings } = candidacy
    const client = yield* KubeClient
    const now = yield* Clock.currentTimeMillis
    const write = (lease: KubeObject): Effect.Effect<KubeObject, KubeError> => {
      const transitions = specOf(lease).leaseTransitions ?? 0
      return client.replace(leaseOf(candidacy, { now, transitions, lease }), LEASES, settings.controllerName)
    }
    return yield* write(last).pipe(
      // Written meanwhile: by this replica, if the response to a renewal was late, or by another one.
      Effect.catchTag('KubeConflict', () =>
        client.get(LEASES, settings.namespace, LEASE_NAME).pipe(
          Effect.flatMap((lease): Effect.Effect<KubeObject, KubeError | LeadershipLost> => {
            const isOurs = specOf(lease).holderIdentity === settings.identity
            return isOurs ? write(lease) : Effect.fail(new LeadershipLost({ identity: settings.identity }))
          }),
        ),
      ),
      // The Lease was deleted: the first replica creates it again.
      Effect.catchTag('KubeNotFound', () => Effect.fail(new LeadershipLost({ identity: settings.identity }))),
    )
  },
  (effect) =>
    effect.pipe(
      Effect.catch((error: KubeError | LeadershipLost) =>
        error._tag === 'LeadershipLost'
          ? Effect.fail(error)
          : Effect.as(Effect.logWarning('lease not renewed', describeKubeError(error)), undefined),
      ),
    ),
)

const release = Effect.fnUntraced(
  function* (settings: OperatorSettings) {
    const client = yield* KubeClient
    const lease = yield* client.get(LEASES, settings.namespace, LEASE_NAME)
    const spec = specOf(lease)
    if (spec.holderIdentity !== settings.identity) return
    const free: KubeObject & { spec: LeaseSpec } = { ...lease, spec: { ...spec, holderIdentity: '' } }
    yield* client.replace(free, LEASES, settings.controllerName)
  },
  (effect) =>
    effect.pipe(
      Effect.timeout('2 seconds'),
      // Then other replicas wait until the lease expires.
      Effect.catch((error) => Effect.logWarning('cannot release the lease', error._tag)),
    ),
)

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

interface LeaseState {
  readonly now: number
  readonly transitions: number
  readonly lease: KubeObject | undefined
}

function leaseOf({ settings, times, owners }: Candidacy, { now, transitions, lease }: LeaseState): KubeObject {
  // metav1.MicroTime
  const time = new Date(now).toISOString().replace('Z', '000Z')
  const before = lease === undefined ? undefined : specOf(lease)
  const isSame = before?.holderIdentity === settings.identity
  const spec: LeaseSpec = {
    holderIdentity: settings.identity,
    leaseDurationSeconds: times.durationSeconds,
    acquireTime: (isSame ? before.acquireTime : undefined) ?? time,
    renewTime: time,
    leaseTransitions: transitions,
  }
  const metadata = lease?.metadata ?? newMetadata(settings, owners())
  const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
  return object
}

/** Only a new Lease gets owners: some clusters require the permission to delete it for a later change. */
function newMetadata({ namespace }: OperatorSettings, owners: readonly OwnerReference[]): KubeObject['metadata'] {
  return { name: LEASE_NAME, namespace, ...(owners.length > 0 && { ownerReferences: [...owners] }) }
}

function specOf(lease: KubeObject): LeaseSpec {
  // coordination.k8s.io/v1
  return (lease as { spec?: LeaseSpec }).spec ?? {}
}
