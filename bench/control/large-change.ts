// What requests notice when a proxy with many routes gets a configuration whose objects are all new: first with the
// same content, then with another content for each route.
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { type RunningProxy, startProxy } from '#proxy/main.ts'
import { ON_LOOPBACK } from '../../proxy/main.testing.ts'
import { freePort } from '../../test/ports.ts'
import { clusterOf, GATEWAY, hostOf, nameOf, NAMESPACE, SETTINGS } from './cluster.ts'
import { spreadOf } from './figures.ts'
import { ownAddress, upstream } from './traffic.ts'

/** Longer than until a thread releases memory that it no longer needs. */
const REST_MS = 6000
const MIB = 1024 * 1024

/** A row for each change. */
export async function measureLargeChange(count: number): Promise<object[]> {
  const server = await upstream('one', ownAddress())
  const port = await freePort()
  const { config, secrets } = rendered(count, { port, upstream: server.address })
  const proxy = await startProxy({ ...ON_LOOPBACK, accessLog: false, logLevel: 'error' })
  const put = async (one: RenderedConfig): Promise<void> => {
    const result = await proxy.apply(one, secrets)
    if ('problem' in result) throw new Error(result.problem.message)
  }
  await put(structuredClone(config))
  await delay(REST_MS)
  const changes = {
    'the same content': structuredClone(config),
    'another content for each route': otherContent(config),
  }
  const found: object[] = []
  for (const [change, next] of Object.entries(changes))
    found.push({ routes: count, change, ...(await one(port, () => put(next))) })
  await stop(proxy)
  server.close()
  return found
}

async function one(port: number, put: () => Promise<void>): Promise<object> {
  const client = new Worker(new URL('./steady-client.ts', import.meta.url), {
    workerData: { port, host: hostOf(nameOf(0)) },
  })
  await new Promise((resolve) => client.once('message', resolve))
  const before = process.memoryUsage().rss
  const begun = performance.now()
  await put()
  const tookMs = performance.now() - begun
  const after = process.memoryUsage().rss
  await delay(REST_MS)
  const times = new Promise<readonly number[]>((resolve) => client.once('message', resolve))
  client.postMessage('end')
  const { p50, p99, max } = spreadOf(await times)
  await client.terminate()
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
