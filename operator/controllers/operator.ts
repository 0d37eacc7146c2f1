// The control plane as a whole: sources fill the cache, the translator turns it into configurations and statuses, and
// the leader writes them. What changes is put into queues by key; everything else follows from the cache.
import { Effect, type Scope } from 'effect'
import { redactTree } from '#api/credentials/redact-tree.ts'
import type { ControllerOverview, GatewayDetail } from '#api/admin/controller-overview.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { ObjectCache } from '../kube/cache.ts'
import { Contents } from '../kube/contents.ts'
import { KubeClient } from '../kube/client.ts'
import { fetchContents } from '../kube/fetch-contents.ts'
import { ownAccount } from '../kube/own-account.ts'
import { createMissingClass } from './gateway-class.ts'
import { LEASE_TIMES, type LeaseTimes, withLeadership } from './lease.ts'
import { lead } from './leader.ts'
import { gatewayDetail, overviewOf } from './overview.ts'
import { snapshotOf } from '../translate/snapshot.ts'
import type { TranslateSettings } from '../translate/translation.ts'
import type { OperatorSettings } from './settings.ts'
import { readsOutsideTranslation, type Sources, startSources } from './sources.ts'
import { makeTranslationLoop, type TranslationLoop } from './translation-loop.ts'
import { hasOwnClass, type OperatorObserver, type World } from './world.ts'

export interface RunningOperator {
  /** All kinds have been listed and translated, and are followed. */
  isReady(): boolean
  /** What readiness waits for. */
  pending(): readonly string[]
  isLeading(): boolean
  /** No work is pending, as far as this replica knows; for tests and for users who wait. */
  isIdle(): boolean
  readonly cache: ObjectCache
  /** For the admin server: names and versions of known objects, and rendered configurations. No credentials. */
  describe(): unknown
  /** For the web UI. */
  overview(): ControllerOverview
  /** For the web UI; undefined: no Gateway with this `namespace/name` is served. */
  gateway(key: string): GatewayDetail | undefined
  /** The translated configuration of this Gateway, which may contain credentials in plain fields. */
  configuration(key: string): RenderedConfig | undefined
}

export interface OperatorOptions {
  readonly settings: OperatorSettings
  readonly observer: OperatorObserver
  readonly leaseTimes?: LeaseTimes
}

/** Runs in the scope of the caller. */
export const startOperator: (
  options: OperatorOptions,
) => Effect.Effect<RunningOperator, never, KubeClient | Scope.Scope> = Effect.fn('operator.start')(function* ({
  settings,
  observer,
  leaseTimes = LEASE_TIMES,
}: OperatorOptions) {
  const cache = new ObjectCache(new Contents(readsOutsideTranslation(settings)))
  const client = yield* KubeClient
  let sources: Sources | undefined
  let loop: TranslationLoop | undefined
  let isTranslated = false
  const world: World = {
    settings,
    cache,
    observer,
    translation: () => loop?.current() ?? { perGateway: new Map(), statuses: [], problems: [] },
    snapshot: () => loop?.snapshot() ?? snapshotOf([]),
    listener: undefined,
    owners: [],
  }
  cache.onChange((change) => world.listener?.onChange(change))
  loop = yield* makeTranslationLoop({
    settings: translateSettings(settings),
    cache,
    isReady: () => sources?.isSynced() ?? false,
    fetch: (missing) => Effect.provideService(fetchContents(cache, missing), KubeClient, client),
    onTranslation: ({ translation, snapshot, seconds }) => {
      isTranslated = true
      observer.translated(seconds, translation.perGateway.size)
      world.listener?.onTranslation(translation, snapshot)
    },
    onFailure: observer.translationFailed,
    onDefect: observer.objectFailed,
  })
  sources = yield* startSources(settings, cache, observer.followed)
  let areOwnersKnown = false
  const owning = Effect.map(ownAccount(settings.namespace), (owners) => {
    world.owners = owners
    areOwnersKnown = true
  })
  yield* Effect.forkScoped(Effect.annotateLogs(owning, 'component', 'leader'))
  const isClassMissing = (): boolean =>
    areOwnersKnown && sources !== undefined && !sources.pending().includes('GatewayClass') && !hasOwnClass(world)
  const leading = leadForEver(world, leaseTimes, { isTranslated: () => isTranslated, isClassMissing })
  yield* Effect.forkScoped(Effect.annotateLogs(leading, 'component', 'leader'))
  const pending = (): string[] => [...(sources?.pending() ?? []), ...(sources?.lost() ?? [])]
  return {
    isReady: () => isTranslated && sources?.lost().length === 0,
    pending,
    isLeading: () => world.listener !== undefined,
    isIdle: () => isTranslated && (loop?.isIdle() ?? false) && (world.listener?.isIdle() ?? false),
    cache,
    describe: () => describe(world),
    overview: () => overviewOf(world, pending()),
    gateway: (key) => gatewayDetail(world, key),
    configuration: (key) => world.translation().perGateway.get(key)?.config,
  }
})

interface StartOfReplica {
  readonly isTranslated: () => boolean
  /** Of a cluster whose GatewayClasses have been read. */
  readonly isClassMissing: () => boolean
}

/** A lost lease ends all writing; then the replica waits for its turn like every other one. */
const leadForEver = Effect.fnUntraced(function* (world: World, times: LeaseTimes, start: StartOfReplica) {
  const { settings } = world
  const { isTranslated, isClassMissing } = start
  // Others can work at once, so a replica that still reads must not lead. Without the class no replica has led before.
  const turn = until(() => isTranslated() || isClassMissing())
  const leading = Effect.scoped(
    Effect.gen(function* () {
      // A class that is created after the first translation costs a second one of all routes.
      if (!isTranslated() && isClassMissing()) yield* createMissingClass(settings)
      yield* until(isTranslated)
      return yield* lead(world)
    }),
  )
  if (!settings.isLeaderElectionEnabled) return yield* Effect.andThen(turn, leading)
  return yield* Effect.forever(
    turn.pipe(
      Effect.andThen(withLeadership({ settings, times, owners: () => world.owners }, leading)),
      Effect.catchTag('LeadershipLost', ({ identity }) => Effect.logError('leadership lost', identity)),
    ),
  )
})

function until(isTrue: () => boolean): Effect.Effect<void> {
  return Effect.gen(function* () {
    while (!isTrue()) yield* Effect.sleep('5 millis')
  })
}

export function translateSettings(settings: OperatorSettings): Required<TranslateSettings> {
  const { controllerName, className, clusterDomain, namespace, areModelsEnabled } = settings
  const { areInferencePoolsEnabled, backendRefGrantMode, caps, hostBindings } = settings
  const names = { controllerName, className, controllerNamespace: namespace, clusterDomain }
  return {
    ...names,
    areModelsEnabled,
    areInferencePoolsEnabled,
    backendRefGrantMode,
    caps,
    hostBindings,
    areEndpointsComplete: true,
  }
}

function describe({ cache, translation, listener }: World): unknown {
  const kinds = cache.kinds().map((kind) => [
    kind,
    [...cache.all(kind)].map(({ metadata: { namespace = '', name, generation, resourceVersion } }) => ({
      namespace,
      name,
      generation,
      resourceVersion,
    })),
  ])
  const { perGateway, problems } = translation()
  const gateways = [...perGateway].map(([key, { config }]) => [key, redactTree(config)])
  return {
    isLeading: listener !== undefined,
    objects: Object.fromEntries(kinds) as unknown,
    gateways: Object.fromEntries(gateways) as unknown,
    problems,
  }
}
