// `--existing`: routes that exist before their controller, or before their Gateway. The time until all of them are
// attached and served does not depend on how fast an API server creates routes.
import { setTimeout as delay } from 'node:timers/promises'
import { GATEWAY_NAME_LABEL } from '#api/delivery/names.ts'
import { until } from '../../test/wait.ts'
import { countAttached } from './attached.ts'
import { endpoints, GATEWAY, gateway, nameOf, NAMESPACE, route, ROUTES_PATH, service } from './cluster.ts'
import type { BenchEnvironment } from './environment.ts'
import { controller, type Program, proxy, quiet, type Writes, writesBetween, writesOf } from './programs.ts'
import { applyAll, ATTACH_MS_MAX, forEachOf } from './rounds.ts'

export interface ExistingEnvironment extends Pick<BenchEnvironment, 'server' | 'client' | 'upstreams'> {
  /** Port of the Gateway. */
  readonly port: number
  readonly command: string
  readonly folder: string
}

export interface ExistingOptions {
  /** Number of existing routes. */
  readonly from: number
  readonly to: number
  readonly concurrency: number
}

export interface Attached {
  readonly routes: number
  /** What was created last. */
  readonly after: 'controller' | 'Gateway'
  /** Measured from that moment: the controller logs its start, then statuses, then traffic. */
  readonly startedMs: number
  readonly acceptedMs: number
  /** The status of the Gateway counts all of them. */
  readonly countedMs: number
  readonly servedMs: number
  readonly writes: Writes
}

const NOT_FOUND = 404
const MERGE_PATCH = 'application/merge-patch+json'
const LOOK_MS = 500
/** Collections of what a Gateway leads to. */
const OWNED_PATHS = [
  ...['configmaps', 'secrets', 'services', 'serviceaccounts'].map(
    (plural) => `/api/v1/namespaces/${NAMESPACE}/${plural}`,
  ),
  ...['roles', 'rolebindings'].map((plural) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/${plural}`),
  ...['deployments', 'daemonsets'].map((plural) => `/apis/apps/v1/namespaces/${NAMESPACE}/${plural}`),
  `/apis/policy/v1/namespaces/${NAMESPACE}/poddisruptionbudgets`,
]

export interface Existing {
  readonly attached: readonly Attached[]
  /** The time that a client without watchers needs to write the same statuses: the lower limit. */
  readonly bareMs: number
}

/** Keeps the routes, and deletes everything else. */
export async function measureExisting(environment: ExistingEnvironment, options: ExistingOptions): Promise<Existing> {
  const { server, command, folder, upstreams, port } = environment
  const { from, to, concurrency } = options
  const names = Array.from({ length: to - from }, (_, index) => nameOf(from + index))
  const manifests = names.flatMap((name) => [service(name), endpoints(name, upstreams[0]), route(name, 'first')])
  await applyAll(environment, manifests, concurrency)
  console.error(`${to} routes are there`)
  const edge = gateway(port)
  const makeGateway = (): Promise<void> => server.apply(edge.path, edge.object)
  const withProxy = async <T>(work: () => Promise<T>): Promise<T> => {
    const serving = await proxy(command, server, folder)
    try {
      return await work()
    } finally {
      await serving.stop()
    }
  }
  await makeGateway()
  const starting = Promise.withResolvers<Program>()
  const start = async (): Promise<Program> => {
    const operator = await controller(command, server)
    starting.resolve(operator)
    return operator
  }
  const started = await withProxy(() => measureOne(environment, { to, after: 'controller', before: new Map(), start }))
  const operator = await starting.promise
  const attached = [started]
  try {
    await removeGateway(environment, operator)
    const before = await writesOf(operator)
    const again = (): Promise<Program> => makeGateway().then(() => operator)
    attached.push(await withProxy(() => measureOne(environment, { to, after: 'Gateway', before, start: again })))
    await removeGateway(environment, operator)
  } finally {
    await operator.stop()
  }
  const routes = Array.from({ length: to }, (_, index) => nameOf(index))
  const bareMs = await writeStatuses(server, routes, [BARE_PARENT])
  await writeStatuses(server, routes, [])
  return { attached, bareMs }
}

/** The controller writes the same number at once. */
const STATUSES_AT_ONCE = 100

const BARE_CONDITIONS = ['Accepted', 'ResolvedRefs'].map((type) => {
  const condition = { type, status: 'True', reason: type, message: 'written by the benchmark' }
  return { ...condition, observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' }
})
const BARE_PARENT = {
  parentRef: { name: GATEWAY },
  controllerName: 'bench.example/bare',
  conditions: BARE_CONDITIONS,
}

async function writeStatuses(
  server: ExistingEnvironment['server'],
  names: readonly string[],
  parents: readonly object[],
): Promise<number> {
  const body = { status: { parents } }
  const begun = performance.now()
  await forEachOf(names, STATUSES_AT_ONCE, async (name) => {
    const path = `${route(name, '').path}/status`
    const { status } = await server.send({ method: 'PATCH', path, body, contentType: MERGE_PATCH })
    if (status >= 300) throw new Error(`${path}: ${status}`)
  })
  return performance.now() - begun
}

interface Beginning extends Pick<Attached, 'after'> {
  readonly to: number
  readonly before: Writes
  readonly start: () => Promise<Program>
}

async function measureOne(
  { server, client }: ExistingEnvironment,
  { to, after, before, start }: Beginning,
): Promise<Attached> {
  const attached = countAttached(server)
  try {
    const begun = performance.now()
    const reached = attached.reached(to, ATTACH_MS_MAX)
    const operator = await start()
    const startedMs = performance.now() - begun
    const servedMs = (await allServed(client, to)) - begun
    const { accepted, counted } = await reached
    await quiet(operator)
    return {
      routes: to,
      after,
      startedMs,
      acceptedMs: accepted - begun,
      countedMs: counted - begun,
      servedMs,
      writes: writesBetween(before, await writesOf(operator)),
    }
  } finally {
    attached.stop()
  }
}

/** The time when the last one was served; sending a request to each of them takes longer. */
async function allServed(client: BenchEnvironment['client'], count: number): Promise<number> {
  let served = performance.now()
  for (let index = count - 1; index >= 0; index--) {
    const before = client.requests
    const at = await client.until(nameOf(index), ({ status }) => status === 200)
    const wasThere = client.requests === before + 1
    if (!wasThere) served = at
  }
  return served
}

/** Also deletes the objects that it owns: no garbage collector runs here. */
async function removeGateway({ server, port }: ExistingEnvironment, operator: Program): Promise<void> {
  const remove = async (path: string): Promise<void> => {
    const { status } = await server.send({ method: 'DELETE', path })
    if (status >= 300 && status !== NOT_FOUND) throw new Error(`${path}: ${status}`)
  }
  await remove(gateway(port).path)
  // A slow server may show no writes for a while although more follow.
  await until('no route has a parent', async () => !(await haveParents(server)), ATTACH_MS_MAX)
  await quiet(operator)
  const selector = encodeURIComponent(`${GATEWAY_NAME_LABEL}=${GATEWAY}`)
  for (const collection of OWNED_PATHS) await remove(`${collection}?labelSelector=${selector}`)
  await quiet(operator)
}

async function haveParents(server: ExistingEnvironment['server']): Promise<boolean> {
  await delay(LOOK_MS)
  const { body } = await server.send({ method: 'GET', path: ROUTES_PATH })
  // A list of HTTPRoutes.
  const { items } = body as { items: readonly { readonly status?: { readonly parents?: readonly unknown[] } }[] }
  return items.some(({ status }) => (status?.parents ?? []).length > 0)
}
