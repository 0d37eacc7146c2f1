// `make bench`: Gw beside nginx and haproxy in one run. Server on one processor, wrk and the upstream on another;
// rounds are interleaved, so that a slower machine affects all servers alike. Prints medians and the ratios to nginx.
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { alternatingRows } from './alternating.ts'
import { medianOf } from './figures.ts'
import { load, start, watching, type Running, type Sample } from './measure.ts'
import type { MeasuredRoute } from './measured-route.ts'
import type { Contender } from './contender.ts'
import { contenders, flushUpstream, upstream } from './servers.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const SERVER_CPU = 0
const CLIENT_CPU = 1
const WARM_UP_SECONDS = 3

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    only: { type: 'string' },
    // Routes whose names contain the text, or one of several between `;`.
    routes: { type: 'string', default: '' },
    // Only gw and nginx, both warm, in rounds of a second that alternate.
    alternate: { type: 'boolean', default: false },
  },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const connections = Number(values.connections)
const routeNames = values.routes.split(';')

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-'))
  const running: Running[] = []
  try {
    running.push(await start(upstream(folder), CLIENT_CPU))
    running.push(await start(flushUpstream(folder, ROOT), CLIENT_CPU))
    if (values.alternate) {
      await alternate(folder)
      return
    }
    const chosen = contenders(folder, ROOT).filter(
      ({ name }) => values.only === undefined || values.only.split(';').includes(name),
    )
    const samples = new Map<string, Sample[]>()
    const add = (name: string, sample: Sample) => samples.set(name, [...(samples.get(name) ?? []), sample])
    for (let round = 0; round < rounds; round++) {
      for (const contender of chosen) {
        const server = await start(contender, SERVER_CPU)
        running.push(server)
        const target = { port: contender.port, pid: server.child.pid ?? 0, connections, cpu: CLIENT_CPU, folder }
        await load({ ...target, seconds: WARM_UP_SECONDS })
        add(contender.name, await load({ ...target, seconds }))
        const { watched } = contender
        // The same server, warm: half the time is enough.
        if (watched !== undefined) {
          add(watched.name, await watching(watched.url, () => load({ ...target, seconds: Math.ceil(seconds / 2) })))
        }
        for (const route of routesOf(contender)) {
          await load({ ...target, route, seconds: 1 })
          add(route.name, await load({ ...target, route, seconds: Math.ceil(seconds / 2) }))
        }
        running.pop()
        await server.stop()
      }
    }
    const routes = chosen.flatMap(routesOf)
    print(samples, new Map(routes.map(({ name, comparedTo }) => [name, comparedTo])))
  } finally {
    for (const server of running.reverse()) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function alternate(folder: string): Promise<void> {
  const all = contenders(folder, ROOT)
  const [nginx, gw] = ['nginx', 'gw'].map((wanted) => all.find(({ name }) => name === wanted))
  if (nginx === undefined || gw === undefined) throw new Error('bench/servers.ts has no nginx or no gw')
  const pinned = { serverCpu: SERVER_CPU, clientCpu: CLIENT_CPU }
  console.table(await alternatingRows({ nginx, gw, names: routeNames, rounds, connections, folder, ...pinned }))
  console.log(`medians (minima) of ${rounds} rounds of 1 s, load ${loadavg()[0]?.toFixed(1)}`)
}

function routesOf({ routes = [] }: Contender): readonly MeasuredRoute[] {
  return routes.filter(({ name }) => routeNames.some((part) => name.includes(part)))
}

function print(
  samples: ReadonlyMap<string, readonly Sample[]>,
  comparedTo: ReadonlyMap<string, string | undefined>,
): void {
  const rows = [...samples].map(([name, list]) => ({ name, sample: medianSample(list) }))
  const base = rows.find(({ name }) => name === 'nginx')?.sample
  console.log(
    `plain GET, ${connections} keep-alive connections, ${rounds} rounds of ${seconds} s, medians; ${cpus()[0]?.model ?? '?'}, load ${loadavg()[0]?.toFixed(1)}`,
  )
  const ratio = (value: number, of: number | undefined): string =>
    of === undefined ? '-' : `${(value / of).toFixed(2)}x`
  console.table(
    rows.map(({ name, sample }) => ({
      server: name,
      'requests/s': Math.round(sample.requestsPerSecond),
      'p50 ms': sample.p50Ms.toFixed(2),
      'p99 ms': sample.p99Ms.toFixed(2),
      'CPU us/request': sample.cpuMicrosPerRequest.toFixed(1),
      'RSS MiB': Math.round(sample.rssMiB),
      errors: sample.errors,
      'CPU to nginx': ratio(sample.cpuMicrosPerRequest, base?.cpuMicrosPerRequest),
      'requests/s to nginx': ratio(sample.requestsPerSecond, base?.requestsPerSecond),
      'CPU to its counterpart': ratio(
        sample.cpuMicrosPerRequest,
        rows.find((row) => row.name === comparedTo.get(name))?.sample.cpuMicrosPerRequest,
      ),
    })),
  )
}

function medianSample(list: readonly Sample[]): Sample {
  const median = (field: keyof Sample): number => medianOf(list.map((sample) => sample[field]))
  return {
    requestsPerSecond: median('requestsPerSecond'),
    p50Ms: median('p50Ms'),
    p99Ms: median('p99Ms'),
    cpuMicrosPerRequest: median('cpuMicrosPerRequest'),
    rssMiB: median('rssMiB'),
    errors: Math.max(...list.map(({ errors }) => errors)),
  }
}

await main()
