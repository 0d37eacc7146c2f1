// The answer of `/overview`: what the first page of the web UI shows. Its size does not grow with the configuration,
// and it is counted without the dump, which takes a second with thousands of routes. Pure but for the clock.
import type { components } from '#api/admin/types.gen.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { EndpointFigures } from '../backend/endpoint-store.ts'
import { bindHead, type ConfigDumpInput, listenerHead } from './config-dump.ts'
import { allFigures } from './config-dump-backends.ts'
import { type EndpointPlace, endpointsOf } from './configured-endpoints.ts'
import { endpointInfo } from './endpoint-info.ts'

type Schemas = components['schemas']
type Overview = Schemas['Overview']
type Evicted = Overview['evicted'][number]

/** Of endpoints, certificates and credentials each. */
const CONCERNS_MAX = 100
const EMPTY: RenderedConfig = emptyConfig()

export type OverviewInput = Pick<
  ConfigDumpInput,
  'config' | 'figures' | 'certificates' | 'credentials' | 'listenAddress'
>

export function overview({
  config = EMPTY,
  figures,
  certificates,
  credentials,
  listenAddress,
}: OverviewInput): Overview {
  const listeners = listenerRows(config, listenAddress)
  const endpoints = new Endpoints()
  for (const [place, known] of endpointsOf(config, allFigures(config, figures))) endpoints.add(place, known)
  const doubtful = certificates.filter(({ state }) => state !== 'valid')
  const failing = credentials.filter(({ failuresInRow }) => failuresInRow > 0)
  return {
    listeners,
    routes: listeners.reduce((sum, { routes }) => sum + routes, 0) + delegatedCount(config),
    policies: config.policies.length,
    endpoints: endpoints.count,
    requests: endpoints.requests,
    concerns: endpoints.evictions + doubtful.length + failing.length,
    evicted: endpoints.evicted,
    certificates: doubtful.slice(0, CONCERNS_MAX),
    credentials: failing.slice(0, CONCERNS_MAX),
  }
}

/** Routes that get requests from other routes. */
function delegatedCount({ routes }: RenderedConfig): number {
  return routes.reduce((count, { routeGroupKey }) => (routeGroupKey === undefined ? count : count + 1), 0)
}

function listenerRows(config: RenderedConfig, listenAddress: string): Overview['listeners'] {
  const counts = new Map<string, number>()
  for (const { listenerKey } of [...config.routes, ...config.tcpRoutes]) {
    if (listenerKey !== undefined) counts.set(listenerKey, (counts.get(listenerKey) ?? 0) + 1)
  }
  const byBind = Map.groupBy(config.listeners, ({ bindKey }) => bindKey)
  return config.binds.flatMap((bind) => {
    const { address } = bindHead(bind, listenAddress)
    return (byBind.get(bind.key) ?? []).map((listener) => ({
      bind: bind.key,
      address,
      listener: listenerHead(listener),
      routes: counts.get(listener.key) ?? 0,
    }))
  })
}

class Endpoints {
  count = 0
  requests = 0
  evictions = 0
  readonly evicted: Evicted[] = []

  add({ name, namespace, section, endpoint }: EndpointPlace, known: readonly EndpointFigures[]): void {
    this.count++
    const { info } = endpointInfo(known)
    if (info === undefined) return
    this.requests += info.totalRequests ?? 0
    const { evictedUntil } = info
    if (typeof evictedUntil !== 'string') return
    this.evictions++
    if (this.evicted.length >= CONCERNS_MAX) return
    this.evicted.push({ name, namespace, ...(section !== undefined && { section }), endpoint, evictedUntil })
  }
}
