// gw run: a proxy in this process, configured by files. After a bad change it keeps the last valid configuration.
import { statSync } from 'node:fs'
import type { ProxyOptions, RunningProxy } from '#proxy/main.ts'
import type { StdioBridge } from '#proxy/mcp/targets/stdio-bridge.ts'
import { logFormatOf, optionsOf, type RunFlags } from '../options.ts'
import { reasonText } from '../output.ts'
import { runSource } from '../quickstart.ts'
import { hasErrors } from '../report.ts'
import { RunReport } from '../run-report.ts'
import { loadRunnable, readSource, type LoadedSource, type SourceMemory } from '../source.ts'
import { KeySets } from '../key-sets.ts'
import { apply, Reloader } from '../reloader.ts'
import { watchSource, type SourceWatch } from '../watch.ts'

/** Issuers that are slower or unreachable must not delay the rest of the configuration. */
const FIRST_KEYS_MS = 2000

export async function runCommand(flags: RunFlags): Promise<number> {
  const report = new RunReport()
  report.format = logFormatOf(flags, undefined, process.env)
  const given = runSource(flags, process.env)
  if ('problem' in given) {
    report.guide(given.problem)
    return 1
  }
  const { path, text, notes } = given
  // Before the first load: a change while the proxy starts must not be missed.
  const changes = new Changes()
  const watch = watchOf(path, report, () => changes.add())
  const keySets = new KeySets(report, () => changes.add())
  const memory: SourceMemory = text === undefined ? {} : { stdin: [text] }
  try {
    const source = await loadWithKeys({ flags, path }, { keySets, memory, report })
    if ('problem' in source) return failed(report, source.problem)
    report.problems(source.problems)
    if (source.rendered === undefined || (source.form === 'standalone' && hasErrors(source.problems))) return 1
    watch?.follow(source.watched)
    const options = optionsOf(flags, source.settings, process.env)
    if ('problem' in options) return failed(report, options.problem)
    const started = await start(options, { ...source.settings?.environment, ...process.env })
    if ('problem' in started) return failed(report, started.problem)
    return await serve({ path, notes, source, proxy: started.proxy, changes, watch, keySets, memory, report })
  } finally {
    watch?.close()
    await keySets.close()
  }
}

/** Waits for the keys of issuers that answer in time: without keys, requests would fail and warnings be logged. */
async function loadWithKeys(
  { flags, path }: { readonly flags: RunFlags; readonly path: string },
  { keySets, memory, report }: Pick<Run, 'keySets' | 'memory' | 'report'>,
): Promise<LoadedSource | { problem: string }> {
  const read = await readSource(path, memory)
  if ('problem' in read) return read
  const source = await loadRunnable(read, keySets.stored, memory)
  report.format = logFormatOf(flags, source.settings, process.env)
  if (source.rendered === undefined || source.keyRequests.length === 0) return source
  await keySets.firstAnswers(source.keyRequests, FIRST_KEYS_MS)
  return loadRunnable(read, keySets.stored, memory)
}

function failed(report: RunReport, problem: string): number {
  report.error(problem)
  return 1
}

/** undefined: nothing to watch. The load reports a path that is not there or cannot be reached. */
function watchOf(path: string, report: RunReport, onChange: () => void): SourceWatch | undefined {
  const isFolder = path === '-' ? undefined : folderOrFile(path)
  if (isFolder === undefined) return undefined
  return watchSource(path, { isFolder, onChange, onProblem: (message) => report.warn(message) })
}

function folderOrFile(path: string): boolean | undefined {
  try {
    return statSync(path).isDirectory()
  } catch {
    return undefined
  }
}

/** Changes of the source; kept until they are handled. */
class Changes {
  #isPending = false
  #listener: (() => void) | undefined = undefined

  add(): void {
    if (this.#listener === undefined) this.#isPending = true
    else this.#listener()
  }

  listen(listener: () => void): void {
    this.#listener = listener
    if (this.#isPending) listener()
  }
}

async function start(
  options: ProxyOptions,
  environment: NodeJS.ProcessEnv,
): Promise<{ proxy: RunningProxy } | { problem: string }> {
  const { startProxy } = await import('#proxy/main.ts')
  try {
    return { proxy: await startProxy(options, environment) }
  } catch (error) {
    return { problem: reasonText(error) }
  }
}

interface Run {
  readonly path: string
  /** Printed when the proxy serves requests. */
  readonly notes: readonly string[]
  readonly source: LoadedSource
  readonly proxy: RunningProxy
  readonly changes: Changes
  readonly watch: SourceWatch | undefined
  readonly keySets: KeySets
  readonly memory: SourceMemory
  readonly report: RunReport
}

/** Until a signal, or until the proxy ends by itself. */
async function serve({ changes, ...run }: Run): Promise<number> {
  const { path, notes, source, proxy, keySets, memory, report } = run
  const signalled = signal(readsOnHangup(path) ? ['SIGINT', 'SIGTERM'] : ['SIGINT', 'SIGTERM', 'SIGHUP'])
  const { createStdioBridge } = await import('#proxy/mcp/targets/stdio-bridge.ts')
  const bridge = await createStdioBridge({
    logged: (line, command) => report.info(`MCP server ${command}: ${line}`),
    idleMs: proxy.mcpSessionTtlMs,
  })
  const { ModelCatalogs: Catalogs } = await import('../model-catalogs.ts')
  const catalogs = new Catalogs({ environment: process.env, report, use: (offered) => proxy.setModelCatalog(offered) })
  catalogs.configure(source.modelCatalog)
  try {
    const problem = await apply(source, proxy, bridge)
    if (problem !== undefined) {
      report.error(problem)
      await proxy.stop({ isForced: true })
      return 1
    }
    report.info(`serving ${path === '-' ? (run.memory.stdin?.[0]?.path ?? path) : path}`)
    for (const note of notes) report.info(note)
    const reloader = new Reloader({ ...run, bridge, catalogs })
    if (path !== '-' && memory.stdin === undefined) {
      const { sourceEditor } = await import('../edit/source-editor.ts')
      proxy.useEditor(
        sourceEditor({
          path,
          memory,
          storedKeys: () => keySets.stored,
          reload: (given) => reloader.reloaded(given),
          hold: (saving) => reloader.hold(saving),
        }),
      )
    }
    changes.listen(() => reloader.request())
    if (readsOnHangup(path)) process.on('SIGHUP', () => reloader.request())
    proxy.onUnknownKey((requestKey) => keySets.refresh(requestKey))
    await keySets.follow(source.keyRequests)
    const ended = await Promise.race([signalled, proxy.closed.then(() => 'closed' as const)])
    if (ended !== 'closed') await stopOnSignal(proxy, bridge, report)
    return 0
  } finally {
    catalogs.close()
    bridge.close()
  }
}

/** With a terminal, SIGHUP ends the process; without one, it reloads the files. */
function readsOnHangup(path: string): boolean {
  return path !== '-' && !process.stdin.isTTY
}

/** Before the reason why the process has not ended is reported. */
const STOPPING_MS = 1000
const STOPPING = 'open requests may still finish; press Ctrl-C again to stop at once'

function signal(names: readonly NodeJS.Signals[]): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  for (const name of names) process.once(name, resolve)
  return promise
}

/** A second signal ends the process at once. */
async function stopOnSignal(proxy: RunningProxy, bridge: StdioBridge, report: RunReport): Promise<void> {
  const again = (): never => {
    report.info('stopped at once by a second signal')
    bridge.close()
    process.exit(1)
  }
  process.once('SIGINT', again)
  process.once('SIGTERM', again)
  const waiting = setTimeout(() => report.info(STOPPING), STOPPING_MS)
  await proxy.stop()
  clearTimeout(waiting)
}
