// Responses of the gateway itself to OAuth clients: documents for pages of all sites, errors of RFC 6749.
import type { Exchange } from '../../../exchange/exchange.ts'
import { HttpResponse } from '../../../message/message.ts'

const CORS: readonly (readonly [string, string])[] = [
  ['access-control-allow-origin', '*'],
  ['access-control-allow-methods', 'GET, POST, OPTIONS'],
  ['access-control-allow-headers', 'authorization, content-type, mcp-protocol-version'],
]
const NOT_STORED: readonly (readonly [string, string])[] = [['cache-control', 'no-store']]

export type Fields = readonly (readonly [string, string])[]

export function answer(exchange: Exchange, status: number, document?: object, headers: Fields = []): HttpResponse {
  const type = document === undefined ? [] : [['content-type', 'application/json'] as const]
  const body = document === undefined ? '' : JSON.stringify(document)
  exchange.reason = 'DirectResponse'
  return HttpResponse.local(status, body, [...CORS, ...type, ...headers])
}

/** `description`: for the developer of the client. */
export function oauthError(exchange: Exchange, error: string, description: string): HttpResponse {
  exchange.errorDetail = `${error}: ${description}`
  return answer(exchange, 400, { error, error_description: description }, NOT_STORED)
}

export function tooManyRequests(exchange: Exchange, retrySeconds: number): HttpResponse {
  const response = exchange.fail('rateLimited', 'too many requests of one client for the identity provider')
  const document = { error: 'temporarily_unavailable', error_description: 'too many requests' }
  const fields: Fields = [...CORS, ...NOT_STORED, ['content-type', 'application/json']]
  for (const [name, value] of [...fields, ['retry-after', String(retrySeconds)] as const]) {
    response.headers.set(name, value)
  }
  response.body = JSON.stringify(document)
  return response
}

export function redirectTo(exchange: Exchange, location: string): HttpResponse {
  return answer(exchange, 302, undefined, [['location', location], ...NOT_STORED])
}

/** The fields of the provider's response that an OAuth client needs. */
export function passedOn(exchange: Exchange, response: HttpResponse): HttpResponse {
  const fields = ['content-type', 'cache-control', 'www-authenticate', 'retry-after'].flatMap((name) =>
    response.headers.getAll(name).map((value) => [name, value] as const),
  )
  const own = answer(exchange, response.status, undefined, fields)
  own.body = response.body
  return own
}
