// Keeps the operator's own GatewayClass in place.
import { Effect } from 'effect'
import type { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import { applyGatewayClass } from './gateway-class.ts'
import type { Keys } from './queues.ts'
import { hasOwnClass, type World } from './world.ts'

/**
 * Before a deleted class is created again. An uninstallation deletes the class and the controller at once, and the
 * controller ends a little later: a class of its last moments would be in the way of the next installation.
 */
const DELETED_PAUSE = '5 seconds'

export class GatewayClassQueue {
  readonly #world: World
  readonly #keys: Keys
  #wasThere = false

  constructor(world: World, keys: Keys) {
    this.#world = world
    this.#keys = keys
  }

  start(): void {
    this.#wasThere ||= hasOwnClass(this.#world)
    this.#keys.add(this.#world.settings.className)
  }

  classChanged(name: string): void {
    if (name !== this.#world.settings.className) return
    this.#wasThere = true
    this.#keys.add(name)
  }

  /** Called periodically: a class that was deleted while a watch was lost is missing from the cache. */
  lookForDue(): void {
    if (!hasOwnClass(this.#world)) this.start()
  }

  run(): Effect.Effect<void, KubeError, KubeClient> {
    const apply = applyGatewayClass(this.#world.settings)
    return this.#wasThere && !hasOwnClass(this.#world) ? Effect.delay(apply, DELETED_PAUSE) : apply
  }
}
