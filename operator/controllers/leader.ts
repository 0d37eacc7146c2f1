// One of several replicas writes: the one that holds the Lease. A replica that stops gives it back at once; one that
// dies is followed when its time is over. Watching would save nothing: a look takes one small request each second.
import { Clock, Data, Duration, Effect } from 'effect'
import { KubeClient } from '../kube/client.ts'
import { describeKubeError, type KubeError } from '../kube/errors.ts'
import { LEASES } from '../kube/resources.ts'
import type { KubeObject } from '../translate/kube.ts'
import type { OperatorSettings } from './settings.ts'

export const LEASE_NAME = 'gw-gw'

export interface LeaseTimes {
  /** A holder that has not renewed for this long is dead. */
  readonly durationSeconds: number
  /** A holder that could not renew for this long stops writing; shorter than the duration. */
  readonly renewDeadlineMs: number
  readonly intervalMs: number
}

/** Shorter than those of most controllers, so that a dead leader is followed within 5 s. */
export const LEASE_TIMES: LeaseTimes = { durationSeconds: 4, renewDeadlineMs: 3000, intervalMs: 1000 }

/** The lease could not be renewed in time: another replica may write from now on. */
export class LeadershipLost extends Data.TaggedError('LeadershipLost')<{ readonly identity: string }> {}

interface Seen {
  readonly record: string
  /** By our own clock: clocks of machines differ. */
  readonly atMs: number
}

/** Waits for the lease, runs `lead` while it is held, gives it back at the end. Ends when it is lost. */
export const withLeadership = Effect.fn('operator.leadership')(function* (
  settings: OperatorSettings,
  times: LeaseTimes,
  lead: Effect.Effect<never, never, KubeClient>,
) {
  yield* acquire(settings, times)
  yield* Effect.logInfo('leading', settings.identity)
  return yield* Effect.raceFirst(lead, renewUntilLost(settings, times)).pipe(Effect.ensuring(release(settings)))
})

const acquire = Effect.fnUntraced(function* (settings: OperatorSettings, times: LeaseTimes) {
  let seen: Seen | undefined = undefined
  for (;;) {
    const outcome: Outcome = yield* tryAcquire(settings, times, seen)
    if (outcome.isHeld) return
    seen = outcome.seen
    yield* Effect.sleep(Duration.millis(times.intervalMs))
  }
})

interface Outcome {
  readonly isHeld: boolean
  readonly seen: Seen | undefined
}

const tryAcquire = Effect.fnUntraced(
  function* (settings: OperatorSettings, times: LeaseTimes, seen: Seen | undefined) {
    const client = yield* KubeClient
    const now = yield* Clock.currentTimeMillis
    const lease = yield* client
      .get(LEASES, settings.namespace, LEASE_NAME)
      .pipe(Effect.catchTag('KubeNotFound', () => Effect.succeed(undefined)))
    if (lease === undefined) {
      yield* client.create(leaseOf(settings, times, { now, transitions: 0, lease: undefined }), LEASES)
      return { isHeld: true, seen }
    }
    const spec = specOf(lease)
    const record = JSON.stringify(spec)
    const since = seen?.record === record ? seen.atMs : now
    const holder = spec.holderIdentity ?? ''
    const seconds = spec.leaseDurationSeconds ?? times.durationSeconds
    const isFree = holder === '' || holder === settings.identity || now - since >= seconds * 1000
    if (!isFree) return { isHeld: false, seen: { record, atMs: since } }
    const transitions = (spec.leaseTransitions ?? 0) + (holder === settings.identity ? 0 : 1)
    yield* client.replace(leaseOf(settings, times, { now, transitions, lease }), LEASES)
    return { isHeld: true, seen }
  },
  (effect, _settings, _times, seen) =>
    effect.pipe(
      Effect.catch((error: KubeError) =>
        Effect.as(Effect.logDebug('lease not acquired', describeKubeError(error)), { isHeld: false, seen }),
      ),
    ),
)

const renewUntilLost = Effect.fnUntraced(function* (settings: OperatorSettings, times: LeaseTimes) {
  let renewedAt = yield* Clock.currentTimeMillis
  for (;;) {
    yield* Effect.sleep(Duration.millis(times.intervalMs))
    const isRenewed = yield* renew(settings, times).pipe(
      Effect.timeoutOrElse({ duration: Duration.millis(times.renewDeadlineMs), orElse: () => Effect.succeed(false) }),
    )
    const now = yield* Clock.currentTimeMillis
    if (isRenewed) renewedAt = now
    else if (now - renewedAt >= times.renewDeadlineMs) return yield* new LeadershipLost({ identity: settings.identity })
  }
})

/** False when it did not work this time. A lease of somebody else ends the leadership by the deadline. */
const renew = Effect.fnUntraced(
  function* (settings: OperatorSettings, times: LeaseTimes) {
    const client = yield* KubeClient
    const now = yield* Clock.currentTimeMillis
    const lease = yield* client.get(LEASES, settings.namespace, LEASE_NAME)
    const spec = specOf(lease)
    if (spec.holderIdentity !== settings.identity) return false
    yield* client.replace(leaseOf(settings, times, { now, transitions: spec.leaseTransitions ?? 0, lease }), LEASES)
    return true
  },
  (effect) =>
    effect.pipe(
      Effect.catch((error: KubeError) =>
        Effect.as(Effect.logWarning('lease not renewed', describeKubeError(error)), false),
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
    yield* client.replace(free, LEASES)
  },
  (effect) =>
    effect.pipe(
      Effect.timeout('2 seconds'),
      // Then the time of the lease has to pass.
      Effect.catch((error) => Effect.logWarning('lease not given back', error._tag)),
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

function leaseOf(settings: OperatorSettings, times: LeaseTimes, { now, transitions, lease }: LeaseState): KubeObject {
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
  const metadata = lease?.metadata ?? { name: LEASE_NAME, namespace: settings.namespace }
  const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
  return object
}

function specOf(lease: KubeObject): LeaseSpec {
  // coordination.k8s.io/v1
  return (lease as { spec?: LeaseSpec }).spec ?? {}
}
