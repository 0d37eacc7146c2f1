// Replicas of the operator on virtual time, with a fake API server in this process. They can be stopped as by a rolling
// update, killed, and cut off; writes while another replica holds the Lease are recorded. For tests only.
import { Clock, Effect, Exit, Layer, Logger, Random, Scope } from 'effect'
import { LEASE_NAME } from '#operator/controllers/lease.ts'
import { type RunningOperator, startOperator } from '#operator/controllers/operator.ts'
import { KubeClient } from '#operator/kube/client.ts'
import { IDLE_OBSERVER, settingsFor } from '../../operator/controllers/operator.testing.ts'
import { type FakeApi, type FakeCall, REVIEWS } from './api.ts'
import { DirectTransport } from './direct-transport.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface ReplicaSite {
  readonly api: FakeApi
  readonly time: VirtualTime
  readonly seed: string
  readonly latencyMs: () => number
  /** Writes of replicas that did not hold the Lease, as text. */
  readonly wrongWrites: string[]
  readonly environment?: Readonly<Record<string, string>>
}

export interface Replica {
  readonly name: string
  readonly operator: RunningOperator
  readonly log: readonly string[]
  cut(): void
  heal(): void
  /** Stops it gracefully: it releases the Lease. */
  stop(): Promise<void>
  /** Kills it between two instructions. */
  kill(): Promise<void>
}

const START_MS_MAX = 60_000
const END_MS_MAX = 60_000
export const LEASES = 'leases.coordination.k8s.io'
/** Calls that a replica without the Lease may make too. */
export const NO_WRITES: ReadonlySet<string> = new Set([LEASES, REVIEWS])

export async function startReplica(site: ReplicaSite, name: string): Promise<Replica> {
  const { api, time, latencyMs, environment = {} } = site
  const log: string[] = []
  const logger = Logger.make(({ message, logLevel }) => {
    log.push(`${time.nowMs} ${logLevel} ${JSON.stringify(message)}`)
  })
  const onWrite = (call: FakeCall): void => {
    const holder = holderOf(api)
    if (NO_WRITES.has(call.resource) || holder === undefined || holder === name) return
    site.wrongWrites.push(`${time.nowMs}: ${name} wrote ${call.path} while ${holder} held the Lease`)
  }
  const transport = new DirectTransport({ api, time, latencyMs, onWrite })
  const scope = Effect.runSync(Scope.make())
  const starting = startOperator({
    settings: settingsFor(environment, name),
    observer: IDLE_OBSERVER,
  }).pipe(
    Scope.provide(scope),
    Effect.provide(Layer.merge(KubeClient.layerOf(transport), Logger.layer([logger]))),
    Effect.provideService(Clock.Clock, time.clock),
    Random.withSeed(`${site.seed} ${name}`),
  )
  const operator = await time.wait(Effect.runPromise(starting), START_MS_MAX)
  const end = async (): Promise<void> => {
    const closing = Effect.runPromise(
      Scope.close(scope, Exit.void).pipe(Effect.provideService(Clock.Clock, time.clock)),
    )
    await time.wait(closing, END_MS_MAX)
    transport.close()
  }
  return {
    name,
    operator,
    log,
    cut: () => transport.cut(),
    heal: () => transport.heal(),
    stop: end,
    kill: async () => {
      transport.cut()
      await end()
    },
  }
}

/** undefined: the Lease does not exist yet or has no holder. */
export function holderOf(api: FakeApi): string | undefined {
  const lease = api.store.list(LEASES).find(({ metadata }) => metadata.name === LEASE_NAME)
  // coordination.k8s.io/v1
  const { holderIdentity } = { ...(lease?.['spec'] as { holderIdentity?: string } | undefined) }
  return holderIdentity === '' ? undefined : holderIdentity
}
