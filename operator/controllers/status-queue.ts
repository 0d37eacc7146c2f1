// Writes statuses that differ from the cluster: the result of translation, completed with facts that only the leader
// has about Gateways and their class.
import { Effect } from 'effect'
import type { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import { LIVE_STATUS } from '../kube/stable-view.ts'
import { statusOf } from '../kube/status-of.ts'
import { type LeftOutUse, withLeftOutSecrets } from '../status/left-out-secrets.ts'
import { mergeStatus } from '../status/merge.ts'
import type { ObjectStatus } from '../translate/object-status.ts'
import type { KubeObject } from '../translate/kube.ts'
import { describe, nameKey } from '../translate/object-ref.ts'
import { abandonedStatus } from './abandoned.ts'
import { type ClassFacts, withClassFacts } from './class-status.ts'
import { gatewayStatusFacts } from './gateway-facts.ts'
import { withProgrammed } from './gateway-programmed.ts'
import type { KnownGateways } from './known-gateways.ts'
import { KnownStatuses } from './known-statuses.ts'
import type { GatewayTroubles } from './occurrences.ts'
import type { Keys } from './queues.ts'
import { FEATURES_OF_FIELDS } from './served-features.ts'
import { cachedObject, statusWriter } from './status-writer.ts'
import type { World } from './world.ts'

export type Troubles = Pick<GatewayTroubles, 'deployProblems' | 'failure' | 'leftOut' | 'nearlyFull'>

export interface StatusQueueOptions {
  readonly world: World
  readonly gateways: KnownGateways
  /** As `describe` gives them: `HTTPRoute shop/cart`. */
  readonly keys: Keys
  /** What went wrong with a Gateway after translation. */
  readonly troublesOf: (key: string) => Troubles
  /** Of an object, as `describe` names it: Secrets that it uses and that are not delivered. */
  readonly leftOutUsesOf: (object: string) => readonly LeftOutUse[]
  /** Completes when the status with this key may be written. */
  readonly turn: (key: string) => Effect.Effect<void>
}

export class StatusQueue {
  readonly #options: StatusQueueOptions
  readonly #statuses = new KnownStatuses()
  /** Statuses that the cluster already has, with the version of the object that has them. */
  readonly #said = new WeakMap<ObjectStatus, KubeObject>()
  readonly #write: (key: string) => Effect.Effect<void, KubeError, KubeClient>
  #classFacts: ClassFacts = { unservedFeatures: FEATURES_OF_FIELDS, versions: undefined }

  constructor(options: StatusQueueOptions) {
    const { cache, settings, observer } = options.world
    this.#options = options
    this.#write = statusWriter({
      cache,
      controllerName: settings.controllerName,
      desired: (kind, key) => this.desired(kind, key),
      onWritten: () => observer.wrote('status', 1),
    })
  }

  run(key: string): Effect.Effect<void, KubeError, KubeClient> {
    return Effect.andThen(this.#options.turn(key), this.#write(key))
  }

  translated(statuses: readonly ObjectStatus[]): void {
    const { due, silent } = this.#statuses.take(statuses)
    for (const status of due) if (this.#isDue(status)) this.#options.keys.add(describe(status))
    for (const key of silent) this.#options.keys.add(key)
  }

  /** Statuses that a former leader wrote late and that have to be removed. */
  lookForForgotten(): void {
    const { world, keys } = this.#options
    for (const kind of LIVE_STATUS) {
      for (const object of world.cache.all(kind)) {
        const status = abandonedStatus(world, object, { isKnownOurs: false })
        if (status !== undefined && !this.#statuses.has(describe(status))) keys.add(describe(status))
      }
    }
  }

  setClassFacts(facts: Partial<ClassFacts>): void {
    this.#classFacts = { ...this.#classFacts, ...facts }
    // The computed status is unchanged; the writer compares it with the cluster.
    for (const [key, { kind }] of this.#statuses.entries()) if (kind === 'GatewayClass') this.#options.keys.add(key)
  }

  /** More than the status of an object has changed. */
  objectChanged(kind: string, key: string): void {
    this.#statuses.objectChanged(`${kind} ${key}`)
    if (kind === 'Gateway') this.gatewayChanged(key)
  }

  /** A Gateway without a translated status may have an old status to remove. */
  gatewayChanged(key: string): void {
    if (!this.#statuses.has(`Gateway ${key}`)) this.#options.keys.add(`Gateway ${key}`)
  }

  /** A status has changed in the cluster, by our own write or by another writer. */
  statusChanged(kind: string, key: string): void {
    const status = this.#computed(kind, key)
    if (status !== undefined && this.#isDue(status)) this.#options.keys.add(describe(status))
  }

  /** What only the leader knows about a Gateway has changed. */
  factsChanged(key: string): void {
    const status = this.#statuses.get(`Gateway ${key}`)
    if (status !== undefined && this.#isDue(status)) this.#options.keys.add(describe(status))
  }

  /** Objects, as `describe` names them, that use Secrets which are no longer delivered, or are again. */
  usersChanged(objects: readonly string[]): void {
    for (const object of objects) {
      const status = this.#statuses.get(object)
      if (status === undefined) continue
      this.#said.delete(status)
      if (this.#isDue(status)) this.#options.keys.add(object)
    }
  }

  /** The status that an object should have now. */
  desired(kind: string, key: string): ObjectStatus | undefined {
    const { world, gateways, troublesOf } = this.#options
    const translated = this.#computed(kind, key)
    const computed = translated && this.#withLeftOut(translated)
    const status = computed && withClassFacts(computed, this.#classFacts)
    if (status === undefined || kind !== 'Gateway' || !('addresses' in status.status)) return status
    const gateway = gateways.gateway(key)
    // The status of a Gateway that is being deleted stays as it is.
    if (gateway === undefined) return undefined
    const facts = gatewayStatusFacts(world, gateway, troublesOf(key))
    return { ...status, status: withProgrammed(status.status, facts) }
  }

  #withLeftOut(computed: ObjectStatus): ObjectStatus {
    const uses = this.#options.leftOutUsesOf(describe(computed))
    return uses.length === 0 ? computed : { ...computed, status: withLeftOutSecrets(computed.status, uses) }
  }

  /** Whether the cached object has another status. */
  #isDue(computed: ObjectStatus): boolean {
    const { cache, settings } = this.#options.world
    const { kind, namespace, name } = computed
    const current = cache.get(kind, namespace, name)
    // The status of a Gateway depends on its proxies as well.
    if (current === undefined || (kind !== 'Gateway' && this.#said.get(computed) === current)) return false
    const status = this.desired(kind, nameKey(namespace, name))
    if (status === undefined) return false
    const { controllerName } = settings
    const merged = mergeStatus({ current: statusOf(current), desired: status.status, controllerName, now: '' })
    if (merged === undefined) this.#said.set(computed, current)
    return merged !== undefined
  }

  /** The translated status; for objects without one, the status that removes old entries. */
  #computed(kind: string, key: string): ObjectStatus | undefined {
    const { world } = this.#options
    const known = this.#statuses.get(`${kind} ${key}`)
    return known ?? abandonedStatus(world, cachedObject(world.cache, kind, key), { isKnownOurs: true })
  }
}
