// `--proxies N`: N proxies of one Gateway, as their shipped acknowledger, load a new generation of the Gateway at the
// same moment. Measures when their acknowledgements arrive, and what they cost the API server.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { announcedProxies, isFirst, shardCount } from '../../api/delivery/acknowledging.ts'
import { deliveryNames } from '../../api/delivery/names.ts'
import { Acknowledger } from '../../proxy/config/cluster/acknowledger.ts'
import { createKubeClient, kubeAccessOf, type KubeClient } from '../../proxy/config/cluster/kube-client.ts'
import { parseLevelFilter } from '../../proxy/log/level-filter.ts'
import { createLogger } from '../../proxy/log/logger.ts'
import { GATEWAY, NAMESPACE } from './cluster.ts'
import type { ExistingEnvironment } from './existing.ts'
import { apiServerVariables, cpuMsOf } from './programs.ts'

export interface Acknowledged {
  readonly proxies: number
  readonly shards: number
  /** Proxies that acknowledge at once. */
  readonly first: number
  /** Until all of these are stored. */
  readonly firstMs: number
  readonly allMs: number
  readonly calls: number
  readonly failed: number
  /** Why calls failed, with their number. */
  readonly reasons: ReadonlyMap<string, number>
  /** In the busiest second. */
  readonly writesPerSecondMax: number
  /** Of the API server, over the whole time: 1 is a whole core. */
  readonly cores: number
}

const WAIT_MS = 180_000
const POLL_MS = 20
/** Each process of a cluster has its own connections. */
const CLIENTS = 16
const COLLECTION = `/api/v1/namespaces/${NAMESPACE}/configmaps`

interface Call {
  readonly pod: string
  readonly endMs: number
  /** undefined: it is stored. */
  readonly failure: string | undefined
}

export async function measureAcknowledgements(
  { server, folder }: Pick<ExistingEnvironment, 'server' | 'folder'>,
  count: number,
): Promise<Acknowledged> {
  const proxies = announcedProxies(count, undefined)
  const names = deliveryNames(GATEWAY).acknowledgements
  const objects = names.slice(0, shardCount(proxies)).map((name) => ({ name, path: `${COLLECTION}/${name}` }))
  for (const { name, path } of objects) {
    await server.apply(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
  }
  const access = kubeAccessOf(apiServerVariables(server, folder))
  if (access === undefined) throw new Error('no address of the API server')
  const clients = Array.from({ length: Math.min(CLIENTS, count) }, () => createKubeClient(access))
  const calls: Call[] = []
  const stopping = new AbortController()
  const pods = Array.from(
    { length: count },
    (_, index) => `${GATEWAY}-6d5f7c9b8-${index.toString(36).padStart(5, '0')}`,
  )
  const all = pods.map((pod, index) => {
    const client = noting(clients[index % clients.length] as KubeClient, pod, calls)
    const paths = names.map((name) => `${COLLECTION}/${name}`)
    const one = new Acknowledger({ client, paths, pod, logger: silent(), signal: stopping.signal })
    one.proxies = proxies
    return one
  })
  // The controller of the Gateway reads them all.
  const watching = clients[0]?.watch(`${COLLECTION}?watch=true`, () => {}, { signal: stopping.signal, idleMs: WAIT_MS })
  const pid = apiServerPid(access.server)
  const startMs = performance.now()
  const cpuMs = cpuMsOf(pid)
  for (const one of all) {
    one.say({ generation: 2, gatewayGeneration: 2, gatewayUid: 'u', revision: 'r'.repeat(64), reads: 2 })
  }
  while (storedPods(calls).size < count && performance.now() - startMs < WAIT_MS) await delay(POLL_MS)
  const ms = performance.now() - startMs
  const cores = (cpuMsOf(pid) - cpuMs) / ms
  stopping.abort()
  await watching?.catch(() => undefined)
  for (const client of clients) client.close()
  // A controller that starts later takes over no object of another owner.
  for (const { path } of objects) await server.send({ method: 'DELETE', path })
  const first = pods.filter((pod) => isFirst(pod, proxies))
  const ends = (wanted: ReadonlySet<string>): number =>
    Math.max(
      ...calls.filter(({ pod, failure }) => failure === undefined && wanted.has(pod)).map(({ endMs }) => endMs),
    ) - startMs
  return {
    proxies: count,
    shards: shardCount(proxies),
    first: first.length,
    firstMs: ends(new Set(first)),
    allMs: storedPods(calls).size === count ? ends(new Set(pods)) : Number.POSITIVE_INFINITY,
    calls: calls.length,
    failed: calls.filter(({ failure }) => failure !== undefined).length,
    reasons: reasonsOf(calls),
    writesPerSecondMax: busiestSecond(calls.map(({ endMs }) => endMs)),
    cores,
  }
}

function storedPods(calls: readonly Call[]): ReadonlySet<string> {
  return new Set(calls.filter(({ failure }) => failure === undefined).map(({ pod }) => pod))
}

function reasonsOf(calls: readonly Call[]): ReadonlyMap<string, number> {
  const reasons = calls.flatMap(({ failure }) => failure ?? [])
  return new Map([...Map.groupBy(reasons, (reason) => reason)].map(([reason, all]) => [reason, all.length]))
}

function noting(client: KubeClient, pod: string, calls: Call[]): KubeClient {
  const patch: KubeClient['patch'] = async (...call) => {
    const answer = await client.patch(...call).catch((error: unknown) => {
      calls.push({ pod, endMs: performance.now(), failure: String(error) })
      throw error
    })
    const failure = answer.status === 200 ? undefined : `status ${answer.status}`
    calls.push({ pod, endMs: performance.now(), failure })
    return answer
  }
  return { ...client, patch }
}

function silent(): ReturnType<ReturnType<typeof createLogger>['module']> {
  const filter = parseLevelFilter('error')
  if ('problem' in filter) throw new Error(filter.problem)
  return createLogger({ format: 'text', filter, write: () => {} }).module('bench')
}

function busiestSecond(times: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const time of times) counts.set(Math.floor(time / 1000), (counts.get(Math.floor(time / 1000)) ?? 0) + 1)
  return Math.max(0, ...counts.values())
}

/** The process that listens on the port of this URL. */
function apiServerPid(url: string): number {
  const port = new URL(url).port
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const found = pids.find((pid) => {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return (args[0] ?? '').endsWith('kube-apiserver') && args[args.indexOf('--secure-port') + 1] === port
    } catch {
      // It has ended.
      return false
    }
  })
  if (found === undefined) throw new Error(`no kube-apiserver with --secure-port ${port}`)
  return Number(found)
}
