// What only the leader does: publish, deploy, write statuses, make the GatewayClass, tell about refusals. Everything
// begins anew with each leadership, so nothing that another leader changed in between is believed.
import { isDeepStrictEqual } from 'node:util'
import { Effect, type Scope } from 'effect'
import { GATEWAY_NAME_LABEL, safeName } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { isSessionKeyName, sessionKeyName } from '#deployer/session-key.ts'
import type { ObjectChange } from '../kube/cache.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import { elapsedMs } from '../kube/elapsed.ts'
import { LIVE_STATUS } from '../kube/stable-view.ts'
import { statusOf } from '../kube/status-of.ts'
import { ownerOf } from '../kube/ownership.ts'
import type { WorkQueue } from '../kube/work-queue.ts'
import { Publisher, type PublishOutcome } from '../publish/publisher.ts'
import { mergeStatus } from '../status/merge.ts'
import type { ObjectStatus } from '../status/object-status.ts'
import type { KubeObject } from '../translate/kube.ts'
import { describe, nameKey } from '../translate/object-ref.ts'
import type { RenderedGateway, Translation } from '../translate/translation.ts'
import { abandonedStatus } from './abandoned.ts'
import { GatewayDeployer } from './deploy-gateway.ts'
import { gatewayStatusFacts } from './gateway-facts.ts'
import { withProgrammed } from './gateway-programmed.ts'
import { type ClassFacts, withClassFacts } from './class-status.ts'
import { acknowledgementsOf, deliveryFormatOf, isLeaving, isMeshConfig, type World } from './world.ts'
import { followCertificates } from './ending-certificates.ts'
import { Events, type Occurrence } from './events.ts'
import { type KeySets, makeKeySets } from './key-sets.ts'
import { KnownStatuses } from './known-statuses.ts'
import {
  type GatewayTroubles,
  occurrencesOfGateway,
  occurrencesOfProblems,
  occurrencesOfUnattended,
} from './occurrences.ts'
import { pruneAcknowledgements } from './prune-acknowledgements.ts'
import { makeQueues, type Queues } from './queues.ts'
import { Rejections } from './rejections.ts'
import { FEATURES_OF_FIELDS, followUnservedFeatures } from './served-features.ts'
import { followServedVersions } from './served-versions.ts'
import { ACKNOWLEDGEMENTS, DELIVERED_CONFIG_MAP, DELIVERED_SECRET, PROXY_POD } from './sources.ts'
import { cachedObject } from './status-writer.ts'
import { TurnOfStatuses } from './turn-of-statuses.ts'

const SETTLE_CHECK = '15 seconds'
const EVENT_CHECK = '500 millis'

/** Works until it is interrupted. */
export const lead: (world: World) => Effect.Effect<never, never, KubeClient | Scope.Scope> = Effect.fn('operator.lead')(
  function* (world: World) {
    const leader = new Leader(world)
    const queues = yield* makeQueues(leader)
    leader.start(queues)
    // Key sets must not keep the rest from starting.
    yield* Effect.forkScoped(
      Effect.map(makeKeySets(world), (keySets) => leader.setKeySets(keySets)).pipe(Effect.andThen(Effect.never)),
    )
    yield* Effect.forkScoped(followUnservedFeatures((unservedFeatures) => leader.setClassFacts({ unservedFeatures })))
    yield* Effect.forkScoped(followServedVersions((versions) => leader.setClassFacts({ versions })))
    yield* Effect.forkScoped(
      followCertificates({ gateways: () => leader.gateways(), tell: (news) => leader.setCertificates(news) }),
    )
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.sleep(EVENT_CHECK).pipe(
          Effect.andThen(elapsedMs),
          Effect.map((nowMs) => leader.lookForEvents(nowMs)),
        ),
      ),
    )
    world.observer.leading(true)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        world.listener = undefined
        world.observer.leading(false)
      }),
    )
    return yield* Effect.forever(
      Effect.sleep(SETTLE_CHECK).pipe(
        Effect.andThen(elapsedMs),
        Effect.map((nowMs) => leader.lookForDue(nowMs)),
      ),
    )
  },
)

class Leader {
  readonly world: World
  readonly publisher: Publisher
  readonly #deployer: GatewayDeployer
  readonly events: Events
  readonly #rejections = new Rejections()
  #queues: Queues | undefined = undefined
  readonly #statuses = new KnownStatuses()
  /** As last seen, by Gateway: what is the same needs no work. */
  #rendered = new Map<string, RenderedGateway>()
  #publishProblems = new Map<string, string>()
  /** Statuses that the cluster has, with the object that says so. */
  readonly #said = new WeakMap<ObjectStatus, KubeObject>()
  readonly turnOfStatuses = new TurnOfStatuses()
  #keySets: KeySets | undefined = undefined
  #classFacts: ClassFacts = { unservedFeatures: FEATURES_OF_FIELDS, versions: undefined }
  #certificates: readonly Occurrence[] = []
  /** Something may be wrong, or right, that was not before. */
  #hasNews = true

  constructor(world: World) {
    const { settings, cache } = world
    this.world = world
    this.publisher = new Publisher({
      manager: settings.controllerName,
      isSeen: ({ kind, namespace, name }) =>
        cache.get(kind === 'Secret' ? DELIVERED_SECRET : DELIVERED_CONFIG_MAP, namespace, name) !== undefined,
    })
    this.events = new Events(settings.controllerName)
    this.#deployer = new GatewayDeployer({
      settings,
      cache,
      onChange: (key) => this.#queueGatewayStatus(key),
      onTouched: (key) => this.#queues?.deploy.add(key),
    })
  }

  start(queues: Queues): void {
    this.#queues = queues
    queues.gatewayClass.add(this.world.settings.className)
    this.#onTranslation(this.world.translation())
    for (const key of this.#rendered.keys()) queues.rejections.add(key)
    this.#queueForgotten(queues)
    const all = Object.values(queues) as WorkQueue[]
    this.world.listener = {
      onChange: (change) => this.#onChange(change),
      onTranslation: (translation, snapshot) => {
        this.#onTranslation(translation)
        this.#keySets?.follow(snapshot)
      },
      isIdle: () => all.every((queue) => queue.isIdle()),
    }
  }

  setClassFacts(facts: Partial<ClassFacts>): void {
    this.#classFacts = { ...this.#classFacts, ...facts }
    // What was computed is the same; the writer compares with what the cluster says.
    for (const [key, { kind }] of this.#statuses.entries()) if (kind === 'GatewayClass') this.#queues?.status.add(key)
  }

  /** Told about the objects now and after each change. */
  setKeySets(keySets: KeySets): void {
    this.#keySets = keySets
    keySets.follow(this.world.snapshot())
  }

  setCertificates(occurrences: readonly Occurrence[]): void {
    this.#hasNews ||= occurrences.length > 0 || this.#certificates.length > 0
    this.#certificates = occurrences
  }

  /** Those that stay. */
  gateways(): (readonly [Gateway, RenderedGateway])[] {
    return [...this.#rendered].flatMap(([key, rendered]) => {
      const gateway = this.#gateway(key)
      return gateway === undefined ? [] : [[gateway, rendered] as const]
    })
  }

  publish(key: string): Effect.Effect<void, KubeError, KubeClient> {
    return Effect.ensuring(
      Effect.suspend(() => this.#publish(key)),
      Effect.sync(() => this.turnOfStatuses.ended(key)),
    )
  }

  #publish(key: string): Effect.Effect<void, KubeError, KubeClient> {
    const [gateway, rendered] = [this.#gateway(key), this.#rendered.get(key)]
    if (gateway === undefined || rendered === undefined) {
      this.publisher.forget(key)
      return Effect.void
    }
    return this.publisher.publish(key, { gateway, rendered, format: deliveryFormatOf(this.world, gateway) }).pipe(
      Effect.tap((outcome) =>
        'written' in outcome && outcome.written > 0 ? this.turnOfStatuses.written : Effect.void,
      ),
      Effect.map((outcome) => {
        const problem = problemOf(outcome)
        if ('written' in outcome) this.world.observer.wrote('delivery', outcome.written)
        if (problem === this.#publishProblems.get(key)) return
        if (problem === undefined) this.#publishProblems.delete(key)
        else this.#publishProblems.set(key, problem)
        this.#queueGatewayStatus(key)
      }),
    )
  }

  deploy(key: string): Effect.Effect<void, KubeError, KubeClient> {
    const [gateway, rendered] = [this.#gateway(key), this.#rendered.get(key)]
    if (gateway === undefined || rendered === undefined) {
      this.#deployer.forget(key)
      return Effect.void
    }
    return this.#deployer.deploy(key, gateway, rendered)
  }

  /**
   * Asked again and again. Objects of users are not watched: whether they are still in the way is tried from time to
   * time. What was made and deleted while a watch was lost is told by nobody: it is missing from the cache.
   */
  lookForDue(nowMs: number): void {
    const queues = this.#queues
    if (queues === undefined) return
    const { className } = this.world.settings
    if (this.world.cache.get('GatewayClass', '', className) === undefined) queues.gatewayClass.add(className)
    for (const key of this.publisher.due(nowMs)) queues.publish.add(key)
    for (const key of [...this.publisher.refused(), ...this.publisher.missing()]) queues.publish.add(key)
    const undeployed = [...this.#deployer.refused(), ...this.#deployer.missing(), ...this.#deployer.waiting()]
    for (const key of undeployed) queues.deploy.add(key)
  }

  countRejections(key: string): Effect.Effect<void, KubeError, KubeClient> {
    const gateway = this.#gateway(key)
    if (gateway === undefined) return Effect.void
    const acknowledgements = acknowledgementsOf(this.world, gateway)
    this.world.observer.rejected(this.#rejections.count(gateway, acknowledgements))
    return pruneAcknowledgements(this.world, gateway)
  }

  /** What the status of an object should say now. */
  desired(kind: string, key: string): ObjectStatus | undefined {
    const computed = this.#computed(kind, key)
    const status = computed && withClassFacts(computed, this.#classFacts)
    if (status === undefined || kind !== 'Gateway' || !('addresses' in status.status)) return status
    const gateway = this.#gateway(key)
    // Of one that is being deleted nothing is true any more; what was said stays.
    if (gateway === undefined) return undefined
    const facts = gatewayStatusFacts(this.world, gateway, this.#troublesOf(key))
    return { ...status, status: withProgrammed(status.status, facts) }
  }

  #troublesOf(key: string): Pick<GatewayTroubles, 'deployProblems' | 'failure'> {
    const failure = this.#publishProblems.get(key) ?? this.#deployer.failureOf(key)
    return { deployProblems: this.#deployer.problemsOf(key), failure }
  }

  /** Asked again and again. */
  lookForEvents(nowMs: number): void {
    if (!this.#hasNews && !this.events.isWaiting) return
    this.#hasNews = false
    const ofGateways = [...this.#rendered.keys()].flatMap((key) => {
      const gateway = this.#gateway(key)
      return gateway === undefined ? [] : occurrencesOfGateway(this.world, { gateway, ...this.#troublesOf(key) })
    })
    const problems = occurrencesOfProblems(this.world, this.world.translation().problems)
    const all = [...ofGateways, ...this.#certificates, ...occurrencesOfUnattended(this.world), ...problems]
    for (const key of this.events.update(all, nowMs)) this.#queues?.events.add(key)
  }

  #onTranslation({ perGateway, statuses }: Translation): void {
    const queues = this.#queues
    if (queues === undefined) return
    this.#hasNews = true
    const before = this.#rendered
    this.#rendered = new Map(perGateway)
    for (const [key, rendered] of perGateway) {
      const known = before.get(key)
      // What says the same is the same object.
      if (known !== rendered) this.#queuePublish(queues, key)
      if (!isDeepStrictEqual(known?.config.binds, rendered.config.binds)) queues.deploy.add(key)
    }
    for (const key of before.keys()) {
      if (perGateway.has(key)) continue
      queues.publish.add(key)
      queues.deploy.add(key)
    }
    const { due, silent } = this.#statuses.take(statuses)
    for (const status of due) if (this.#isDue(status)) queues.status.add(describe(status))
    for (const key of silent) queues.status.add(key)
  }

  #queuePublish({ publish }: Queues, key: string): void {
    this.turnOfStatuses.delay(key)
    publish.add(key)
  }

  /** Of a leader before, whose last words came late. */
  #queueForgotten({ status: queue }: Queues): void {
    for (const kind of LIVE_STATUS) {
      for (const object of this.world.cache.all(kind)) {
        const status = abandonedStatus(this.world, object, { isKnownOurs: false })
        if (status !== undefined && !this.#statuses.has(describe(status))) queue.add(describe(status))
      }
    }
  }

  /** Whether the cluster says something else, as far as the cache knows. */
  #isDue(computed: ObjectStatus): boolean {
    const { kind, namespace, name } = computed
    const current = this.world.cache.get(kind, namespace, name)
    // Of Gateways, what their proxies say counts as well.
    if (current === undefined || (kind !== 'Gateway' && this.#said.get(computed) === current)) return false
    const status = this.desired(kind, nameKey(namespace, name))
    if (status === undefined) return false
    const { controllerName } = this.world.settings
    const merged = mergeStatus({ current: statusOf(current), desired: status.status, controllerName, now: '' })
    if (merged === undefined) this.#said.set(computed, current)
    return merged !== undefined
  }

  #onChange(change: ObjectChange): void {
    const queues = this.#queues
    const object = change.after ?? change.before
    if (queues === undefined || object === undefined) return
    if (change.kind === PROXY_POD) {
      this.#podChanged(queues, object, change)
      return
    }
    if (change.kind === 'Namespace') this.#namespaceChanged(queues, object, change)
    this.#userChanged(queues, object, change)
    // Of one whose owner reference was removed just now, the former owner.
    const owner = ownerOf(object) ?? ownerOf(change.before ?? object)
    if (owner !== undefined) this.#ownedChanged(queues, owner, object, change)
  }

  #userChanged(queues: Queues, object: KubeObject, change: ObjectChange): void {
    const { deploy, gatewayClass, status: statuses } = queues
    const { kind, key } = change
    const { className } = this.world.settings
    if (change.isStatusOnly) {
      // Ours coming back, or what somebody else made of it.
      const status = this.#computed(kind, key)
      if (status !== undefined && this.#isDue(status)) statuses.add(describe(status))
      return
    }
    this.#statuses.objectChanged(`${kind} ${key}`)
    if (kind === 'GatewayClass' && object.metadata.name === className) gatewayClass.add(className)
    if (kind === 'Gateway') this.#gatewayChanged(queues, key)
    if (kind === 'Secret') this.#secretChanged(deploy, object)
    if (kind !== 'GwParameters' && kind !== 'GatewayClass' && !isMeshConfig(this.world, change)) return
    for (const one of this.#rendered.keys()) deploy.add(one)
  }

  /** After one that went: Gateways of its successor may have been seen first. */
  #namespaceChanged(queues: Queues, { metadata: { name } }: KubeObject, { before }: ObjectChange): void {
    if (before === undefined || !isLeaving(this.world, before)) return
    for (const one of this.#rendered.keys()) if (one.startsWith(`${name}/`)) this.#gatewayChanged(queues, one)
  }

  #gatewayChanged({ deploy, publish, status }: Queues, key: string): void {
    deploy.add(key)
    publish.add(key)
    if (!this.#statuses.has(`Gateway ${key}`)) status.add(`Gateway ${key}`)
  }

  /** A session key that was of no use, and may be somebody's whom no owner reference leads to. */
  #secretChanged(deploy: WorkQueue, { metadata: { namespace = '', name } }: KubeObject): void {
    if (!isSessionKeyName(name)) return
    for (const one of this.#rendered.keys()) {
      const isOf = one.startsWith(`${namespace}/`) && sessionKeyName(one.slice(namespace.length + 1)) === name
      if (isOf && this.#deployer.problemsOf(one).length > 0) deploy.add(one)
    }
  }

  /** Of a proxy. */
  #podChanged({ rejections }: Queues, { metadata }: KubeObject, { after }: ObjectChange): void {
    for (const key of this.#rendered.keys()) {
      const { namespace = '', labels } = metadata
      if (!key.startsWith(`${namespace}/`)) continue
      if (safeName(key.slice(namespace.length + 1)) !== labels?.[GATEWAY_NAME_LABEL]) continue
      this.#queueGatewayStatus(key)
      if (after === undefined) rejections.add(key)
    }
  }

  #ownedChanged(queues: Queues, owner: string, object: KubeObject, change: ObjectChange): void {
    if (change.kind === ACKNOWLEDGEMENTS) {
      this.#keySets?.heard(change)
      this.#queueGatewayStatus(owner)
      const gateway = this.#gateway(owner)
      const written = this.publisher.formatOf(owner)
      if (gateway !== undefined && written !== undefined && written !== deliveryFormatOf(this.world, gateway))
        queues.publish.add(owner)
      queues.rejections.add(owner)
    } else if (change.kind === DELIVERED_CONFIG_MAP || change.kind === DELIVERED_SECRET) {
      const kind = change.kind === DELIVERED_SECRET ? 'Secret' : 'ConfigMap'
      const touched = { key: owner, kind, name: object.metadata.name, version: versionOf(change) } as const
      if (this.publisher.touched(touched)) queues.publish.add(owner)
    } else this.#deployedChanged(queues, owner, object, change)
  }

  #deployedChanged({ deploy }: Queues, owner: string, object: KubeObject, change: ObjectChange): void {
    if (STATUS_KINDS.has(change.kind)) this.#queueGatewayStatus(owner)
    if (this.#deployer.isWaiting(owner)) deploy.add(owner)
    if (change.isStatusOnly) return
    if (this.#deployer.touched(owner, object, versionOf(change))) deploy.add(owner)
  }

  #queueGatewayStatus(key: string): void {
    this.#hasNews = true
    const status = this.#statuses.get(`Gateway ${key}`)
    if (status !== undefined && this.#isDue(status)) this.#queues?.status.add(describe(status))
  }

  /** What translation says; of what it is silent about, what has to be taken back. */
  #computed(kind: string, key: string): ObjectStatus | undefined {
    const known = this.#statuses.get(`${kind} ${key}`)
    return known ?? abandonedStatus(this.world, cachedObject(this.world.cache, kind, key), { isKnownOurs: true })
  }

  /** undefined as well for one that goes. */
  #gateway(key: string): Gateway | undefined {
    const gateway = cachedObject(this.world.cache, 'Gateway', key)
    // Of its kind in the cache.
    return gateway === undefined || isLeaving(this.world, gateway) ? undefined : (gateway as Gateway)
  }
}

/** Deployed objects that the status of the Gateway is about. */
const STATUS_KINDS: ReadonlySet<string> = new Set(['Deployment', 'DaemonSet', 'Service'])

function problemOf(outcome: PublishOutcome): string | undefined {
  return 'problem' in outcome ? outcome.problem : undefined
}

/** 'deleted' is no version. */
function versionOf({ after }: ObjectChange): string {
  return after === undefined ? 'deleted' : (after.metadata.resourceVersion ?? '')
}
