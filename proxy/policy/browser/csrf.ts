// Rejects cross-site requests that change state (data-plane supplement section 1.10). Needs no token and no cookie.
import type { Csrf } from '#api/ir/types.gen.ts'
import type { HttpRequest } from '../../message/message.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { compileOrigins, isOriginOf, parseOrigin, type OriginTest } from './origin.ts'

export function compileCsrf({ additionalOrigins }: Csrf): CompiledPolicy {
  const isListed = compileOrigins(additionalOrigins ?? [])
  return {
    request: (exchange) => {
      const verdict = verdictOf(exchange.request, isListed)
      exchange.trace?.note(verdict.reason)
      return verdict.isTrusted ? undefined : exchange.fail('csrfFailed')
    },
  }
}

/** Created once: a request allocates no text. */
const trusted = (reason: string) => ({ isTrusted: true, reason })
const refused = (reason: string) => ({ isTrusted: false, reason })
const SAFE = trusted('the method is safe')
const SAME_SITE = trusted('Sec-Fetch-Site: the request comes from the same origin')
const LISTED = trusted('the origin is one of additionalOrigins')
const OWN = trusted('the origin is the host of the request')
const NO_BROWSER = trusted('no Sec-Fetch-Site and no Origin: not sent by a browser')
const CROSS_SITE = refused('Sec-Fetch-Site: the request comes from another origin, which is not listed')
const REPEATED = refused('more than one Origin or Sec-Fetch-Site: not sent by a browser')
const FOREIGN = refused('the origin is neither the host of the request nor listed')

function verdictOf(request: HttpRequest, isListed: OriginTest): typeof SAFE {
  if (isSafe(request.method)) return SAFE
  const { headers } = request
  if (headers.isRepeated('origin') || headers.isRepeated('sec-fetch-site')) return REPEATED
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return SAME_SITE
    return origin !== undefined && isListed(origin) ? LISTED : CROSS_SITE
  }
  // Not for `null`: any page can make a browser send it, from a frame in a sandbox (RFC 6454 section 7.3).
  if (origin === undefined) return NO_BROWSER
  if (isOwnOrigin(origin, request)) return OWN
  return isListed(origin) ? LISTED : FOREIGN
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

function isOwnOrigin(origin: string, { scheme, host }: HttpRequest): boolean {
  if (origin === `${scheme}://${host}`) return true
  const parsed = parseOrigin(origin)
  return parsed !== undefined && isOriginOf(parsed, scheme, host)
}
