// Writes Events about problems of objects, deployments and certificates.
import type { Effect } from 'effect'
import type { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import { Events, type Occurrence } from './events.ts'
import type { KnownGateways } from './known-gateways.ts'
import type { LeftOutSecrets } from './left-out-secrets.ts'
import {
  occurrencesOfGateway,
  occurrencesOfLeftOut,
  occurrencesOfProblems,
  occurrencesOfUnattended,
} from './occurrences.ts'
import type { Keys } from './queues.ts'
import type { Troubles } from './status-queue.ts'
import type { World } from './world.ts'

export interface EventQueueOptions {
  readonly world: World
  readonly gateways: KnownGateways
  /** As `describe` gives them: `HTTPRoute shop/cart`. */
  readonly keys: Keys
  readonly troublesOf: (key: string) => Troubles
  readonly leftOutSecrets: Pick<LeftOutSecrets, 'all'>
}

export class EventQueue {
  readonly #options: EventQueueOptions
  readonly #events: Events
  #certificates: readonly Occurrence[] = []
  /** Problems may have appeared or disappeared since the last check. */
  #hasNews = true

  constructor(options: EventQueueOptions) {
    this.#options = options
    this.#events = new Events(options.world.settings.controllerName)
  }

  /** Problems may have appeared or disappeared. */
  changed(): void {
    this.#hasNews = true
  }

  setCertificates(occurrences: readonly Occurrence[]): void {
    this.#hasNews ||= occurrences.length > 0 || this.#certificates.length > 0
    this.#certificates = occurrences
  }

  /** Called periodically: a problem is reported after it has lasted for a while. */
  lookForDue(nowMs: number): void {
    if (!this.#hasNews && !this.#events.isWaiting) return
    this.#hasNews = false
    const { world, gateways, keys, troublesOf, leftOutSecrets } = this.#options
    const ofGateways = [...gateways.keys()].flatMap((key) => {
      const gateway = gateways.gateway(key)
      return gateway === undefined ? [] : occurrencesOfGateway(world, { gateway, ...troublesOf(key) })
    })
    const problems = occurrencesOfProblems(world, world.translation().problems)
    const ofUsers = occurrencesOfLeftOut(world, leftOutSecrets.all())
    const all = [...ofGateways, ...ofUsers, ...this.#certificates, ...occurrencesOfUnattended(world), ...problems]
    for (const key of this.#events.update(all, nowMs)) keys.add(key)
  }

  run(key: string): Effect.Effect<void, KubeError, KubeClient> {
    return this.#events.write(key)
  }
}
