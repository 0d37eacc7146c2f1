// Responds with a redirect. Parts of the URL that are not set keep the values of the client; default ports are
// omitted.
import type { RequestRedirect } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HttpResponse } from '../../message/message.ts'
import { hostOf, portOf } from '../../message/authority.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { isTarget, replacePrefix } from './request-target.ts'

export function compileRequestRedirect(
  payload: RequestRedirect,
  environment: Pick<ChainEnvironment, 'listenerPort'>,
): CompiledPolicy {
  return {
    request: (exchange) => {
      const path = pathOf(payload, exchange)
      if (path === undefined)
        return exchange.failVisibly('filtersFailed', 'requestRedirect: the path has no matched prefix')
      if (payload.path !== undefined && !isTarget(path)) {
        return exchange.failVisibly('filtersFailed', 'requestRedirect: the result is not a path')
      }
      const { request } = exchange
      const scheme = payload.scheme ?? request.scheme
      const port = redirectPort(payload, exchange, environment.listenerPort)
      const host = payload.host ?? hostOf(request.host)
      const location = `${scheme}://${host}${port === DEFAULT_PORTS[scheme] ? '' : `:${port}`}${path}`
      exchange.reason = 'DirectResponse'
      return HttpResponse.local(payload.status, '', [['location', location]])
    },
  }
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const

/**
 * Gateway API, HTTPRequestRedirectFilter.port: without a port, a scheme brings its own; else the port stays, which is
 * what the client used, and the listener's when the host changes or the client did not say.
 */
function redirectPort(payload: RequestRedirect, exchange: Exchange, listenerPort: number | undefined): number {
  if (payload.port !== undefined) return payload.port
  if (payload.scheme !== undefined) return DEFAULT_PORTS[payload.scheme]
  const clientPort = payload.host === undefined ? portOf(exchange.request.host) : undefined
  return clientPort ?? listenerPort ?? exchange.connection.localPort
}

function pathOf({ path }: RequestRedirect, { request, matchedPrefix }: Exchange): string | undefined {
  const target =
    path === undefined ? request.path : (path.full ?? replacePrefix(request.path, matchedPrefix, path.prefix ?? '/'))
  if (target === undefined || request.query === '' || target.includes('?')) return target
  return `${target}?${request.query}`
}
