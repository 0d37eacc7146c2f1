// Keeps the operator's own GatewayClass in place.
import type { Effect } from 'effect'
import type { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import { applyGatewayClass } from './gateway-class.ts'
import type { Keys } from './queues.ts'
import { hasOwnClass, type World } from './world.ts'

export class GatewayClassQueue {
  readonly #world: World
  readonly #keys: Keys

  constructor(world: World, keys: Keys) {
    this.#world = world
    this.#keys = keys
  }

  start(): void {
    this.#keys.add(this.#world.settings.className)
  }

  classChanged(name: string): void {
    if (name === this.#world.settings.className) this.#keys.add(name)
  }

  /** Called periodically: a class that was deleted while a watch was lost is missing from the cache. */
  lookForDue(): void {
    if (!hasOwnClass(this.#world)) this.start()
  }

  run(): Effect.Effect<void, KubeError, KubeClient> {
    return applyGatewayClass(this.#world.settings)
  }
}
