// Starts the proxy inside the calling process. Handles no signals and reads only files that the environment names: the
// command line and the cluster entry do the rest and call `apply` and `stop`.
import type { TraitsRow } from './llm/traits/traits.ts'
import { HeapRelease, ownHeap } from './runtime/heap-release.ts'
import { runProxy } from './runtime/proxy.ts'
import { createRestartHistory } from './runtime/restart-policy.ts'
import type { RunningProxy } from './runtime/running-proxy.ts'
import {
  type Environment,
  MODEL_TRAITS_PATHS,
  type ProxyOptions,
  SettingsError,
  resolveSettings,
} from './runtime/settings.ts'

export type { ApplyResult } from './config/apply-result.ts'
export type { ProxyPorts, RunningProxy } from './runtime/running-proxy.ts'
export type { ProxyOptions } from './runtime/settings.ts'

/** The bundle has JavaScript beside it, the source tree TypeScript. */
const WORKER_ENTRY = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)

/**
 * Options win over the environment, the environment over defaults (settings.ts).
 * @throws {StartError} a port cannot be opened; {SettingsError} an environment variable or option is not usable.
 */
export async function startProxy(
  options: ProxyOptions = {},
  environment: Environment = process.env,
): Promise<RunningProxy> {
  const { settings, problems } = resolveSettings(options, environment)
  if (problems.length > 0) throw new SettingsError(problems)
  return runProxy(settings, {
    modelTraits: await modelTraitsOf(settings.modelTraitsPaths),
    workerEntry: WORKER_ENTRY,
    restartHistory: createRestartHistory,
    heapRelease: new HeapRelease(ownHeap()),
  })
}

/** @throws {SettingsError} with the mistakes of the files. */
async function modelTraitsOf(paths: readonly string[]): Promise<readonly TraitsRow[]> {
  if (paths.length === 0) return []
  const { readModelTraits } = await import('./config/standalone/model-traits.ts')
  const { rows, mistakes } = readModelTraits(paths)
  if (mistakes.length === 0) return rows
  throw new SettingsError(
    mistakes.map((message) => ({ path: MODEL_TRAITS_PATHS, reason: 'InvalidFile', message, severity: 'error' })),
  )
}
