// Loads the files of `gw run` again after a change, and has the proxy use them. If another thread has loaded the same
// files, its result is used: thousands of routes take this thread a second.
import { isDeepStrictEqual } from 'node:util'
import type { RunningProxy } from '#proxy/main.ts'
import type { StdioBridge } from '#proxy/mcp/targets/stdio-bridge.ts'
import type { KeySets } from './key-sets.ts'
import type { ModelCatalogs } from './model-catalogs.ts'
import { reasonText } from './output.ts'
import type { RunReport } from './run-report.ts'
import {
  filesId,
  type GivenLoad,
  loadRunnable,
  readSource,
  type LoadedSource,
  type ReadSource,
  remember,
  type SourceMemory,
  type StoredKeys,
} from './source.ts'
import type { SourceWatch } from './watch.ts'

type Applying = Pick<RunningProxy, 'apply' | 'adminAddress'>
type Exposing = Pick<StdioBridge, 'expose'>

/** undefined: the configuration is active. Warnings of the proxy are in its log. */
export async function apply(
  { rendered, problems }: LoadedSource,
  proxy: Applying,
  bridge: Exposing,
): Promise<string | undefined> {
  if (rendered === undefined) return undefined
  const reported = problems.map(({ message }) => message)
  const { withAdminAddress } = await import('#proxy/config/standalone/build/ui.ts')
  const config = withAdminAddress(bridge.expose(rendered.config), proxy.adminAddress)
  const result = await proxy.apply(config, rendered.secrets, reported)
  if ('problem' in result) return result.problem.message
  return undefined
}

export interface Reloading {
  /** Of `gw run -f`. */
  readonly path: string
  /** In force. */
  readonly source: LoadedSource
  readonly proxy: Applying
  readonly bridge: Exposing
  readonly watch: Pick<SourceWatch, 'follow'> | undefined
  readonly keySets: Pick<KeySets, 'stored' | 'follow'>
  readonly memory: SourceMemory
  readonly report: Pick<RunReport, 'info' | 'error' | 'problems'>
  readonly catalogs: Pick<ModelCatalogs, 'configure'>
}

export class Reloader {
  readonly #run: Reloading
  #applied: LoadedSource
  /** The last load did not become active. */
  #isBroken = false
  #work: Promise<void> = Promise.resolve()
  #isQueued = false
  #held: Promise<unknown> = Promise.resolve()
  #given: GivenLoad | undefined = undefined
  /** With which the applied source was loaded; undefined: unknown. */
  #keys: StoredKeys | undefined = undefined

  constructor(run: Reloading) {
    this.#run = run
    this.#applied = run.source
  }

  /** Reloads run one after the other; all changes during a reload cause one more. A failure must not end the watch. */
  request(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#work = this.#work
      .then(() => {
        this.#isQueued = false
        return this.#reload()
      })
      .catch((error: unknown) => this.#run.report.error(`gw: reload failed: ${reasonText(error)}`))
  }

  /** Reloads wait for it. It may fail. */
  hold(work: Promise<unknown>): void {
    this.#held = work.catch(() => undefined)
  }

  /** Loads the files again, or uses the given load of them. Resolves with the reason why they are not in force. */
  async reloaded(given: GivenLoad | undefined): Promise<string | undefined> {
    this.#given = given
    this.request()
    await this.#work
    return this.#isBroken ? 'the proxy has not accepted it: its log has the reason' : undefined
  }

  async #reload(): Promise<void> {
    const { path, proxy, bridge, watch, keySets, memory, report, catalogs } = this.#run
    await this.#held
    const wasBroken = this.#isBroken
    this.#isBroken = true
    const read = await readSource(path, memory)
    if ('problem' in read) {
      report.error(`${read.problem}; the last valid configuration stays active`)
      return
    }
    if (!wasBroken && this.#isApplied(read)) {
      this.#isBroken = false
      return
    }
    const keys = keySets.stored
    const next = await this.#loaded(read, keys)
    watch?.follow(next.watched)
    await keySets.follow(next.keyRequests)
    const isNew = !isDeepStrictEqual(next.problems, this.#applied.problems)
    if (isNew) report.problems(next.problems)
    if (next.rendered === undefined) {
      report.error(`gw: ${path} has errors; the last valid configuration stays active`)
      return
    }
    if (isDeepStrictEqual(next.rendered, this.#applied.rendered)) {
      if (catalogs.configure(next.modelCatalog)) report.info(`reloaded the model catalog of ${path}`)
      this.#applied = next
      this.#keys = keys
      this.#isBroken = false
      if (wasBroken) report.info(`${path} has no more errors and equals the active configuration`)
      return
    }
    const problem = await apply(next, proxy, bridge)
    this.#isBroken = problem !== undefined
    if (problem === undefined) {
      this.#applied = next
      this.#keys = keys
      catalogs.configure(next.modelCatalog)
      report.info(`reloaded ${path}`)
    } else report.error(`${problem}; the last valid configuration stays active`)
    if (!isDeepStrictEqual(next.settings, this.#run.source.settings)) {
      report.info(`changes to config in ${path} take effect at the next start`)
    }
  }

  /** Nothing that the applied source was loaded from has changed, such as after a change that was already loaded. */
  #isApplied({ form, files }: ReadSource): boolean {
    const { memory, keySets } = this.#run
    const isSame = form === 'standalone' && hasOneFile(this.#applied) && memory.last?.id === filesId(files)
    return isSame && isDeepStrictEqual(this.#keys, keySets.stored)
  }

  async #loaded(read: ReadSource, keys: StoredKeys): Promise<LoadedSource> {
    const { memory } = this.#run
    const given = this.#given
    this.#given = undefined
    const isUsable =
      given !== undefined &&
      given.id === filesId(read.files) &&
      hasOneFile(given.source) &&
      isDeepStrictEqual(given.storedKeys, keys)
    if (!isUsable) return loadRunnable(read, keys, memory)
    remember(read.files, given.source, memory)
    return given.source
  }
}

/** Other files may have changed since the load. */
function hasOneFile({ form, watched }: LoadedSource): boolean {
  return form === 'standalone' && watched.length === 0
}
