// Live figures of an endpoint as the configuration dump shows them. Pure but for the clock.
import type { components } from '#api/admin/types.gen.ts'
import type { EndpointFigures, LastEviction } from '../backend/endpoint-store.ts'

/** What is known of an endpoint by its key (endpoint-keys.ts); undefined: nothing. */
export type OfKey<T> = (key: string) => T | undefined
export type FiguresOf = OfKey<EndpointFigures>

/** Of the keys that are known. */
export function figuresOfKeys<T>(keys: readonly string[], figures: OfKey<T>): T[] {
  return keys.map((key) => figures(key)).filter((one) => one !== undefined)
}

type Info = components['schemas']['EndpointInfo']

/** Of several ports of one endpoint: counts added up, the worst of the rest. */
export function endpointInfo(figures: readonly EndpointFigures[], nowMs = Date.now()): { info?: Info } {
  const [first, ...others] = figures
  if (first === undefined) return {}
  const all = others.reduce(worse, first)
  const { evictedForMs } = all
  return {
    info: {
      health: rounded(all.health),
      requestLatency: rounded(all.latencySeconds),
      pendingRequests: all.pendingRequests,
      totalRequests: all.totalRequests,
      consecutiveFailures: all.consecutiveFailures,
      timesEjected: all.timesEjected,
      evictions: all.evictions,
      lastEviction: all.lastEviction === undefined ? null : shownEviction(all.lastEviction),
      evictedUntil: evictedForMs === undefined ? null : new Date(nowMs + evictedForMs).toISOString(),
    },
  }
}

function worse(a: EndpointFigures, b: EndpointFigures): EndpointFigures {
  return {
    health: Math.min(a.health, b.health),
    latencySeconds: Math.max(a.latencySeconds, b.latencySeconds),
    pendingRequests: a.pendingRequests + b.pendingRequests,
    totalRequests: a.totalRequests + b.totalRequests,
    consecutiveFailures: Math.max(a.consecutiveFailures, b.consecutiveFailures),
    timesEjected: Math.max(a.timesEjected, b.timesEjected),
    evictedForMs: longest(a.evictedForMs, b.evictedForMs),
    evictions: a.evictions + b.evictions,
    lastEviction: latest(a.lastEviction, b.lastEviction),
  }
}

function shownEviction({ atMs, rule, failures, outcome, status }: LastEviction): NonNullable<Info['lastEviction']> {
  return {
    time: new Date(atMs).toISOString(),
    rule,
    failures,
    ...(outcome !== 'noResponse' && { [outcome]: status }),
  }
}

function latest(a: LastEviction | undefined, b: LastEviction | undefined): LastEviction | undefined {
  return (a?.atMs ?? 0) >= (b?.atMs ?? 0) ? a : b
}

function longest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : Math.max(a, b ?? 0)
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
