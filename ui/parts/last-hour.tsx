// The last hour of an endpoint as two small pictures: a bar for the health of each minute, and a line of the latency.
import type { EndpointState } from '../api.ts'
import { latencyText } from './numbers.ts'

type History = EndpointState['history']

/** Of the drawings: 2 pixels for each minute. */
const [STEP, HEIGHT, MINUTES] = [2, 20, 60]
const WIDTH = STEP * MINUTES
/** Below, an endpoint gets clearly fewer requests than its siblings. */
const HEALTHY_MIN = 0.8
/** Not only the colour differs. */
const HEIGHTS = { good: 10, warn: 14, bad: HEIGHT } as const

/** One bar for each minute, the current one at the right. */
export function HealthHour({ history }: { readonly history: History | undefined }) {
  if (history === undefined) return null
  const { health, evicted } = history
  const start = WIDTH - health.length * STEP
  return (
    <svg class="hour" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={healthLabel(history)}>
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      {health.map((value, i) => {
        if (value === null) return null
        const state = stateOf(value, evicted[i] ?? 0)
        const height = HEIGHTS[state]
        return <rect key={i} class={state} x={start + i * STEP} y={HEIGHT - height} width={STEP} height={height} />
      })}
    </svg>
  )
}

export function LatencyHour({ history }: { readonly history: History | undefined }) {
  if (history === undefined) return null
  const { latency } = history
  const known = latency.filter((value) => value !== null)
  if (known.length === 0) return null
  const highest = Math.max(...known)
  const start = WIDTH - latency.length * STEP
  const label = `Latency of the last ${latency.length} min: highest ${latencyText(highest)}`
  return (
    <svg class="hour" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      {latency.map((value, i) => {
        if (value === null || highest === 0) return null
        const height = Math.max(1, (value / highest) * HEIGHT)
        return <rect key={i} class="plain" x={start + i * STEP} y={HEIGHT - height} width={STEP} height={height} />
      })}
    </svg>
  )
}

function stateOf(health: number, evicted: number): keyof typeof HEIGHTS {
  if (evicted > 0) return 'bad'
  return health < HEALTHY_MIN ? 'warn' : 'good'
}

function healthLabel({ health, evicted }: History): string {
  const known = health.filter((value) => value !== null)
  const lowest = known.length === 0 ? '–' : Math.min(...known).toFixed(2)
  const minutes = evicted.filter((share) => share > 0).length
  return `Health of the last ${health.length} min: lowest ${lowest}, evicted in ${minutes} min`
}
