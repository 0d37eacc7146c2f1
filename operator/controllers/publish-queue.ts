// Publishes the configuration of a Gateway to the objects that proxies read. Runs when the configuration changes, when
// a user edits a delivered object, or when the proxies need another format.
import { isDeepStrictEqual } from 'node:util'
import { Effect } from 'effect'
import type { KubeClient } from '../kube/client.ts'
import type { ObjectChange } from '../kube/cache.ts'
import type { KubeError } from '../kube/errors.ts'
import { leftOutText, nearlyFullText } from '../publish/fill.ts'
import { Publisher } from '../publish/publisher.ts'
import type { KubeObject } from '../translate/kube.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import { proxyCount } from './gateway-facts.ts'
import type { KnownGateways, RenderedChange } from './known-gateways.ts'
import { LeftOutSecrets } from './left-out-secrets.ts'
import type { Keys } from './queues.ts'
import { DELIVERED_CONFIG_MAP, DELIVERED_SECRET } from './sources.ts'
import { TurnOfStatuses } from './turn-of-statuses.ts'
import { acknowledgementsOf, deliveryFormatOf, hasOwnClass, versionOf, type World } from './world.ts'

export interface PublishQueueOptions {
  readonly world: World
  readonly gateways: KnownGateways
  readonly keys: Keys
  /** Called when the problem of a Gateway changes or is solved. */
  readonly onProblem: (key: string) => void
  /** Called with the objects whose use of Secrets that are not delivered has changed, as of `describe`. */
  readonly onUsers: (objects: readonly string[]) => void
}

interface DeliveryTrouble {
  /** Why a part of the configuration could not be written. */
  readonly problem: string | undefined
  /** Which Secrets it left out. */
  readonly leftOut: string | undefined
  readonly nearlyFull: string | undefined
}

const NO_TROUBLE: DeliveryTrouble = { problem: undefined, leftOut: undefined, nearlyFull: undefined }

export class PublishQueue {
  readonly #options: PublishQueueOptions
  readonly #publisher: Publisher
  readonly #troubles = new Map<string, DeliveryTrouble>()
  readonly leftOutSecrets = new LeftOutSecrets()
  /** Status writes wait while configurations are written. */
  readonly turnOfStatuses = new TurnOfStatuses()

  constructor(options: PublishQueueOptions) {
    const { settings, cache } = options.world
    this.#options = options
    this.#publisher = new Publisher({
      manager: settings.controllerName,
      isSeen: ({ kind, namespace, name }) =>
        cache.get(kind === 'Secret' ? DELIVERED_SECRET : DELIVERED_CONFIG_MAP, namespace, name) !== undefined,
    })
  }

  troubleOf(key: string): DeliveryTrouble | undefined {
    return this.#troubles.get(key)
  }

  /** The leader starts with these Gateways. */
  start(keys: Iterable<string>): void {
    this.turnOfStatuses.start(keys, hasOwnClass(this.#options.world))
  }

  /** There is a new translation, with these Gateways. */
  translated(keys: Iterable<string>): void {
    if (hasOwnClass(this.#options.world)) this.turnOfStatuses.classFound(keys)
  }

  rendered({ key, after }: RenderedChange): void {
    if (after !== undefined) this.turnOfStatuses.delay(key)
    this.#options.keys.add(key)
  }

  /** The Gateway itself. */
  gatewayChanged(key: string): void {
    this.#options.keys.add(key)
  }

  /** An object that was delivered for the Gateway `owner`. */
  deliveredChanged(owner: string, { metadata: { name } }: KubeObject, change: ObjectChange): void {
    const kind = change.kind === DELIVERED_SECRET ? 'Secret' : 'ConfigMap'
    const isTouched = this.#publisher.touched({ key: owner, kind, name, version: versionOf(change) })
    if (isTouched) this.#options.keys.add(owner)
  }

  /** Acknowledgements of a Gateway have changed, and perhaps the format that its proxies read. */
  acknowledged(key: string): void {
    const { world, gateways, keys } = this.#options
    const gateway = gateways.gateway(key)
    const written = this.#publisher.formatOf(key)
    if (gateway === undefined || written === undefined) return
    if (acknowledgementsOf(world, gateway).size > 0) this.turnOfStatuses.loaded(key)
    if (written !== deliveryFormatOf(world, gateway)) keys.add(key)
  }

  /** The workload of the proxies. */
  workloadChanged(key: string): void {
    const { world, gateways, keys } = this.#options
    const gateway = gateways.gateway(key)
    if (gateway !== undefined && this.#publisher.isOtherSize(key, proxyCount(world, gateway))) keys.add(key)
  }

  /**
   * Called periodically. ConfigMaps of users are not watched, so a name conflict is retried. An object that was deleted
   * while a watch was lost is found by its absence from the cache.
   */
  lookForDue(nowMs: number): void {
    const publisher = this.#publisher
    for (const key of [...publisher.due(nowMs), ...publisher.refused(), ...publisher.missing()]) {
      this.#options.keys.add(key)
    }
  }

  run(key: string): Effect.Effect<void, KubeError, KubeClient> {
    return Effect.ensuring(
      Effect.suspend(() => this.#publish(key)),
      Effect.sync(() => this.turnOfStatuses.ended(key)),
    )
  }

  #publish(key: string): Effect.Effect<void, KubeError, KubeClient> {
    const { world, gateways } = this.#options
    const known = gateways.get(key)
    if (known === undefined) {
      this.#publisher.forget(key)
      this.#troubles.delete(key)
      this.#leftOut(key, [], undefined)
      world.observer.filled(key, undefined)
      return Effect.void
    }
    const format = deliveryFormatOf(world, known.gateway)
    const pods = proxyCount(world, known.gateway)
    return this.#publisher.publish(key, { ...known, format, pods }).pipe(
      Effect.tap(({ written }) => (written > 0 ? this.turnOfStatuses.written(key, written) : Effect.void)),
      Effect.map(({ written, problem, leftOut = [], fill }) => {
        world.observer.wrote('delivery', written)
        world.observer.filled(key, fill)
        this.#leftOut(key, leftOut, known.rendered)
        this.#remember(key, { problem, leftOut: leftOutText(leftOut), nearlyFull: fill && nearlyFullText(fill) })
      }),
    )
  }

  #leftOut(key: string, secrets: readonly string[], rendered: RenderedGateway | undefined): void {
    const objects = this.leftOutSecrets.take(key, secrets, rendered?.config)
    if (objects.length > 0) this.#options.onUsers(objects)
  }

  #remember(key: string, now: DeliveryTrouble): void {
    const known = this.#troubles.get(key) ?? NO_TROUBLE
    if (isDeepStrictEqual(now, known)) return
    this.#troubles.set(key, now)
    this.#options.onProblem(key)
  }
}
