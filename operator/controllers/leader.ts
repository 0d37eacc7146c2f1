// The work of the leader: publish, deploy, write statuses and Events, create the GatewayClass. Each leadership starts
// without state, because another leader may have changed everything in between.
import { Effect, type Scope } from 'effect'
import type { KubeClient } from '../kube/client.ts'
import { elapsedMs } from '../kube/elapsed.ts'
import { DeployQueue } from './deploy-queue.ts'
import { followCertificates } from './ending-certificates.ts'
import { EventQueue } from './event-queue.ts'
import { GatewayClassQueue } from './gateway-class-queue.ts'
import { type KeySets, makeKeySets } from './key-sets.ts'
import { KnownGateways } from './known-gateways.ts'
import { PublishQueue } from './publish-queue.ts'
import { queued, QUEUES } from './queues.ts'
import { RejectionQueue } from './rejection-queue.ts'
import { factsChanged, routeChange, usersChanged, type Workers } from './route-change.ts'
import { followUnservedFeatures } from './served-features.ts'
import { followServedVersions } from './served-versions.ts'
import { StatusQueue, type Troubles } from './status-queue.ts'
import type { LeftOutUse } from '../status/left-out-secrets.ts'
import type { Translation } from '../translate/translation.ts'
import type { World } from './world.ts'

const SETTLE_CHECK = '15 seconds'
const EVENT_CHECK = '500 millis'

/** Works until it is interrupted. */
export const lead: (world: World) => Effect.Effect<never, never, KubeClient | Scope.Scope> = Effect.fn('operator.lead')(
  function* (world: World) {
    const { workers, isIdle } = yield* makeWorkers(world)
    const leader = new Leader(world, workers, isIdle)
    leader.start()
    // Key sets must not keep the rest from starting.
    yield* Effect.forkScoped(
      Effect.map(makeKeySets(world), (keySets) => leader.setKeySets(keySets)).pipe(Effect.andThen(Effect.never)),
    )
    const { gateways, status, events } = workers
    yield* Effect.forkScoped(followUnservedFeatures((unservedFeatures) => status.setClassFacts({ unservedFeatures })))
    yield* Effect.forkScoped(followServedVersions((versions) => status.setClassFacts({ versions })))
    yield* Effect.forkScoped(
      followCertificates({ gateways: () => gateways.all(), report: (news) => events.setCertificates(news) }),
    )
    yield* Effect.forkScoped(everyNow(EVENT_CHECK, (nowMs) => events.lookForDue(nowMs)))
    world.observer.leading(true)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        world.listener = undefined
        world.observer.leading(false)
      }),
    )
    return yield* everyNow(SETTLE_CHECK, (nowMs) => leader.lookForDue(nowMs))
  },
)

function everyNow(pause: '15 seconds' | '500 millis', look: (nowMs: number) => void): Effect.Effect<never> {
  return Effect.forever(Effect.sleep(pause).pipe(Effect.andThen(elapsedMs), Effect.map(look)))
}

/** A worker adds keys to its own queue. It gets what it needs from other workers as functions. */
const makeWorkers = Effect.fnUntraced(function* (world: World) {
  const gateways = new KnownGateways(world)
  const base = { world, gateways }
  // Called by running work only: all workers exist by then.
  const onProblem = (key: string): void => factsChanged({ status: status.worker, events: events.worker }, key)
  const onUsers = (objects: readonly string[]): void =>
    usersChanged({ status: status.worker, events: events.worker }, objects)
  const publish = yield* queued(
    world,
    QUEUES.publish,
    (keys) => new PublishQueue({ ...base, keys, onProblem, onUsers }),
  )
  const deploy = yield* queued(world, QUEUES.deploy, (keys) => new DeployQueue({ ...base, keys, onProblem }))
  const troublesOf = (key: string): Troubles => ({
    deployProblems: deploy.worker.problemsOf(key),
    failure: publish.worker.troubleOf(key)?.problem ?? deploy.worker.failureOf(key),
    leftOut: publish.worker.troubleOf(key)?.leftOut,
    nearlyFull: publish.worker.troubleOf(key)?.nearlyFull,
  })
  const turn = (key: string): Effect.Effect<void> => publish.worker.turnOfStatuses.come(key)
  const { leftOutSecrets } = publish.worker
  const leftOutUsesOf = (object: string): readonly LeftOutUse[] => leftOutSecrets.usesOf(object)
  const status = yield* queued(
    world,
    QUEUES.status,
    (keys) => new StatusQueue({ ...base, keys, troublesOf, leftOutUsesOf, turn }),
  )
  const gatewayClass = yield* queued(world, QUEUES.gatewayClass, (keys) => new GatewayClassQueue(world, keys))
  const rejections = yield* queued(world, QUEUES.rejections, (keys) => new RejectionQueue({ ...base, keys }))
  const events = yield* queued(
    world,
    QUEUES.events,
    (keys) => new EventQueue({ ...base, keys, troublesOf, leftOutSecrets }),
  )
  const all = [publish, deploy, status, gatewayClass, rejections, events]
  const workers: Workers = {
    gateways,
    publish: publish.worker,
    deploy: deploy.worker,
    status: status.worker,
    gatewayClass: gatewayClass.worker,
    rejections: rejections.worker,
    events: events.worker,
  }
  return { workers, isIdle: () => all.every(({ queue }) => queue.isIdle()) }
})

class Leader {
  readonly #world: World
  readonly #workers: Workers
  readonly #isIdle: () => boolean
  #keySets: KeySets | undefined = undefined

  constructor(world: World, workers: Workers, isIdle: () => boolean) {
    this.#world = world
    this.#workers = workers
    this.#isIdle = isIdle
  }

  start(): void {
    const { gatewayClass, publish, rejections, status } = this.#workers
    gatewayClass.start()
    publish.start(this.#world.translation().perGateway.keys())
    this.#onTranslation(this.#world.translation())
    rejections.start()
    status.lookForForgotten()
    this.#world.listener = {
      onChange: (change) => routeChange({ world: this.#world, workers: this.#workers, keySets: this.#keySets }, change),
      onTranslation: (translation, snapshot) => {
        this.#onTranslation(translation)
        this.#keySets?.follow(snapshot)
      },
      isIdle: this.#isIdle,
    }
  }

  /** Key sets follow the objects from now on. */
  setKeySets(keySets: KeySets): void {
    this.#keySets = keySets
    keySets.follow(this.#world.snapshot())
  }

  lookForDue(nowMs: number): void {
    const { gatewayClass, publish, deploy } = this.#workers
    gatewayClass.lookForDue()
    publish.lookForDue(nowMs)
    deploy.lookForDue()
  }

  #onTranslation({ perGateway, statuses }: Translation): void {
    const { gateways, publish, deploy, status, events } = this.#workers
    events.changed()
    publish.translated(perGateway.keys())
    for (const change of gateways.take(perGateway)) {
      publish.rendered(change)
      deploy.rendered(change)
    }
    status.translated(statuses)
  }
}
