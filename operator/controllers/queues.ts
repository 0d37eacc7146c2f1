// The queues of the leader: which work, how much of it at once, and how often what fails is tried again.
import { Effect } from 'effect'
import type { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import { makeWorkQueue, type WorkQueue, type WorkQueueOptions } from '../kube/work-queue.ts'
import type { ObjectStatus } from '../status/object-status.ts'
import type { Events } from './events.ts'
import { applyGatewayClass } from './gateway-class.ts'
import { statusWriter } from './status-writer.ts'
import type { TurnOfStatuses } from './turn-of-statuses.ts'
import type { World } from './world.ts'

/** Status writes at the same time; resources supplement, section 2.10. */
const STATUS_WRITERS = 100
const PUBLISHERS = 16
const DEPLOYERS = 8
/** Resources supplement, section 2.15. */
const DEPLOY_RETRIES = { retryFirstMs: 500, retryLimit: { perSecond: 10, burst: 100 } } as const

export interface Queues {
  readonly publish: WorkQueue
  readonly deploy: WorkQueue
  readonly status: WorkQueue
  readonly gatewayClass: WorkQueue
  readonly rejections: WorkQueue
  readonly events: WorkQueue
}

/** Log components of the queues. */
const COMPONENTS = {
  publisher: 'publisher',
  gateway: 'deployer',
  status: 'status',
  gatewayclass: 'gateway-controller',
  rejections: 'gateway-controller',
  events: 'gateway-controller',
} as const

type Job = (key: string) => Effect.Effect<void, KubeError, KubeClient>

/** Keys are `namespace/name` of Gateways, but for statuses and events: `HTTPRoute shop/cart`. */
interface Work {
  readonly world: World
  readonly events: Events
  readonly turnOfStatuses: TurnOfStatuses
  readonly publish: Job
  readonly deploy: Job
  readonly countRejections: Job
  readonly desired: (kind: string, key: string) => ObjectStatus | undefined
}

export const makeQueues = Effect.fnUntraced(function* (leader: Work) {
  const { observer, cache, settings } = leader.world
  const { run: observe, running: observeRunning } = observer
  const queue = (
    name: keyof typeof COMPONENTS,
    concurrency: number,
    work: Job,
    retries: Pick<WorkQueueOptions, 'retryFirstMs' | 'retryLimit'> = {},
  ) => makeWorkQueue({ name, component: COMPONENTS[name], concurrency, work, observe, observeRunning, ...retries })
  const writeStatus = statusWriter({
    cache,
    controllerName: settings.controllerName,
    desired: (kind, key) => leader.desired(kind, key),
    onWritten: () => observer.wrote('status', 1),
  })
  const queues: Queues = {
    publish: yield* queue('publisher', PUBLISHERS, (key) => leader.publish(key)),
    deploy: yield* queue('gateway', DEPLOYERS, (key) => leader.deploy(key), DEPLOY_RETRIES),
    status: yield* queue('status', STATUS_WRITERS, (key) =>
      Effect.andThen(leader.turnOfStatuses.come, writeStatus(key)),
    ),
    gatewayClass: yield* queue('gatewayclass', 1, () => applyGatewayClass(settings)),
    rejections: yield* queue('rejections', 1, (key) => leader.countRejections(key)),
    events: yield* queue('events', 1, (key) => leader.events.tell(key)),
  }
  return queues
})
