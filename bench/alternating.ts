// `make bench ARGS='--alternate'`: each route of Gw and its counterpart at nginx, both servers warm, in rounds of one
// second that alternate. The speed of a shared machine changes within seconds, and so it changes for both alike.
import { medianOf } from './figures.ts'
import type { MeasuredRoute } from './measured-route.ts'
import { load, type Running, start } from './measure.ts'
import type { Contender } from './contender.ts'

/** V8 optimizes the code of a route only after thousands of requests. */
const WARM_UP_SECONDS = 10
const ROUND_SECONDS = 1

export interface AlternatingRow {
  readonly route: string
  readonly 'nginx, CPU us': string
  readonly 'gw, CPU us': string
  readonly ratio: string
  /** In the fastest second of each. */
  readonly 'least ratio': string
}

export interface AlternatingOptions {
  readonly nginx: Contender
  readonly gw: Contender
  /** Parts of the names of routes. */
  readonly names: readonly string[]
  readonly rounds: number
  readonly connections: number
  readonly serverCpu: number
  readonly clientCpu: number
  readonly folder: string
}

interface Side {
  readonly name: 'nginx' | 'gw'
  readonly run: (seconds: number) => Promise<number>
}

export async function alternatingRows(options: AlternatingOptions): Promise<AlternatingRow[]> {
  const { nginx, gw, names, serverCpu } = options
  const running: Running[] = []
  const rows: AlternatingRow[] = []
  try {
    for (const contender of [nginx, gw]) running.push(await start(contender, serverCpu))
    const [nginxPid = 0, gwPid = 0] = running.map(({ child }) => child.pid)
    for (const route of gw.routes ?? []) {
      const other = nginx.routes?.find(({ name }) => name === route.comparedTo)
      if (other === undefined || !names.some((name) => route.name.includes(name))) continue
      const sides: Side[] = [
        {
          name: 'nginx',
          run: (seconds) => cpuMicros(options, { contender: nginx, pid: nginxPid, route: other, seconds }),
        },
        { name: 'gw', run: (seconds) => cpuMicros(options, { contender: gw, pid: gwPid, route, seconds }) },
      ]
      rows.push(rowOf(route.name, await samplesOf(sides, options.rounds)))
    }
  } finally {
    for (const server of running.toReversed()) await server.stop()
  }
  return rows
}

type Samples = Readonly<Record<Side['name'], readonly number[]>>

async function samplesOf(sides: readonly Side[], rounds: number): Promise<Samples> {
  const samples: Record<Side['name'], number[]> = { nginx: [], gw: [] }
  for (const { run } of sides) await run(WARM_UP_SECONDS)
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of round % 2 === 0 ? sides : sides.toReversed()) {
      samples[name].push(await run(ROUND_SECONDS))
    }
  }
  return samples
}

interface Measured {
  readonly contender: Contender
  readonly pid: number
  readonly route: MeasuredRoute
  readonly seconds: number
}

async function cpuMicros(
  { connections, clientCpu, folder }: AlternatingOptions,
  { contender, pid, route, seconds }: Measured,
): Promise<number> {
  const sample = await load({ port: contender.port, pid, route, seconds, connections, cpu: clientCpu, folder })
  if (sample.errors > 0) throw new Error(`${route.name}: ${sample.errors} requests failed`)
  return sample.cpuMicrosPerRequest
}

function rowOf(route: string, { nginx, gw }: Samples): AlternatingRow {
  const text = (list: readonly number[]): string => `${medianOf(list).toFixed(1)} (${Math.min(...list).toFixed(1)})`
  return {
    route,
    'nginx, CPU us': text(nginx),
    'gw, CPU us': text(gw),
    ratio: (medianOf(gw) / medianOf(nginx)).toFixed(2),
    'least ratio': (Math.min(...gw) / Math.min(...nginx)).toFixed(2),
  }
}
