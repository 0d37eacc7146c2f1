// What a worker has under way, one line for each request: where it came from, where it goes, how long it has run.
// Without queries and headers, so that it needs no redaction.
import type { Exchange } from '../exchange/exchange.ts'

const REQUESTS_MAX = 1000
const PATH_CHARACTERS_MAX = 256

export function taskList(openConnections: number, running: Iterable<Exchange>, nowMs: number): string[] {
  const oldestFirst = [...running].sort((a, b) => a.startMs - b.startMs)
  const lines = oldestFirst.slice(0, REQUESTS_MAX).map((exchange) => lineOf(exchange, nowMs))
  if (oldestFirst.length > REQUESTS_MAX) lines.push(`and ${oldestFirst.length - REQUESTS_MAX} more requests`)
  return [`${openConnections} connections, ${oldestFirst.length} requests in flight`, ...lines]
}

function lineOf(exchange: Exchange, nowMs: number): string {
  const { request, connection, place, endpoint } = exchange
  const path = request.path.slice(0, PATH_CHARACTERS_MAX)
  const rule = place?.routeRule === undefined ? '' : `/${place.routeRule}`
  const route = place?.routeName === undefined ? 'none' : `${place.routeNamespace}/${place.routeName}${rule}`
  return [
    `request ${request.method} ${request.host}${path}`,
    `from ${connection.sourceAddress}:${connection.sourcePort}`,
    `route ${route}`,
    `endpoint ${endpoint ?? 'none'}`,
    `state ${stateOf(exchange)}`,
    `age ${((nowMs - exchange.startMs) / 1000).toFixed(3)} s`,
  ].join(', ')
}

function stateOf({ response, upstreamStartMs }: Exchange): string {
  if (response !== undefined) return 'sending the response'
  return upstreamStartMs === undefined ? 'in policies' : 'waiting for the backend'
}
