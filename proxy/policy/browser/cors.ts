// Cross-origin resource sharing (resources supplement section 1.3): answers preflights, and adds response headers to
// other requests.
import type { Cors } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HttpResponse } from '../../message/message.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { compileOrigins } from './origin.ts'

export function compileCors(payload: Cors): CompiledPolicy {
  const isAllowed = compileOrigins(payload.allowOrigins ?? [])
  const methods = listHeader(payload.allowMethods)
  const headers = listHeader(payload.allowHeaders)
  const exposed = listHeader(payload.exposeHeaders)
  const maxAge = payload.maxAgeSeconds === undefined ? undefined : String(payload.maxAgeSeconds)
  const hasCredentials = payload.allowCredentials === true

  function preflight(exchange: Exchange, origin: string): HttpResponse {
    const fields = exchange.request.headers
    const response = localResponse(exchange)
    const add = (name: string, value: string | undefined): void => {
      if (value !== undefined) response.headers.append(name, value)
    }
    add('access-control-allow-origin', origin)
    add(
      'access-control-allow-methods',
      granted({ list: methods, requested: fields.get('access-control-request-method'), hasCredentials }),
    )
    add(
      'access-control-allow-headers',
      granted({ list: headers, requested: fields.get('access-control-request-headers'), hasCredentials }),
    )
    add('access-control-max-age', maxAge)
    add('access-control-allow-credentials', hasCredentials ? 'true' : undefined)
    add('access-control-expose-headers', exposed)
    return response
  }

  return {
    request: (exchange) => {
      const { request } = exchange
      const origin = request.headers.get('origin')
      if (origin === undefined) {
        exchange.trace?.skip('no Origin')
        return undefined
      }
      // The backend may use the other one of two.
      const isListed = isAllowed(origin) && !request.headers.isRepeated('origin')
      exchange.trace?.note(`the origin ${origin} is ${isListed ? 'allowed' : 'not allowed'}`)
      if (isListed) {
        if (request.method === 'OPTIONS') return preflight(exchange, origin)
        replaceQueued(exchange, 'access-control-allow-origin', origin)
        if (hasCredentials) replaceQueued(exchange, 'access-control-allow-credentials', 'true')
        if (exposed !== undefined) replaceQueued(exchange, 'access-control-expose-headers', exposed)
        return undefined
      }
      const isPreflight = request.method === 'OPTIONS' && request.headers.has('access-control-request-method')
      return isPreflight ? localResponse(exchange) : undefined
    },
  }
}

function localResponse(exchange: Exchange): HttpResponse {
  exchange.reason = 'DirectResponse'
  return HttpResponse.local(200)
}

function listHeader(list: readonly string[] | undefined): string | undefined {
  return list === undefined || list.length === 0 ? undefined : list.join(',')
}

/** `*` grants the requested values: browsers accept a literal `*` only without credentials. */
function granted(options: {
  readonly list: string | undefined
  readonly requested: string | undefined
  readonly hasCredentials: boolean
}): string | undefined {
  const { list, requested, hasCredentials } = options
  if (list !== '*') return list
  if (requested !== undefined && requested !== '') return requested
  return hasCredentials ? undefined : '*'
}

/** Both phases may have a CORS policy; the headers of the later one are used. */
function replaceQueued(exchange: Exchange, name: string, value: string): void {
  const queued = exchange.queuedResponseHeaders
  const at = queued?.indexOf(name) ?? -1
  if (queued !== undefined && at >= 0 && at % 2 === 0) queued[at + 1] = value
  else exchange.queueResponseHeader(name, value)
}
