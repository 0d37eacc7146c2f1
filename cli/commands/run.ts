// gw run: a proxy in this process, fed from files. A bad change keeps the last good configuration.
import { statSync } from 'node:fs'
import type { ProxyOptions, RunningProxy } from '#proxy/main.ts'
import type { RunFlags } from '../program.ts'
import { formatProblems, hasErrors } from '../report.ts'
import { loadSource, type LoadedSource } from '../source.ts'
import { watchPaths, type SourceWatch } from '../watch.ts'

export async function runCommand(flags: RunFlags): Promise<number> {
  const options = optionsOf(flags)
  if ('problem' in options) {
    console.error(options.problem)
    return 1
  }
  const source = await loadSource(flags.file)
  if ('problem' in source) {
    console.error(source.problem)
    return 1
  }
  if (source.problems.length > 0) console.error(formatProblems(source.problems))
  if (source.rendered === undefined || (source.form === 'standalone' && hasErrors(source.problems))) return 1
  const started = await start(options)
  if ('problem' in started) {
    console.error(started.problem)
    return 1
  }
  return serve(flags.file, source, started.proxy)
}

async function start(options: ProxyOptions): Promise<{ proxy: RunningProxy } | { problem: string }> {
  const { startProxy } = await import('#proxy/main.ts')
  try {
    return { proxy: await startProxy(options) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Until a signal, or until the proxy ends by itself. */
async function serve(path: string, source: LoadedSource, proxy: RunningProxy): Promise<number> {
  const { createStdioBridge } = await import('#proxy/mcp/stdio-bridge.ts')
  const bridge = await createStdioBridge()
  const apply = async ({ rendered }: LoadedSource): Promise<string | undefined> => {
    if (rendered === undefined) return undefined
    const result = await proxy.apply(bridge.expose(rendered.config), rendered.secrets)
    if ('problem' in result) return result.problem.message
    for (const warning of result.warnings) console.error(`warning: ${warning}`)
    return undefined
  }
  try {
    const problem = await apply(source)
    if (problem !== undefined) {
      console.error(problem)
      await proxy.stop()
      return 1
    }
    console.error(`gw: serving ${path}`)
    const watch = path === '-' ? undefined : watchSource(path, source, apply)
    const ended = await Promise.race([signal(), proxy.closed.then(() => 'closed' as const)])
    watch?.close()
    if (ended !== 'closed') await stopOnSignal(proxy)
    return 0
  } finally {
    bridge.close()
  }
}

function watchSource(
  path: string,
  source: LoadedSource,
  apply: (source: LoadedSource) => Promise<string | undefined>,
): SourceWatch {
  const isFolder = statSync(path).isDirectory()
  let work = Promise.resolve()
  const reload = async (): Promise<void> => {
    const next = await loadSource(path)
    if ('problem' in next) {
      console.error(`${next.problem}; the last good configuration stays`)
      return
    }
    if (next.problems.length > 0) console.error(formatProblems(next.problems))
    if (next.rendered === undefined) {
      console.error(`gw: ${path} has errors; the last good configuration stays`)
      return
    }
    const problem = await apply(next)
    console.error(problem === undefined ? `gw: reloaded ${path}` : `${problem}; the last good configuration stays`)
  }
  return watchPaths([path, ...source.watched], isFolder, () => {
    // One reload after the other; a failure of one must not end the watch.
    work = work.then(reload).catch((error: unknown) => console.error(`gw: reload failed: ${String(error)}`))
  })
}

function signal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, resolve)
  return promise
}

/** A second signal ends the process at once. */
async function stopOnSignal(proxy: RunningProxy): Promise<void> {
  const again = (): never => process.exit(1)
  process.once('SIGINT', again)
  process.once('SIGTERM', again)
  await proxy.stop()
}

function optionsOf(flags: RunFlags): ProxyOptions | { problem: string } {
  const addresses = { admin: flags.adminAddr, stats: flags.statsAddr, readiness: flags.readinessAddr }
  const parsed: { [name: string]: { host: string; port: number } } = {}
  for (const [name, text] of Object.entries(addresses)) {
    const parts = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
    const port = Number(parts?.[3])
    if (parts === null || port > 65_535) return { problem: `--${name}-addr ${text}: must be host:port` }
    parsed[name] = { host: parts[1] ?? parts[2] ?? '', port }
  }
  return {
    listenAddress: flags.listenAddress,
    workers: flags.workers,
    logFormat: flags.logFormat,
    logLevel: flags.logLevel,
    accessLog: flags.accessLog,
    admin: parsed['admin'],
    stats: parsed['stats'],
    readiness: parsed['readiness'],
  }
}
