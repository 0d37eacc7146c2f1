// URLs of MCP routes of the gateway, for forms. Pure.
import { fieldsOf } from '#cli/proxy/backends.ts'
import { givenReference } from '#cli/proxy/given-names.ts'
import { listenersOf } from '#cli/proxy/rows.ts'
import type { Dump } from './api.ts'
import { listOf, serverRows } from './backend-parts.ts'
import { urlOf } from './listener-urls.ts'

const PATH = '/mcp'
const EXAMPLE = 'http://localhost:8080'
/** Of a route. The section `mcp` of a standalone file has them besides its own. */
const NOT_ENDPOINTS = /^\/(?:sse|\.well-known)(?:\/|$)/

/** At least one: the first listener with the usual path, if no route names an MCP backend. */
export function mcpUrls(dump: Dump): string[] {
  const backends = new Set(serverRows(dump).flatMap(({ namespace, name }) => [name, `${namespace}/${name}`]))
  const listeners = listenersOf(dump)
  const urls = listeners.flatMap((bound) => {
    const base = urlOf(bound)
    if (base === undefined) return []
    return Object.values(bound.listener.routes)
      .filter((route) => listOf(fieldsOf(route)['backends']).some((one) => backends.has(referenceOf(one))))
      .flatMap((route) => pathsOf(route).map((path) => `${base}${path}`))
  })
  const [first = EXAMPLE] = listeners.flatMap((bound) => urlOf(bound) ?? [])
  return urls.length === 0 ? [`${first}${PATH}`] : [...new Set(urls)]
}

function referenceOf(backend: unknown): string {
  const { backend: key } = fieldsOf(backend)
  return typeof key === 'string' ? givenReference(key) : ''
}

/** In which a client can connect; those of a pattern are not known. */
function pathsOf(route: object): string[] {
  const matches = listOf(fieldsOf(route)['matches'])
  const paths = matches.flatMap((match) => {
    const { exact, pathPrefix } = fieldsOf(fieldsOf(match)['path'])
    const path = exact ?? pathPrefix
    return typeof path !== 'string' || NOT_ENDPOINTS.test(path) ? [] : [path === '/' ? PATH : path]
  })
  return matches.length === 0 ? [PATH] : paths
}
