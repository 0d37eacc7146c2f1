// `make bench-control`: the bundled controller and a bundled proxy against a real API server. Many routes on one
// Gateway, changes of one route and of one endpoint until traffic follows, and changes that must cause no writes.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { testPort } from '../../api/v1alpha1/apiserver.testing.ts'
import { missing, startRealApiServer } from '../../test/cluster/real-apiserver.ts'
import { freePort } from '../../test/ports.ts'
import { measureAcknowledgements } from './acknowledgements.ts'
import { gateway, namespaces } from './cluster.ts'
import { controller, type Memory, proxy } from './programs.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Existing, type ExistingEnvironment, measureExisting } from './existing.ts'
import { measureLargeChange } from './large-change.ts'
import { measureStarts } from './large-start.ts'
import { printProfile } from './profile.ts'
import { type Measured, measure } from './rounds.ts'
import { Client, ownAddress, upstream } from './traffic.ts'

const { values } = parseArgs({
  options: {
    /** Each route has a policy, which is changed as well. */
    policies: { type: 'boolean', default: false },
    /** Concurrent writers of other routes: changes of a route are measured again while all others change. */
    others: { type: 'string', default: '0' },
    /** Set if changes are measured. */
    routes: { type: 'string', default: '10,1000,5000' },
    changes: { type: 'string', default: '200' },
    /** The minimum time between two changes; 0: the next one starts as soon as traffic follows the previous one. */
    pause: { type: 'string', default: '50' },
    /** Prints the time of each step of a change; its watches use some processor time. */
    timeline: { type: 'boolean', default: false },
    /** Routes exist before the controller and before the Gateway: measures only the time until they are attached. */
    existing: { type: 'boolean', default: false },
    /** Comma list. Set if only the acknowledgements of as many proxies are measured. */
    proxies: { type: 'string' },
    /** Comma list. Set if only configurations of as many routes with new objects are measured; no API server. */
    'new-objects': { type: 'string' },
    /** Set if only starts of the controller with as many existing routes are measured. */
    starts: { type: 'string' },
    /** The number of objects that nothing refers to, for these starts. */
    unrelated: { type: 'string', default: '50000' },
    /** `large`: one table of what is measured in large numbers, beside the goals (profile.ts). */
    profile: { type: 'string' },
    /** Comma list: some parts of the profile only. */
    parts: { type: 'string' },
    /** Number of concurrent writes while many routes are created. */
    concurrency: { type: 'string', default: '16' },
    command: { type: 'string', default: resolve(import.meta.dirname, '../../dist/gw.js') },
  },
})

const KINDS_OF_CHANGES = ['route', 'endpoint', 'policy'] as const

async function main(): Promise<number> {
  if (values['new-objects'] !== undefined) {
    await printNewObjects(values['new-objects'].split(',').map(Number))
    return 0
  }
  const reason = missing()
  if (reason !== undefined) throw new Error(reason)
  if (!existsSync(values.command)) throw new Error(`${values.command} is not there: make build`)
  const cleanUp: (() => void | Promise<void>)[] = []
  try {
    const cluster = await setUpCluster(cleanUp)
    if (values.profile === 'large') {
      printMachine()
      const { unrelated, parts } = values
      await printProfile(cluster, { parts: parts?.split(','), unrelated: Number(unrelated) })
      return 0
    }
    if (values.starts !== undefined) {
      await printStarts(cluster, Number(values.starts))
      return 0
    }
    if (values.proxies !== undefined) {
      await printAcknowledgements(cluster, values.proxies.split(',').map(Number))
      return 0
    }
    if (values.existing) {
      printAttached(await measureExistingAll(cluster))
      return 0
    }
    const results = await measureAll(await setUp(cluster, cleanUp))
    print(results)
    return results.some(({ idleWrites }) => idleWrites > 0) ? 1 : 0
  } finally {
    for (const step of cleanUp.toReversed()) await step()
  }
}

type CleanUp = (() => void | Promise<void>)[]

async function setUpCluster(cleanUp: CleanUp): Promise<ExistingEnvironment> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-control-'))
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }))
  const server = await startRealApiServer(testPort())
  cleanUp.push(() => server.stop())
  const port = await freePort()
  const client = new Client(port)
  cleanUp.push(() => client.close())
  for (const { path, object } of namespaces()) await server.apply(path, object)
  const ip = ownAddress()
  const [one, two] = [await upstream('one', ip), await upstream('two', ip)]
  cleanUp.push(one.close, two.close)
  return { server, client, upstreams: [one.address, two.address], port, folder, command: values.command }
}

async function setUp(cluster: ExistingEnvironment, cleanUp: CleanUp): Promise<BenchEnvironment> {
  const { server, client, upstreams, port, folder } = cluster
  const { path, object } = gateway(port)
  await server.apply(path, object)
  const operator = await controller(values.command, server)
  cleanUp.push(operator.stop)
  const serving = await proxy(values.command, server, folder)
  cleanUp.push(serving.stop)
  return { server, client, operator, serving, upstreams }
}

async function measureExistingAll(cluster: ExistingEnvironment): Promise<Existing[]> {
  const results: Existing[] = []
  let from = 0
  for (const to of values.routes.split(',').map(Number)) {
    results.push(await measureExisting(cluster, { from, to, concurrency: Number(values.concurrency) }))
    from = to
  }
  return results
}

async function measureAll(environment: BenchEnvironment): Promise<Measured[]> {
  const { concurrency, pause, others, policies: hasPolicies, timeline: hasTimeline } = values
  const shared = { hasPolicies, concurrency: Number(concurrency), writersOfOthers: Number(others) }
  const changes = { count: Number(values.changes), pauseMs: Number(pause), hasTimeline }
  const results: Measured[] = []
  let from = 0
  for (const to of values.routes.split(',').map(Number)) {
    results.push(await measure(environment, { from, to, changes, ...shared }))
    from = to
  }
  return results
}

function printMachine(): void {
  console.log(
    `${cpus().length} x ${cpus()[0]?.model ?? '?'}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`,
  )
}

async function printNewObjects(counts: readonly number[]): Promise<void> {
  printMachine()
  const rows: object[] = []
  for (const count of counts) rows.push(...(await measureLargeChange(count)))
  console.table(rows)
}

async function printAcknowledgements(cluster: ExistingEnvironment, counts: readonly number[]): Promise<void> {
  printMachine()
  const rows: object[] = []
  for (const count of counts) {
    const one = await measureAcknowledgements(cluster, count)
    rows.push({
      proxies: count,
      ConfigMaps: one.shards,
      'at once': one.first,
      'these stored s': (one.firstMs / 1000).toFixed(1),
      'all stored s': (one.allMs / 1000).toFixed(1),
      calls: one.calls,
      failed: one.failed,
      'most writes/s': one.writesPerSecondMax,
      'cores of the API server': one.cores.toFixed(2),
    })
  }
  console.table(rows)
}

async function printStarts(cluster: ExistingEnvironment, routes: number): Promise<void> {
  printMachine()
  const started = await measureStarts(cluster, { routes, unrelated: Number(values.unrelated) })
  const seconds = (ms: number): string => (ms / 1000).toFixed(1)
  const mib = ({ rssMiB, peakMiB }: Memory): string => `${rssMiB.toFixed(0)} (${peakMiB.toFixed(0)})`
  console.table([
    {
      routes,
      'unrelated objects': started.unrelated,
      'served after a start s': seconds(started.firstMs),
      'processor time until then s': seconds(started.firstCpuMs),
      'by a new proxy after another start s': seconds(started.newProxyMs),
      'not served meanwhile': `${started.failures} of ${started.requests}`,
      'an earlier change served s': seconds(started.againMs),
      'processor time until that s': seconds(started.againCpuMs),
      'controller MiB (peak)': mib(started.first),
      'after the other start MiB (peak)': mib(started.again),
    },
  ])
}

function printAttached(results: readonly Existing[]): void {
  printMachine()
  const seconds = (ms: number): string => (ms / 1000).toFixed(1)
  console.table(
    results.flatMap(({ attached, bareMs }) =>
      attached.map(({ routes, after, startedMs, acceptedMs, countedMs, servedMs, writes }) => ({
        routes,
        'seconds after': after,
        ready: seconds(startedMs),
        'all Accepted': seconds(acceptedMs),
        'attachedRoutes counts all': seconds(countedMs),
        'all served': seconds(servedMs),
        'a bare client writes the statuses': seconds(bareMs),
        writes: describe(writes, 1),
      })),
    ),
  )
}

function print(results: readonly Measured[]): void {
  printMachine()
  const ms = (value: number): string => value.toFixed(0)
  const mib = (value: number): string => value.toFixed(0)
  console.table(
    results.map((one) => ({
      routes: one.routes,
      'all Accepted s': (one.acceptedMs / 1000).toFixed(1),
      'attachedRoutes counts all s': (one.countedMs / 1000).toFixed(1),
      'all served s': (one.servedMs / 1000).toFixed(1),
      'made by API server s': (one.madeMs / 1000).toFixed(1),
      'controller MiB (peak)': `${mib(one.controller.rssMiB)} (${mib(one.controller.peakMiB)})`,
      'proxy MiB (peak)': `${mib(one.proxy.rssMiB)} (${mib(one.proxy.peakMiB)})`,
    })),
  )
  console.table(
    results.flatMap((one) =>
      KINDS_OF_CHANGES.flatMap((change) => {
        const measured = one[change]
        if (measured === undefined) return []
        const { spread, writes, cpuMs } = measured
        return {
          routes: one.routes,
          change,
          'p50 ms': ms(spread.p50),
          'p90 ms': ms(spread.p90),
          'p99 ms': ms(spread.p99),
          'max ms': ms(spread.max),
          'CPU ms each, controller': cpuMs.controller.toFixed(1),
          'CPU ms each, proxy': cpuMs.proxy.toFixed(1),
          'writes each': describe(writes, one.changes),
        }
      }),
    ),
  )
  if (values.timeline) printTimeline(results)
  for (const { routes, amongOthers } of results) {
    if (amongOthers === undefined) continue
    const { spread, others, othersPerSecond } = amongOthers
    const times = `p50 ${ms(spread.p50)} ms, p90 ${ms(spread.p90)} ms, p99 ${ms(spread.p99)} ms, max ${ms(spread.max)} ms`
    console.log(`${routes} routes, changed route while others change: ${times}`)
    console.log(`${routes} routes: ${others} changes of others meanwhile, ${othersPerSecond.toFixed(0)} a second`)
  }
  for (const one of results) {
    console.log(`${one.routes} routes: while they were made ${describe(one.makingWrites, 1)}`)
    const verdict = one.idleWrites === 0 ? 'nothing' : `${one.idleWrites} objects (WRONG)`
    console.log(`${one.routes} routes: status-only and unrelated changes wrote ${verdict}`)
  }
}

function printTimeline(results: readonly Measured[]): void {
  console.table(
    results.flatMap((one) =>
      KINDS_OF_CHANGES.flatMap((change) =>
        (one[change]?.moments ?? []).map(({ moment, spread, count }) => ({
          routes: one.routes,
          change,
          'after the answer': moment,
          'p50 ms': spread.p50.toFixed(1),
          'p90 ms': spread.p90.toFixed(1),
          times: count,
        })),
      ),
    ),
  )
  for (const one of results) {
    for (const change of ['route', 'endpoint'] as const) {
      const { translating, publishing } = one[change].worked
      const times = `translation ${translating.toFixed(1)} ms, delivery with its write ${publishing.toFixed(1)} ms`
      console.log(`${one.routes} routes, changed ${change}: ${times} (mean)`)
    }
  }
}

function describe(writes: Measured['makingWrites'], of: number): string {
  const parts = [...writes].map(([kind, { calls, bytes }]) => {
    const count = calls / of
    return `${kind} ${Number.isInteger(count) ? count : count.toFixed(2)} (${(bytes / of / 1024).toFixed(1)} KiB)`
  })
  return parts.join(', ') || 'none'
}

process.exitCode = await main()
