// One round: more routes on the Gateway, changes of one route and of one endpoint, and changes without effect.
import { countAttached } from './attached.ts'
import {
  changeAmongOthers,
  changeEndpoint,
  changeHeader,
  type ChangeOptions,
  type Changes,
  type CrowdedChanges,
} from './changes.ts'
import { endpoints, type KubeManifest, nameOf, NAMESPACE, policy, route, service } from './cluster.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Memory, memoryOf, quiet, type Writes, writesBetween, writesOf } from './programs.ts'

export interface RoundOptions {
  /** Number of existing routes. */
  readonly from: number
  readonly to: number
  /** Each route has a policy. */
  readonly hasPolicies: boolean
  /** Concurrent writers of other routes, while changes of a route are measured again; 0: these are not measured. */
  readonly writersOfOthers: number
  readonly changes: ChangeOptions
  readonly concurrency: number
}

export interface Measured {
  readonly routes: number
  readonly changes: number
  /** Measured from the first apply. */
  readonly madeMs: number
  readonly acceptedMs: number
  /** The status of the Gateway counts all of them. */
  readonly countedMs: number
  readonly servedMs: number
  readonly makingWrites: Writes
  readonly controller: Memory
  readonly proxy: Memory
  readonly route: Changes
  readonly endpoint: Changes
  /** undefined: without policies. */
  readonly policy: Changes | undefined
  /** undefined: without writers of other routes. */
  readonly amongOthers: CrowdedChanges | undefined
  readonly idleWrites: number
}

export const ATTACH_MS_MAX = 600_000

export async function measure(environment: BenchEnvironment, options: RoundOptions): Promise<Measured> {
  const { operator, serving, upstreams } = environment
  const names = Array.from({ length: options.to - options.from }, (_, index) => nameOf(options.from + index))
  const supply = names.flatMap((name) => [service(name), endpoints(name, upstreams[0])])
  await applyAll(environment, supply, options.concurrency)
  await quiet(operator)
  const before = await writesOf(operator)
  const made = await makeRoutes(environment, names, options)
  if (options.hasPolicies) await makePolicies(environment, names, options)
  await quiet(operator)
  const makingWrites = writesBetween(before, await writesOf(operator))
  console.error(`${options.to} routes: accepted after ${made.acceptedMs.toFixed(0)} ms`)
  const [controller, proxy] = [memoryOf(operator.pid), memoryOf(serving.pid)]
  const changed = await changeHeader('version', environment, options.changes)
  const moved = await changeEndpoint(environment, options.changes)
  const protectedAgain = options.hasPolicies ? await changeHeader('policy', environment, options.changes) : undefined
  const others = { routes: options.to, writers: options.writersOfOthers }
  const amongOthers = others.writers === 0 ? undefined : await changeAmongOthers(environment, options.changes, others)
  await quiet(operator)
  return {
    routes: options.to,
    changes: options.changes.count,
    ...made,
    makingWrites,
    controller: later(controller, memoryOf(operator.pid)),
    proxy: later(proxy, memoryOf(serving.pid)),
    route: changed,
    endpoint: moved,
    policy: protectedAgain,
    amongOthers,
    idleWrites: await idleWrites(environment),
  }
}

function later(a: Memory, b: Memory): Memory {
  return { rssMiB: Math.max(a.rssMiB, b.rssMiB), peakMiB: b.peakMiB }
}

export async function applyAll(
  { server }: Pick<BenchEnvironment, 'server'>,
  manifests: readonly KubeManifest[],
  concurrency: number,
): Promise<void> {
  await forEachOf(manifests, concurrency, ({ path, object }) => server.apply(path, object))
}

/** Runs at most `concurrency` calls at once. */
export async function forEachOf<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  const one = async (): Promise<void> => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: concurrency }, one))
}

async function makePolicies(
  environment: BenchEnvironment,
  names: readonly string[],
  { concurrency }: RoundOptions,
): Promise<void> {
  const first = 'first'
  await applyAll(
    environment,
    names.map((name) => policy(name, first)),
    concurrency,
  )
  for (const name of names) await environment.client.until(name, (answer) => answer.policy === first)
}

async function makeRoutes(
  environment: BenchEnvironment,
  names: readonly string[],
  { to, concurrency }: RoundOptions,
): Promise<Pick<Measured, 'madeMs' | 'acceptedMs' | 'countedMs' | 'servedMs'>> {
  const { server, client } = environment
  const attached = countAttached(server)
  const manifests = names.map((name) => route(name, 'first'))
  try {
    const start = performance.now()
    const reached = attached.reached(to, ATTACH_MS_MAX)
    await applyAll(environment, manifests, concurrency)
    const made = performance.now()
    let served = made
    for (const name of names.toReversed()) served = await client.until(name, ({ status }) => status === 200)
    const { accepted, counted } = await reached
    return { madeMs: made - start, acceptedMs: accepted - start, countedMs: counted - start, servedMs: served - start }
  } finally {
    attached.stop()
  }
}

/** A foreign status on a route and an unused ConfigMap must cause no writes. */
async function idleWrites({ server, operator }: BenchEnvironment): Promise<number> {
  await quiet(operator)
  const before = await writesOf(operator)
  const { path } = route(nameOf(1), '')
  const foreign = {
    parentRef: { name: 'other' },
    controllerName: 'example.com/other',
    conditions: [
      {
        type: 'Accepted',
        status: 'True',
        reason: 'Accepted',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        observedGeneration: 1,
      },
    ],
  }
  const { body } = await server.send({ method: 'GET', path })
  // An HTTPRoute that the operator has written to.
  const { status } = body as { status: { parents: object[] } }
  const patched = await server.send({
    method: 'PATCH',
    path: `${path}/status`,
    contentType: 'application/merge-patch+json',
    body: { status: { parents: [...status.parents, foreign] } },
  })
  if (patched.status !== 200) throw new Error(`foreign status: ${patched.status}`)
  const name = 'unused'
  await server.apply(`/api/v1/namespaces/${NAMESPACE}/configmaps/${name}`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: NAMESPACE },
    data: { time: String(performance.now()) },
  })
  const removed = await server.send({ method: 'DELETE', path: `/api/v1/namespaces/${NAMESPACE}/configmaps/${name}` })
  if (removed.status !== 200) throw new Error(`ConfigMap: ${removed.status}`)
  await quiet(operator)
  const written = writesBetween(before, await writesOf(operator))
  return [...written.values()].reduce((sum, { calls }) => sum + calls, 0)
}
