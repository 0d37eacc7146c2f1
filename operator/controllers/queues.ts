// The queues of the leader: their concurrency and their retries. The work of each queue is in its own file.
import { Effect } from 'effect'
import type { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import { makeWorkQueue, type WorkQueue, type WorkQueueOptions } from '../kube/work-queue.ts'
import type { World } from './world.ts'

/** The part of a queue that its worker uses. An added key runs later. */
export type Keys = Pick<WorkQueue, 'add'>

/** Keys are `namespace/name` of Gateways; in the queues of statuses and events `HTTPRoute shop/cart`. */
interface Worker {
  run(key: string): Effect.Effect<void, KubeError, KubeClient>
}

type QueueSettings = Pick<WorkQueueOptions, 'name' | 'component' | 'concurrency' | 'retryFirstMs' | 'retryLimit'>

/** `component`: of the log lines. Of `concurrency`, one namespace gets half. */
export const QUEUES = {
  publish: { name: 'publisher', component: 'publisher', concurrency: 32 },
  deploy: {
    name: 'gateway',
    component: 'deployer',
    concurrency: 16,
    // Resources supplement, section 2.15.
    retryFirstMs: 500,
    retryLimit: { perSecond: 10, burst: 100 },
  },
  // Resources supplement, section 2.10: 100 for a namespace.
  status: { name: 'status', component: 'status', concurrency: 200 },
  gatewayClass: { name: 'gatewayclass', component: 'gateway-controller', concurrency: 1 },
  rejections: { name: 'rejections', component: 'gateway-controller', concurrency: 1 },
  events: { name: 'events', component: 'gateway-controller', concurrency: 1 },
} as const satisfies Readonly<Record<string, QueueSettings>>

export interface Queued<W> {
  readonly queue: WorkQueue
  readonly worker: W
}

/** A queue, and the worker that adds keys to it and runs them. */
export const queued = Effect.fnUntraced(function* <W extends Worker>(
  { observer: { run: observe, running: observeRunning } }: World,
  settings: QueueSettings,
  make: (keys: Keys) => W,
) {
  // Called with the first key at the earliest, and only the worker adds keys.
  const work = (key: string): ReturnType<Worker['run']> => worker.run(key)
  const queue = yield* makeWorkQueue({ ...settings, work, observe, observeRunning })
  const worker = make(queue)
  const made: Queued<W> = { queue, worker }
  return made
})
