// Refuses cross-site requests that change state (data-plane supplement section 1.10). Needs no token and no cookie.
import type { Csrf } from '#api/ir/types.gen.ts'
import type { HttpRequest } from '../http/message.ts'
import type { CompiledPolicy } from './filter.ts'
import { compileOrigins, isOriginOf, parseOrigin, type OriginTest } from './origin.ts'

export function compileCsrf({ additionalOrigins }: Csrf): CompiledPolicy {
  const isListed = compileOrigins(additionalOrigins ?? [])
  return {
    request: (exchange) => (isTrusted(exchange.request, isListed) ? undefined : exchange.fail('csrfFailed')),
  }
}

function isTrusted(request: HttpRequest, isListed: OriginTest): boolean {
  if (isSafe(request.method)) return true
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  if (site !== undefined) {
    return site === 'same-origin' || site === 'none' || (origin !== undefined && isListed(origin))
  }
  // Not a browser, or one that hides the origin of a request it makes for the user (RFC 6454 section 7.3).
  if (origin === undefined || origin === 'null') return true
  return isOwnOrigin(origin, request) || isListed(origin)
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

function isOwnOrigin(origin: string, { scheme, host }: HttpRequest): boolean {
  if (origin === `${scheme}://${host}`) return true
  const parsed = parseOrigin(origin)
  return parsed !== undefined && isOriginOf(parsed, scheme, host)
}
