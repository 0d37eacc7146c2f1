// Endpoints of a configuration dump as rows: Services, addresses, and providers of LLM backends. Pure.
import { type Eviction, evictionText } from './eviction-text.ts'
import { givenName } from './given-names.ts'
import type { components } from '#api/admin/types.gen.ts'

type Schemas = components['schemas']
export type Dump = Schemas['ConfigDump']
type Info = Schemas['EndpointInfo']

export interface EndpointRow {
  readonly type: 'Service' | 'Backend'
  readonly name: string
  readonly namespace: string
  readonly endpoint: string
  /** 0 to 1. */
  readonly health: number
  readonly evictedUntil: string | null
  readonly requests: number
  readonly latencyMs: number
  /** Requests in progress. */
  readonly pending: number
  /** In a row. */
  readonly failures: number
  readonly evictions: number
  readonly lastEviction: Eviction | null
}

export const BACKEND_HEAD = ['TYPE', 'NAME', 'NAMESPACE', 'ENDPOINT', 'HEALTH', 'REQUESTS', 'LATENCY'] as const
export const WIDE_HEAD = [...BACKEND_HEAD, 'PENDING', 'FAILURES', 'CONNECTIONS', 'EVICTIONS', 'LAST EVICTION'] as const

/** Sorted by type, namespace, name, endpoint; without `all` only those that had requests. */
export function endpointRows(dump: Dump, all: boolean): EndpointRow[] {
  const rows = [...dump.services.flatMap(serviceRows), ...dump.backends.flatMap(backendRows)]
  return rows.filter(({ requests }) => all || requests > 0).sort(byPlace)
}

export function cellsOf(row: EndpointRow, nowMs: number): string[] {
  const { type, name, namespace, endpoint, requests, latencyMs } = row
  const latency = requests === 0 ? '' : `${latencyMs.toFixed(2)}ms`
  return [type, name, namespace, endpoint, healthText(row, nowMs), String(requests), latency]
}

/** For `WIDE_HEAD`. `connections`: as text; the dump does not have them. */
export function wideCellsOf(row: EndpointRow, nowMs: number, connections = ''): string[] {
  const { pending, failures, evictions, lastEviction } = row
  const last = lastEviction === null ? '' : evictionText(lastEviction, nowMs)
  return [...cellsOf(row, nowMs), String(pending), String(failures), connections, String(evictions), last]
}

export function healthText({ health, evictedUntil }: EndpointRow, nowMs: number): string {
  if (evictedUntil === null) return health.toFixed(2)
  const leftMs = Date.parse(evictedUntil) - nowMs
  return leftMs > 0 ? `Evict (${(leftMs / 1000).toFixed(1)}s)` : 'evicted'
}

function serviceRows({ name, namespace, endpoints }: Dump['services'][number]): EndpointRow[] {
  return endpoints.flatMap(({ active, rejected }) =>
    Object.entries({ ...active, ...rejected }).map(([uid, { info }]) =>
      row({ type: 'Service', name, namespace, endpoint: shortUid(uid, namespace) }, info),
    ),
  )
}

function backendRows({ backend }: Dump['backends'][number]): EndpointRow[] {
  return Object.values(fieldsOf(backend)).flatMap((variant) => {
    const fields = fieldsOf(variant)
    const name = givenName(textOf(fields['name']), textOf(fields['section']))
    const place = { type: 'Backend' as const, name, namespace: textOf(fields['namespace']) }
    const { target } = fields
    if (typeof target === 'string') {
      return fields['info'] === undefined ? [] : [endpointRow({ ...place, endpoint: target }, fields['info'])]
    }
    const { providers } = fieldsOf(target)
    return (Array.isArray(providers) ? providers : []).flatMap((group: unknown) => {
      const { active, rejected } = fieldsOf(group)
      return Object.entries({ ...fieldsOf(active), ...fieldsOf(rejected) }).map(([endpoint, provider]) =>
        endpointRow({ ...place, endpoint }, fieldsOf(provider)['info']),
      )
    })
  })
}

function row(
  place: Pick<EndpointRow, 'type' | 'name' | 'namespace' | 'endpoint'>,
  info: Partial<Info> | undefined,
): EndpointRow {
  const { requestLatency, ...figures } = { ...NO_FIGURES, ...info }
  return {
    ...place,
    health: figures.health,
    evictedUntil: figures.evictedUntil,
    requests: figures.totalRequests,
    latencyMs: requestLatency * 1000,
    pending: figures.pendingRequests,
    failures: figures.consecutiveFailures,
    evictions: figures.evictions,
    lastEviction: figures.lastEviction,
  }
}

/** `info`: live figures in the dump; undefined or not an object: the endpoint was not used. */
export function endpointRow(
  place: Pick<EndpointRow, 'type' | 'name' | 'namespace' | 'endpoint'>,
  info: unknown,
): EndpointRow {
  return row(place, infoOf(info))
}

/** Of an endpoint without requests. */
const NO_FIGURES: Required<Info> = {
  health: 1,
  evictedUntil: null,
  totalRequests: 0,
  requestLatency: 0,
  pendingRequests: 0,
  consecutiveFailures: 0,
  timesEjected: 0,
  evictions: 0,
  lastEviction: null,
}

/** The fields of the dump; a value that is not a number counts as that of an endpoint without requests. */
function infoOf(value: unknown): Partial<Info> | undefined {
  const fields = fieldsOf(value)
  const { evictedUntil, lastEviction } = fields
  const numbers = Object.keys(NO_FIGURES).filter((name) => typeof fields[name] === 'number')
  return {
    ...Object.fromEntries(numbers.map((name) => [name, fields[name]])),
    ...(typeof evictedUntil === 'string' && { evictedUntil }),
    ...(isEviction(lastEviction) && { lastEviction }),
  }
}

function isEviction(value: unknown): value is Eviction {
  const { time, rule, failures } = fieldsOf(value)
  return typeof time === 'string' && typeof rule === 'string' && typeof failures === 'number'
}

/** Removes the prefix that all pods have, and the namespace, which is in the row already. */
export function shortUid(uid: string, namespace: string): string {
  const pod = uid.replace(/^.*\/Pod\//, '')
  return pod.startsWith(`${namespace}/`) ? pod.slice(namespace.length + 1) : pod
}

function byPlace(a: EndpointRow, b: EndpointRow): number {
  const keys = [a, b].map((one) => [one.type, one.namespace, one.name, one.endpoint].join('\u0000'))
  return (keys[0] ?? '') < (keys[1] ?? '') ? -1 : 1
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
