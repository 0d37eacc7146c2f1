// Counts configurations that proxies rejected, and removes acknowledgements of proxies that no longer exist.
import { Effect } from 'effect'
import type { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import type { KnownGateways } from './known-gateways.ts'
import { pruneAcknowledgements } from './prune-acknowledgements.ts'
import type { Keys } from './queues.ts'
import { Rejections } from './rejections.ts'
import { acknowledgementsOf, type World } from './world.ts'

export class RejectionQueue {
  readonly #world: World
  readonly #gateways: KnownGateways
  readonly #keys: Keys
  readonly #rejections = new Rejections()

  constructor({ world, gateways, keys }: { world: World; gateways: KnownGateways; keys: Keys }) {
    this.#world = world
    this.#gateways = gateways
    this.#keys = keys
  }

  start(): void {
    for (const key of this.#gateways.keys()) this.#keys.add(key)
  }

  /** Acknowledgements of a Gateway have changed, or one of its proxies is gone. */
  acknowledged(key: string): void {
    this.#keys.add(key)
  }

  run(key: string): Effect.Effect<void, KubeError, KubeClient> {
    const gateway = this.#gateways.gateway(key)
    if (gateway === undefined) return Effect.void
    const acknowledgements = acknowledgementsOf(this.#world, gateway)
    this.#world.observer.rejected(this.#rejections.count(gateway, acknowledgements))
    return pruneAcknowledgements(this.#world, gateway)
  }
}
