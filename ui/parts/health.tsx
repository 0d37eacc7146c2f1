// The health of an endpoint as a word or number, coloured by its state.
import type { EndpointRow } from '#cli/proxy/backends.ts'
import { healthText } from '#cli/proxy/backends.ts'

/** Below, an endpoint gets clearly fewer requests than its siblings. */
const HEALTHY_MIN = 0.8

export function Health({ row }: { readonly row: EndpointRow }) {
  return <span class={stateOf(row)}>{healthText(row, Date.now())}</span>
}

function stateOf({ health, evictedUntil }: EndpointRow): 'good' | 'warn' | 'bad' {
  if (evictedUntil !== null) return 'bad'
  return health < HEALTHY_MIN ? 'warn' : 'good'
}

export function latencyOf({ requests, latencyMs }: EndpointRow): string {
  return requests === 0 ? '' : `${latencyMs.toFixed(2)} ms`
}
