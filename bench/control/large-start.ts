// `--starts`: many existing routes, and many objects that nothing refers to. Two starts of the controller, without and
// with an existing delivery: the time until the last route is served, and the memory of the controller. During the
// second start one proxy serves all the time, and another one starts together with the controller.
import { setTimeout as delay } from 'node:timers/promises'
import { loadInBulk } from './bulk-load.ts'
import { endpoints, gateway, type KubeManifest, nameOf, NAMESPACE, route, service } from './cluster.ts'
import type { ExistingEnvironment } from './existing.ts'
import { controller, cpuMsOf, type Memory, memoryOf, proxy, quiet, SECOND_PROXY } from './programs.ts'
import { Client } from './traffic.ts'

export interface StartOptions {
  readonly routes: number
  /** ConfigMaps, Secrets and EndpointSlices. */
  readonly unrelated: number
}

export interface Started {
  readonly routes: number
  readonly unrelated: number
  /** From the start of the controller until the last route is served. */
  readonly firstMs: number
  /** The same, with an existing delivery, by a proxy that starts at the same moment. */
  readonly newProxyMs: number
  /** The same, for a route that changed while no controller was running, by a proxy that served before. */
  readonly againMs: number
  /** Requests to that proxy during the start, and those that were not served. */
  readonly requests: number
  readonly failures: number
  /** Of the controller, from its start until then. Other programs on the machine change it less than the time. */
  readonly firstCpuMs: number
  readonly againCpuMs: number
  /** Some seconds after the last status was written. */
  readonly first: Memory
  /** The same for the second start. */
  readonly again: Memory
}

const UNRELATED_CHARS = 2048
const ENDPOINTS = 5
/** Until the first status is written: after a large first delivery they wait for a proxy. */
const STATUSES_MS = 6000
/** Between two requests: with 1 ms the client would take a sixth of a processor from what it measures. */
const PAUSE_MS = 20
/** Thousands of statuses: the API server may answer none for a second. */
const QUIET_MS = 3000
/** A full collection of garbage follows when nothing has changed for a while. */
const REST_MS = 5000

export async function measureStarts(environment: ExistingEnvironment, options: StartOptions): Promise<Started> {
  const { server, client, command, folder, upstreams, port } = environment
  const names = Array.from({ length: options.routes }, (_, index) => nameOf(index))
  const manifests = [
    ...names.flatMap((name) => [service(name), endpoints(name, upstreams[0]), route(name, 'first')]),
    ...Array.from({ length: options.unrelated }, (_, index) => unrelated(index)),
    gateway(port),
  ]
  const begun = performance.now()
  await loadInBulk(server, manifests)
  console.error(`${manifests.length} objects are there after ${(performance.now() - begun).toFixed(0)} ms`)
  const serving = await proxy(command, server, folder)
  const start = async (isServed: () => Promise<number>): Promise<OneStart> => {
    const from = performance.now()
    const operator = await controller(command, server)
    try {
      const ms = (await isServed()) - from
      const cpuMs = cpuMsOf(operator.pid)
      console.error(`served after ${ms.toFixed(0)} ms`)
      await delay(STATUSES_MS)
      await quiet(operator, QUIET_MS)
      await delay(REST_MS)
      return { ms, cpuMs, memory: memoryOf(operator.pid) }
    } finally {
      await operator.stop()
    }
  }
  try {
    const last = nameOf(options.routes - 1)
    const first = await start(() => client.until(last, ({ status }) => status === 200, PAUSE_MS))
    const changed = route(last, 'second')
    await server.apply(changed.path, changed.object)
    const before = { requests: client.requests, failures: client.failures }
    const newcomer = startNewProxy(environment, last)
    const again = await start(() => client.until(last, ({ version }) => version === 'second', PAUSE_MS))
    const { routes, unrelated: count } = options
    const times = { firstMs: first.ms, againMs: again.ms, firstCpuMs: first.cpuMs, againCpuMs: again.cpuMs }
    const [requests, failures] = [client.requests - before.requests, client.failures - before.failures]
    const seen = { newProxyMs: await newcomer, requests, failures }
    return { routes, unrelated: count, ...times, ...seen, first: first.memory, again: again.memory }
  } finally {
    await serving.stop()
  }
}

/** The time until it serves this route; then it ends. */
async function startNewProxy({ server, command, folder, port }: ExistingEnvironment, name: string): Promise<number> {
  const from = performance.now()
  const program = await proxy(command, server, folder, SECOND_PROXY)
  const client = new Client(port, SECOND_PROXY.address)
  try {
    return (await client.until(name, ({ status }) => status === 200, PAUSE_MS)) - from
  } finally {
    client.close()
    await program.stop()
  }
}

interface OneStart {
  readonly ms: number
  readonly cpuMs: number
  readonly memory: Memory
}

export function unrelated(index: number): KubeManifest {
  const name = `unrelated-${index}`
  const metadata = { name, namespace: NAMESPACE }
  const text = `${index} `.repeat(UNRELATED_CHARS).slice(0, UNRELATED_CHARS)
  const core = `/api/v1/namespaces/${NAMESPACE}`
  switch (index % 5) {
    case 0:
    case 1:
      return {
        path: `${core}/configmaps/${name}`,
        object: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text } },
      }
    case 2:
    case 3: {
      const data = { text: Buffer.from(text).toString('base64') }
      return { path: `${core}/secrets/${name}`, object: { apiVersion: 'v1', kind: 'Secret', metadata, data } }
    }
    default:
      return unrelatedSlice(index)
  }
}

function unrelatedSlice(index: number): KubeManifest {
  const { path, object } = endpoints(`unrelated-${index}`, { ip: '10.0.0.1', port: 80 })
  const conditions = { ready: true }
  const all = Array.from({ length: ENDPOINTS }, (_, place) => ({
    addresses: [`10.${(index >> 8) & 255}.${index & 255}.${place + 1}`],
    conditions,
  }))
  return { path, object: { ...object, endpoints: all } }
}
