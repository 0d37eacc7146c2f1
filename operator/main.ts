// The operator as a process: settings from the environment, servers, the control plane, an orderly end on SIGTERM. The
// one place where effects are run.
import { hostname } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { Cause, Console, Effect, Exit, Fiber, Layer, Logger, References } from 'effect'
import { loadKubeConfig } from '#api/kube/kube-config.ts'
import { buildInfo } from '#api/version.ts'
import { collectWhenIdle, ownHeap } from './admin/idle-collection.ts'
import { COMPONENTS, LogLevels, operatorLogger } from './admin/log.ts'
import { createMetrics, type OperatorMetrics } from './admin/metrics.ts'
import { startServers } from './admin/servers.ts'
import { type RunningOperator, startOperator } from './controllers/operator.ts'
import { type OperatorSettings, resolveOperatorSettings } from './controllers/settings.ts'
import { KubeClient } from './kube/client.ts'

/**
 * Percent that the heap may grow by, after a full collection, until the next one. V8 by itself lets it grow to several
 * times of what is in use, which a cluster of thousands of routes pays for in hundreds of MiB. Less saves little, and
 * more changes meet a collection, which takes half a second of the thread with 5,000 routes on a busy machine.
 */
const HEAP_GROWTH = 50

const READY_CHECK_MS = 250
/** After the first translation: a leader is elected, and writes all configurations. */
const FIRST_DELIVERIES_MS = 5000

/** Until a signal; resolves to the exit code. */
export async function runOperator(environment: Readonly<Record<string, string | undefined>>): Promise<number> {
  const outcome = resolveOperatorSettings(environment, hostname())
  const cluster = loadKubeConfig()
  if ('problems' in outcome || 'problem' in cluster) {
    const settings = 'problems' in outcome ? outcome.problems : []
    for (const { path, message } of settings) console.error(`${path}: ${message}`)
    if ('problem' in cluster) console.error(cluster.problem)
    return 1
  }
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`)
  const { settings, unknown } = outcome
  const levels = new LogLevels(settings.logLevel)
  const logger = operatorLogger(levels, (line) => void process.stderr.write(line))
  const metrics = createMetrics({ ...settings, build: buildInfo(environment) })
  const program = Effect.scoped(Effect.andThen(warnOf(unknown, settings), operate(settings, levels, metrics))).pipe(
    Effect.provide(Layer.merge(KubeClient.layer(cluster.config, metrics.onWrite), Logger.layer([logger]))),
    Effect.provideService(References.MinimumLogLevel, 'Trace'),
    Effect.catchTag('ListenError', ({ text }) => Effect.as(Console.error(text), 1)),
  )
  const fiber = Effect.runFork(program)
  const stop = (): void => void Effect.runFork(Fiber.interrupt(fiber))
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  const exit = await Effect.runPromise(Fiber.await(fiber))
  process.off('SIGTERM', stop)
  process.off('SIGINT', stop)
  if (Exit.isSuccess(exit)) return exit.value
  if (Cause.hasInterruptsOnly(exit.cause)) return 0
  console.error(Cause.pretty(exit.cause))
  return 1
}

function warnOf(unknown: readonly string[], { className, classParametersRefs }: OperatorSettings): Effect.Effect<void> {
  const others = [...classParametersRefs.keys()].filter((name) => name !== className)
  const warnings = [
    ...(unknown.length === 0 ? [] : [Effect.logWarning('unknown settings ignored', unknown)]),
    ...(others.length === 0
      ? []
      : [Effect.logWarning(`GW_GATEWAY_CLASS_PARAMETERS_REFS applies to the class ${className} only`, others)]),
  ]
  return Effect.all(warnings, { discard: true })
}

const operate = Effect.fn('operator.main')(function* (
  settings: OperatorSettings,
  levels: LogLevels,
  metrics: OperatorMetrics,
) {
  let operator: RunningOperator | undefined
  const ports = yield* startServers({
    settings,
    levels,
    metrics,
    isReady: () => operator?.isReady() ?? false,
    pending: () => operator?.pending() ?? ['everything'],
    snapshot: () => operator?.describe() ?? {},
    overview: () => operator?.overview(),
    gateway: (key) => operator?.gateway(key),
    configuration: (key) => operator?.configuration(key),
  })
  yield* Effect.logInfo('started', { ...ports, components: COMPONENTS.length })
  const running = yield* startOperator({ settings, observer: metrics.observer })
  operator = running
  let isStarted = false
  const starting = Effect.gen(function* () {
    while (!running.isReady()) yield* Effect.sleep(READY_CHECK_MS)
    yield* Effect.sleep(FIRST_DELIVERIES_MS)
    isStarted = true
  })
  yield* Effect.forkScoped(starting)
  return yield* collectWhenIdle({
    heap: ownHeap(),
    isStarted: () => isStarted,
    onChange: (listener) => running.cache.onChange(listener),
  })
})
