// gw proxy serve: the proxy of a Gateway in a cluster. Settings come from the environment and the bootstrap file, the
// configuration from the operator (proxy/config/cluster).
import { printError, reasonText } from '../output.ts'
import { readFileSync } from 'node:fs'
import { DELIVERY_MOUNT_PATH, POD_ENVIRONMENT } from '#api/delivery/pod-contract.ts'
import type { ClusterSource } from '#proxy/config/cluster/cluster-source.ts'
import type { CatalogSource } from '#proxy/llm/cost/offered-catalog.ts'
import type { RunningProxy } from '#proxy/main.ts'
import { optionsOf } from '../options.ts'
import { boundedProblems, formatProblems } from '../report.ts'
import { joinTo, type Rendered } from './join.ts'

export interface ServeFlags {
  readonly file?: string
  readonly mount?: string
  readonly listenAddress?: string
}

interface Identity {
  readonly namespace: string
  readonly gateway: string
  readonly pod: string
}

export async function proxyServeCommand(flags: ServeFlags): Promise<number> {
  const identity = identityOf(process.env)
  if ('problem' in identity) return failed(identity.problem)
  const bootstrap = await loadBootstrap(flags.file)
  if ('problem' in bootstrap) return failed(bootstrap.problem)
  const { startProxy } = await import('#proxy/main.ts')
  let proxy: RunningProxy
  try {
    proxy = await startProxy({
      ...bootstrap.options,
      servesTenants: true,
      listenAddress: flags.listenAddress,
    })
  } catch (error) {
    return failed(reasonText(error))
  }
  const { ModelCatalogs } = await import('../model-catalogs.ts')
  const catalogs = new ModelCatalogs({
    environment: process.env,
    report: proxy.logger('model catalog'),
    use: (offered) => proxy.setModelCatalog(offered),
  })
  catalogs.configure(bootstrap.modelCatalog)
  const source = await follow(proxy, identity, bootstrap.rendered, flags.mount ?? DELIVERY_MOUNT_PATH)
  await serve(proxy, source)
  catalogs.close()
  return 0
}

function failed(problem: string): number {
  printError(problem)
  return 1
}

function identityOf(environment: NodeJS.ProcessEnv): Identity | { readonly problem: string } {
  const { namespace, gateway, podName } = POD_ENVIRONMENT
  const values = [namespace, gateway, podName].map((name) => environment[name]?.trim() ?? '')
  const missing = [namespace, gateway, podName].filter((_, index) => values[index] === '')
  if (missing.length > 0) return { problem: `missing environment variables: ${missing.join(', ')}` }
  const [inNamespace = '', name = '', pod = ''] = values
  return { namespace: inNamespace, gateway: name, pod }
}

interface Bootstrap {
  readonly options: Exclude<ReturnType<typeof optionsOf>, { readonly problem: string }>
  readonly rendered: Rendered | undefined
  readonly modelCatalog: readonly CatalogSource[]
}

/** Settings of the process, and the configuration that rawConfig adds. */
async function loadBootstrap(path: string | undefined): Promise<Bootstrap | { readonly problem: string }> {
  const { loadStandalone } = await import('#proxy/config/standalone/load.ts')
  const text = path === undefined ? 'config: {}\n' : readText(path)
  if (text === undefined) return { problem: `${path}: cannot be read` }
  const loaded = loadStandalone({ path: path ?? '', text, environment: process.env, isGenerated: true })
  if (loaded.rendered === undefined) return { problem: formatProblems(boundedProblems(loaded.problems)) }
  // Probes and scrapers come from outside the pod; only admin stays on loopback.
  const own = optionsOf({ file: '', listenAddress: '', accessLog: true }, loaded.settings, process.env)
  if ('problem' in own) return { problem: own.problem }
  const { stats, readiness } = loaded.settings
  return {
    options: { ...own, stats: stats && own.stats, readiness: readiness && own.readiness },
    rendered: loaded.rendered,
    modelCatalog: loaded.modelCatalog,
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The caller reports it, with the path.
    return undefined
  }
}

async function follow(
  proxy: RunningProxy,
  identity: Identity,
  bootstrap: Rendered | undefined,
  mountPath: string,
): Promise<ClusterSource> {
  const { ClusterSource: Source } = await import('#proxy/config/cluster/cluster-source.ts')
  const { createKubeClient, kubeAccessOf } = await import('#proxy/config/cluster/kube-client.ts')
  const logger = proxy.logger('cluster')
  const access = kubeAccessOf(process.env)
  if (access === undefined) logger.warn('no API server: the proxy follows only the mounted files')
  const join = bootstrap === undefined ? (all: Rendered): Rendered => all : joinTo(bootstrap)
  const source = new Source({
    ...identity,
    mountPath,
    client: access && createKubeClient(access),
    logger,
    apply: (config, secrets) => {
      const all = join({ config, secrets })
      return proxy.apply(all.config, all.secrets)
    },
    supersede: () => proxy.supersede(),
  })
  proxy.onUnknownKey((keySet) => source.unknownKey(keySet))
  proxy.onMeshTrouble((message) => source.meshTrouble(message))
  await source.start()
  return source
}

/** Until a signal, or until the proxy ends by itself. A second signal ends the process at once. */
async function serve(proxy: RunningProxy, source: ClusterSource): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve())
  await Promise.race([promise, proxy.closed])
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1))
  await Promise.all([source.stop(), proxy.stop()])
}
