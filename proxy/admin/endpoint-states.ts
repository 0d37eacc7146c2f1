// The answer of `/endpoints`: the last hour of endpoints, and their open connections. The history bounds its size,
// whatever the size of the configuration. Pure but for the clock.
import type { components } from '#api/admin/types.gen.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { WorkerConnections } from '../trace/messages.ts'
import { allFigures } from './config-dump-backends.ts'
import { endpointsOf, mcpServersOf } from './configured-endpoints.ts'
import { MINUTE_MS, type MinutePoints } from './minute-ring.ts'

type Schemas = components['schemas']
type EndpointState = Schemas['EndpointState']
type Histories = ReadonlyMap<string, MinutePoints>

/** MCP servers and providers that share an endpoint have a row each. */
const ROWS_MAX = 1000

export interface EndpointStatesInput {
  readonly config: RenderedConfig
  /** By key. */
  readonly histories: Histories
  /** That serve; some may not have answered. */
  readonly workersServing: number
  readonly workers: readonly WorkerConnections[]
}

interface Known {
  readonly label: string
  readonly points: MinutePoints
}

export function endpointStates(input: EndpointStatesInput): Schemas['EndpointStates'] {
  const { config, histories, workers, workersServing } = input
  const connections = connectionsByLabel(workers, workersServing)
  const known = allFigures(config, (key): Known | undefined => {
    const points = histories.get(key)
    return points && { label: labelOf(key), points }
  })
  const endpoints: EndpointState[] = []
  const add = ([place, found]: readonly [Omit<EndpointState, 'history' | 'connections'>, readonly Known[]]): void => {
    if (found.length === 0 || endpoints.length >= ROWS_MAX) return
    const labels = new Set(found.map(({ label }) => label))
    endpoints.push({
      ...place,
      history: found.map(({ points }) => points).reduce(worse),
      connections: sumOf([...labels].flatMap((label) => connections.get(label) ?? [])),
    })
  }
  for (const one of endpointsOf(config, known)) add(one)
  for (const one of mcpServersOf(config, known)) add(one)
  return { intervalSeconds: MINUTE_MS / 1000, end: new Date().toISOString(), workers: workers.length, endpoints }
}

/** Whose connections are counted. */
export function labelsOf(histories: Histories): string[] {
  return [...new Set([...histories.keys()].map(labelOf))]
}

/** The address in the key of an endpoint (endpointKey in endpoints.ts). */
function labelOf(key: string): string {
  return key.slice(key.indexOf('|') + 1)
}

type Connections = EndpointState['connections']

/** `max` is that of all workers: those without a connection may open some. */
function connectionsByLabel(workers: readonly WorkerConnections[], serving: number): ReadonlyMap<string, Connections> {
  const counts = new Map<string, Connections>()
  for (const { label, open, idle, openMax } of workers.flatMap(({ endpoints }) => endpoints)) {
    const before = counts.get(label) ?? NONE
    const max = Math.max(before.max ?? 0, openMax * serving)
    counts.set(label, { open: before.open + open, idle: before.idle + idle, max })
  }
  return counts
}

const NONE: Connections = { open: 0, idle: 0, max: null }

function sumOf(all: readonly Connections[]): Connections {
  return all.reduce(
    (sum, { open, idle, max }) => ({ open: sum.open + open, idle: sum.idle + idle, max: (sum.max ?? 0) + (max ?? 0) }),
    NONE,
  )
}

/** Of several addresses: requests added up, the worst of the rest. */
function worse(a: MinutePoints, b: MinutePoints): MinutePoints {
  const pick = (choose: (...values: number[]) => number, some: (number | null)[], others: (number | null)[]) =>
    some.map((value, i) => {
      const both = [value, others[i] ?? null].filter((one) => one !== null)
      return both.length === 0 ? null : choose(...both)
    })
  return {
    health: pick(Math.min, a.health, b.health),
    latency: pick(Math.max, a.latency, b.latency),
    requests: a.requests.map((count, i) => count + (b.requests[i] ?? 0)),
    evicted: a.evicted.map((share, i) => Math.max(share, b.evicted[i] ?? 0)),
  }
}
