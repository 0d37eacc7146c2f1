// What requests notice when a proxy with many routes gets a configuration whose objects are all new: first with the
// same content, then with another content for each route.
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { type RunningProxy, startProxy } from '#proxy/main.ts'
import { ON_LOOPBACK } from '../../proxy/main.testing.ts'
import { freePort } from '../../test/ports.ts'
import { type Address, clusterOf, GATEWAY, hostOf, nameOf, NAMESPACE, SETTINGS } from './cluster.ts'
import { spreadOf } from '../figures.ts'

/** Longer than until a thread releases memory that it no longer needs. */
const REST_MS = 6000
/** About as long as a large change takes. */
const CONTROL_MS = 2000
/** The first requests compile the route. */
const WARM_MS = 200
const MIB = 1024 * 1024

/** A row for each change. */
export async function measureLargeChange(count: number): Promise<object[]> {
  const client = new Worker(new URL('./steady-client.ts', import.meta.url))
  const upstream = await answerOf<Address>(client)
  const port = await freePort()
  const { config, secrets } = rendered(count, { port, upstream })
  const proxy = await startProxy({ ...ON_LOOPBACK, accessLog: false, logLevel: 'error' })
  const put = async (one: RenderedConfig): Promise<void> => {
    const result = await proxy.apply(one, secrets)
    if ('problem' in result) throw new Error(result.problem.message)
  }
  await put(structuredClone(config))
  const [same, other] = [structuredClone(config), otherContent(config)]
  const changes: Readonly<Record<string, () => Promise<void>>> = {
    // What the machine alone does to requests.
    none: () => delay(CONTROL_MS),
    'the same content': () => put(same),
    'another content for each route': () => put(other),
  }
  const found: object[] = []
  for (const [change, make] of Object.entries(changes)) {
    await delay(REST_MS)
    found.push({ routes: count, change, ...(await rowOf(client, port, make)) })
  }
  await stop(proxy)
  await client.terminate()
  return found
}

async function rowOf(client: Worker, port: number, make: () => Promise<void>): Promise<object> {
  client.postMessage({ port, host: hostOf(nameOf(0)) })
  await delay(WARM_MS)
  const before = process.memoryUsage().rss
  const begun = performance.now()
  await make()
  const tookMs = performance.now() - begun
  const after = process.memoryUsage().rss
  await delay(REST_MS)
  client.postMessage('end')
  const { p50, p99, max } = spreadOf(await answerOf<readonly number[]>(client))
  return {
    'in force ms': tookMs.toFixed(0),
    'requests p50 ms': p50.toFixed(1),
    'p99 ms': p99.toFixed(1),
    'max ms': max.toFixed(0),
    'RSS before MiB': (before / MIB).toFixed(0),
    'at once': (after / MIB).toFixed(0),
    [`after ${REST_MS / 1000} s`]: (process.memoryUsage().rss / MIB).toFixed(0),
  }
}

/** The next message of the client. */
async function answerOf<T>(client: Worker): Promise<T> {
  // As steady-client.ts sends it.
  const [answer] = (await once(client, 'message')) as [T]
  return answer
}

function rendered(count: number, options: Parameters<typeof clusterOf>[1]): ReturnType<typeof renderedOf> {
  return renderedOf(translate(snapshotOf(clusterOf(count, options)), SETTINGS))
}

function renderedOf({ perGateway }: ReturnType<typeof translate>): {
  config: RenderedConfig
  secrets: Parameters<RunningProxy['apply']>[1]
} {
  const found = perGateway.get(`${NAMESPACE}/${GATEWAY}`)
  if (found === undefined) throw new Error('the Gateway was not rendered')
  return found
}

function otherContent(config: RenderedConfig): RenderedConfig {
  const copy = structuredClone(config)
  for (const route of copy.routes) route.createdAt = (route.createdAt ?? 0) + 1
  return copy
}

function stop(proxy: RunningProxy): Promise<void> {
  return proxy.stop({ isForced: true })
}
