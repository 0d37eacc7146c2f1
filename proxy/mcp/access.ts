// Keeps pages of other sites away from MCP servers (MCP 2025-11-25, "Transports", security warning): checks Host,
// against foreign names that resolve to a developer's machine (DNS rebinding), and Origin.
import { isIPv4 } from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import { hostOf, portOf } from '../message/authority.ts'
import type { HttpRequest, HttpResponse } from '../message/message.ts'
import type { NamedFilter } from '../chain/filter.ts'
import { compileOrigins, type OriginTest, parseOrigin } from '../policy/browser/origin.ts'
import { rpcError } from './http-reply.ts'

/** Allowed besides the defaults. */
export interface McpAccess {
  /** Names without ports, lower case; `*`: any. */
  readonly hosts: readonly string[]
  /** As in CORS policies; `*`: any. */
  readonly origins: readonly string[]
  /** Of clients that sign in through the gateway; policy/auth/mcp-oauth/redirect-uris.ts. undefined: the default. */
  readonly redirectUris: readonly string[] | undefined
}

export const NO_ACCESS: McpAccess = { hosts: [], origins: [], redirectUris: undefined }

/** JSON-RPC, in the range for implementations; the same as in official servers. */
const FORBIDDEN = -32_000
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 }

/** For the log. Clients do not get them. */
const CURES = {
  Host: 'add it to MCP_ALLOWED_HOSTS, or give the listener or the route a hostname',
  Origin: 'add it to MCP_ALLOWED_ORIGINS, or allow it with a cors policy',
} as const

export interface GuardOptions {
  readonly access: McpAccess
  /** The listener or the route serves only some hosts: others do not arrive here. */
  readonly isHostPinned: boolean
}

/** Runs after CORS, which answers preflights and grants origins, and before filters that rewrite the host. */
export function mcpGuard({ access, isHostPinned }: GuardOptions): NamedFilter {
  const hosts = new Set(access.hosts)
  const takesAnyHost = isHostPinned || hosts.has('*')
  const isListed = compileOrigins(access.origins)
  return {
    name: 'mcp',
    filter: (exchange) => {
      const { connection, request } = exchange
      // A browser that reaches this name over TLS has verified a certificate for it.
      if (!takesAnyHost && !connection.isTls && isLoopback(connection.localAddress)) {
        const host = hostOf(request.host)
        if (!isLoopbackName(host) && !hosts.has(host)) return refuse(exchange, 'Host')
      }
      exchange.mcpPath = request.path
      exchange.hasForeignOrigin = !isOriginAllowed(exchange, isListed)
      return undefined
    },
  }
}

/** For the endpoint itself: metadata for clients without a token is for pages of all sites. */
export function refuseForeignOrigin(exchange: Exchange): HttpResponse | undefined {
  return exchange.hasForeignOrigin ? refuse(exchange, 'Origin') : undefined
}

/** Clients other than browsers send none. */
function isOriginAllowed(exchange: Exchange, isListed: OriginTest): boolean {
  const origins = exchange.request.headers.getAll('origin')
  const [origin] = origins
  if (origin === undefined) return true
  if (origins.length > 1) return false
  return isOwn(origin, exchange.request) || isListed(origin) || isGranted(exchange)
}

/** The scheme is not compared: TLS may end before the gateway. */
function isOwn(text: string, { host }: HttpRequest): boolean {
  const origin = parseOrigin(text)
  if (origin === undefined) return false
  return origin.host === hostOf(host) && origin.port === (portOf(host) ?? DEFAULT_PORTS[origin.scheme])
}

/** A CORS policy of the listener or the route has granted the origin of this request. */
function isGranted({ queuedResponseHeaders: queued = [] }: Exchange): boolean {
  for (let i = 0; i < queued.length; i += 2) if (queued[i] === 'access-control-allow-origin') return true
  return false
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.')
}

function isLoopbackName(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '[::1]') return true
  return host.startsWith('127.') && isIPv4(host)
}

function refuse(exchange: Exchange, field: keyof typeof CURES): HttpResponse {
  exchange.reason = 'MCP'
  exchange.errorDetail = `the ${field} of the request is not allowed for MCP: ${CURES[field]}`
  return rpcError(403, null, { code: FORBIDDEN, message: `${field} is not allowed` })
}
