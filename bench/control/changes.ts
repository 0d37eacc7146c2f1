// Changes of one route and of one endpoint, one at a time: the time until traffic follows, and the cost.
import { setTimeout as delay } from 'node:timers/promises'
import { endpoints, nameOf, policy, route } from './cluster.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Spread, spreadOf } from '../figures.ts'
import { cpuMsOf, quiet, type Worked, workedOf, type Writes, writesBetween, writesOf } from './programs.ts'
import { followTimeline, type Moments, type Timeline } from './timeline.ts'

export interface ChangeOptions {
  readonly count: number
  /**
   * The minimum time between two changes; the maximum is twice as long. So the effects of one change, such as its
   * status, do not overlap with the next one, and no timer runs in step with the changes.
   */
  readonly pauseMs: number
  readonly hasTimeline: boolean
}

export interface Changes {
  readonly spread: Spread
  readonly writes: Writes
  /** For one change; unlike the times, it hardly depends on the load of the machine. */
  readonly cpuMs: { readonly controller: number; readonly proxy: number }
  /** For one change. */
  readonly worked: Worked
  /** Empty without `--timeline`. */
  readonly moments: readonly Moments[]
}

interface Change {
  /** Resolves when the API server has responded. */
  apply(id: number): Promise<void>
  /** Resolves with the time of the first request that shows it. */
  served(id: number): Promise<number>
}

/** Number of requests that measure the cost of one request for the proxy. */
const CALIBRATION = 300

/** Those whose changes are measured; all others may change meanwhile. */
const MEASURED_ROUTES = 10

/** Manifests of the routes and of their policies. */
const VERSIONED = { version: route, policy }

/** From the response of the API server to the first request with this header of the new route, or of its new policy. */
export function changeHeader(
  header: keyof typeof VERSIONED,
  environment: BenchEnvironment,
  options: ChangeOptions,
): Promise<Changes> {
  return measureChanges(environment, options, headerChange(header, environment))
}

function headerChange(header: keyof typeof VERSIONED, { server, client }: BenchEnvironment): Change {
  return {
    apply: (id) => {
      const { path, object } = VERSIONED[header](nameOf(id % MEASURED_ROUTES), `v${id}`)
      return server.apply(path, object)
    },
    served: (id) => client.until(nameOf(id % MEASURED_ROUTES), (answer) => answer[header] === `v${id}`),
  }
}

export interface CrowdedChanges {
  readonly spread: Spread
  /** Changes of other routes meanwhile. */
  readonly others: number
  readonly othersPerSecond: number
}

/** As `changeHeader` of routes, while all other routes of the Gateway change one after the other. */
export async function changeAmongOthers(
  environment: BenchEnvironment,
  { count, pauseMs }: ChangeOptions,
  { routes, writers }: { readonly routes: number; readonly writers: number },
): Promise<CrowdedChanges> {
  const { server, operator } = environment
  const ending = new AbortController()
  let others = 0
  const changeOthers = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const turn = others++
      const { path, object } = route(nameOf(MEASURED_ROUTES + (turn % (routes - MEASURED_ROUTES))), `turn ${turn}`)
      await server.apply(path, object)
    }
  }
  const begun = performance.now()
  const changing = Promise.all(Array.from({ length: writers }, changeOthers))
  const times: number[] = []
  try {
    const change = headerChange('version', environment)
    for (let id = 0; id < count; id++) {
      times.push(await once(change, id, undefined))
      await delay(pauseMs * (1 + Math.random()))
    }
  } finally {
    ending.abort()
    await changing
  }
  const seconds = (performance.now() - begun) / 1000
  await quiet(operator)
  return { spread: spreadOf(times), others, othersPerSecond: others / seconds }
}

/** From the response of the API server to the first request that the other endpoint answers. */
export function changeEndpoint(environment: BenchEnvironment, options: ChangeOptions): Promise<Changes> {
  const { server, client, upstreams } = environment
  const name = nameOf(0)
  const change: Change = {
    apply: (id) => {
      const { path, object } = endpoints(name, upstreams[id % 2 === 0 ? 1 : 0])
      return server.apply(path, object)
    },
    served: (id) => client.until(name, ({ body }) => body === (id % 2 === 0 ? 'two' : 'one')),
  }
  return measureChanges(environment, options, change)
}

async function measureChanges(environment: BenchEnvironment, options: ChangeOptions, change: Change): Promise<Changes> {
  const { server, client, operator, serving } = environment
  const { count, pauseMs, hasTimeline } = options
  const timeline = hasTimeline ? await followTimeline(server) : undefined
  const before = { writes: await writesOf(operator), worked: await workedOf(operator), requests: client.requests }
  const [controller, proxy] = [cpuMsOf(operator.pid), cpuMsOf(serving.pid)]
  const times: number[] = []
  for (let id = 0; id < count; id++) {
    times.push(await once(change, id, timeline))
    if (pauseMs > 0) await delay(pauseMs * (1 + Math.random()))
  }
  await quiet(operator)
  timeline?.stop()
  const cpuMs = { controller: cpuMsOf(operator.pid) - controller, proxy: cpuMsOf(serving.pid) - proxy }
  const worked = await workedOf(operator)
  const requests = client.requests - before.requests
  const polled = requests * (await cpuMsOfRequest(environment))
  return {
    spread: spreadOf(times),
    writes: writesBetween(before.writes, await writesOf(operator)),
    cpuMs: { controller: cpuMs.controller / count, proxy: Math.max(cpuMs.proxy - polled, 0) / count },
    worked: {
      translating: (worked.translating - before.worked.translating) / count,
      publishing: (worked.publishing - before.worked.publishing) / count,
    },
    moments: timeline?.moments() ?? [],
  }
}

async function once(change: Change, id: number, timeline: Timeline | undefined): Promise<number> {
  timeline?.begin()
  await change.apply(id)
  const answered = performance.now()
  timeline?.answered(answered)
  const served = await change.served(id)
  timeline?.record('first request served', served)
  return served - answered
}

/**
 * The proxy logs and serves the requests of the client that waits for a change: their cost is not a cost of the change.
 * Measured afterwards, when requests have become as cheap as possible, so that too little is subtracted, not too much.
 */
async function cpuMsOfRequest({ client, serving }: BenchEnvironment): Promise<number> {
  const before = cpuMsOf(serving.pid)
  await client.repeat(nameOf(0), CALIBRATION)
  return (cpuMsOf(serving.pid) - before) / CALIBRATION
}
