// OAuth for MCP servers, according to the MCP specification: metadata for clients without a token, and a challenge
// with its address. Does not check tokens.
import { parseJson } from '#api/json.ts'
import type { JwtAuthentication, McpOauth } from '#api/ir/types.gen.ts'
import { ServiceError } from '../../../chain/service.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import { HeaderList } from '../../../message/headers.ts'
import { HttpResponse } from '../../../message/message.ts'
import type { ChainEnvironment } from '../../../chain/environment.ts'
import type { Verdict } from '../../../chain/filter.ts'
import { challenge, configuredOrigin, mockedRegistration, resourceMetadata } from './documents.ts'
import {
  isServedHere,
  metadataUrl,
  type ProviderSettings,
  registrationUrl,
  rewrittenMetadata,
} from './identity-provider.ts'
import { IssuerClient } from './issuer-client.ts'
import { baseOf, type OauthPlace, placeOf, SERVER_METADATA } from './place.ts'

/** Registrations and token requests are a page of text at most. */
const REQUEST_BYTES_MAX = 64 * 1024

const CORS: readonly (readonly [string, string])[] = [
  ['access-control-allow-origin', '*'],
  ['access-control-allow-methods', 'GET, POST, OPTIONS'],
  ['access-control-allow-headers', 'authorization, content-type, mcp-protocol-version'],
]
/** For every rejection (data-plane supplement section 1.9); the reason is in the log. */
const UNAUTHORIZED = JSON.stringify({ error: 'unauthorized', error_description: 'JWT token required' })
/** Grants of a client that has a secret at Entra. */
const SECRET_GRANTS: ReadonlySet<string> = new Set(['authorization_code', 'refresh_token'])

export interface CompiledMcpOauth {
  /** undefined: an ordinary request, which requires a token. */
  serve(exchange: Exchange): Verdict | Promise<Verdict>
  /** Adds the address of the metadata to a rejection. `error`: the error of a token that was sent. */
  challenge(exchange: Exchange, error: 'invalid_token' | undefined): void
}

export function compileMcpOauth(
  mcp: McpOauth,
  { providers }: JwtAuthentication,
  environment: Pick<ChainEnvironment, 'origin' | 'secret'>,
): CompiledMcpOauth {
  const [first] = providers
  const settings: ProviderSettings = {
    issuer: first?.issuer ?? '',
    audiences: first?.audiences,
    provider: mcp.provider,
    clientId: mcp.clientId,
  }
  const clientSecret = mcp.clientSecret === undefined ? undefined : environment.secret(mcp.clientSecret)
  const server = new OauthServer({ mcp, settings, clientSecret, issuer: new IssuerClient(environment.origin) })
  const origin = configuredOrigin(mcp.resourceMetadata)
  return {
    serve(exchange) {
      const place = placeOf(exchange.request.path)
      return place === undefined ? undefined : server.serve(exchange, place)
    },
    challenge(exchange, error) {
      const { response, request } = exchange
      if (response === undefined || exchange.isGrpc) return
      response.headers.set('www-authenticate', challenge(origin ?? baseOf(request), request.path, error))
      response.headers.set('content-type', 'application/json')
      response.body = UNAUTHORIZED
    },
  }
}

interface ServerParts {
  readonly mcp: McpOauth
  readonly settings: ProviderSettings
  readonly clientSecret: string | undefined
  readonly issuer: IssuerClient
}

class OauthServer {
  readonly #parts: ServerParts

  constructor(parts: ServerParts) {
    this.#parts = parts
  }

  serve(exchange: Exchange, place: OauthPlace): Verdict | Promise<Verdict> {
    const { method } = exchange.request
    if (method === 'OPTIONS') return answer(exchange, 204)
    if (!allowedMethods(place).includes(method)) {
      return answer(exchange, 405, undefined, [['allow', allowedMethods(place).join(', ')]])
    }
    return place.kind === 'resource' ? this.#resource(exchange, place) : this.#guarded(exchange, place)
  }

  #resource(exchange: Exchange, { path }: OauthPlace): HttpResponse {
    const { mcp, settings } = this.#parts
    const resource = baseOf(exchange.request) + path
    const authorizationServer = isServedHere(settings) ? resource : settings.issuer
    return answer(exchange, 200, resourceMetadata({ resource, authorizationServer, extra: mcp.resourceMetadata }))
  }

  /** Requests that may call the identity provider. */
  async #guarded(exchange: Exchange, place: OauthPlace): Promise<Verdict> {
    try {
      return await this.#ask(exchange, place)
    } catch (error) {
      if (error instanceof ServiceError) return exchange.fail('identityProviderFailed', error.message)
      throw error
    }
  }

  #ask(exchange: Exchange, place: OauthPlace): Verdict | Promise<Verdict> {
    const isEntra = this.#parts.settings.provider === 'Entra'
    if (place.kind === 'server') return this.#server(exchange, place)
    if (place.kind === 'registration') return this.#register(exchange)
    if (!isEntra) return answer(exchange, 404)
    return place.kind === 'authorize' ? this.#authorize(exchange) : this.#token(exchange)
  }

  async #server(exchange: Exchange, { path }: OauthPlace): Promise<Verdict> {
    const here = `${baseOf(exchange.request)}${SERVER_METADATA}${path}`
    const metadata = await this.#metadata(exchange)
    return answer(exchange, 200, rewrittenMetadata(metadata, this.#parts.settings, here))
  }

  async #register(exchange: Exchange): Promise<Verdict> {
    const { settings, issuer } = this.#parts
    const body = await requestBody(exchange)
    if (body === undefined) return exchange.fail('bufferRequestTooLarge')
    if (settings.clientId !== undefined) {
      return answer(exchange, 201, mockedRegistration(settings.clientId, parseJson(body.toString('utf8'))))
    }
    const url = registrationUrl(settings)
    if (url === undefined) return answer(exchange, 404)
    // Nothing that identifies the client: its credentials are for the gateway.
    const headers = forwarded(exchange, ['content-type', 'accept'])
    return passedOn(exchange, await issuer.send(exchange, url, { method: 'POST', headers, body }))
  }

  /** Entra rejects the parameter that MCP clients must send (RFC 8707). */
  async #authorize(exchange: Exchange): Promise<Verdict> {
    const endpoint = await this.#endpoint(exchange, 'authorization_endpoint')
    const query = new URLSearchParams(exchange.request.query)
    query.delete('resource')
    const location = `${endpoint}${endpoint.includes('?') ? '&' : '?'}${query.toString()}`
    return answer(exchange, 302, undefined, [['location', location]])
  }

  async #token(exchange: Exchange): Promise<Verdict> {
    const { settings, clientSecret, issuer } = this.#parts
    const body = await requestBody(exchange)
    if (body === undefined) return exchange.fail('bufferRequestTooLarge')
    const form = new URLSearchParams(body.toString('utf8'))
    form.delete('resource')
    const isOurs = form.get('client_id') === settings.clientId && SECRET_GRANTS.has(form.get('grant_type') ?? '')
    if (isOurs && clientSecret !== undefined) form.set('client_secret', clientSecret)
    const headers = forwarded(exchange, ['accept', 'authorization'])
    headers.set('content-type', 'application/x-www-form-urlencoded')
    const url = await this.#endpoint(exchange, 'token_endpoint')
    const message = { method: 'POST', headers, body: Buffer.from(form.toString()) } as const
    return passedOn(exchange, await issuer.send(exchange, url, message))
  }

  #metadata(exchange: Exchange): ReturnType<IssuerClient['metadata']> {
    const { settings, issuer } = this.#parts
    const url = metadataUrl(settings)
    if (url === undefined) throw new ServiceError(`the issuer is not a URL: ${settings.issuer}`)
    return issuer.metadata(exchange, url)
  }

  async #endpoint(exchange: Exchange, name: string): Promise<string> {
    const endpoint = (await this.#metadata(exchange))[name]
    if (typeof endpoint === 'string' && /^https?:\/\/[!-~]+$/.test(endpoint)) return endpoint
    throw new ServiceError(`the metadata of the issuer has no ${name}`)
  }
}

function allowedMethods({ kind }: OauthPlace): readonly string[] {
  return kind === 'registration' || kind === 'token' ? ['POST'] : ['GET', 'HEAD']
}

function answer(
  exchange: Exchange,
  status: number,
  document?: object,
  headers: readonly (readonly [string, string])[] = [],
): HttpResponse {
  const type = document === undefined ? [] : [['content-type', 'application/json'] as const]
  const body = document === undefined ? '' : JSON.stringify(document)
  exchange.reason = 'DirectResponse'
  return HttpResponse.local(status, body, [...CORS, ...type, ...headers])
}

/** The fields of the provider's response that an OAuth client needs. */
function passedOn(exchange: Exchange, response: HttpResponse): HttpResponse {
  const fields = ['content-type', 'cache-control', 'www-authenticate'].flatMap((name) =>
    response.headers.getAll(name).map((value) => [name, value] as const),
  )
  const own = answer(exchange, response.status, undefined, fields)
  own.body = response.body
  return own
}

function forwarded({ request }: Exchange, names: readonly string[]): HeaderList {
  const headers = new HeaderList()
  for (const name of names) for (const value of request.headers.getAll(name)) headers.append(name, value)
  return headers
}

/** undefined: too large. */
async function requestBody({ request }: Exchange): Promise<Buffer | undefined> {
  const { body } = request
  if (body === undefined) return Buffer.alloc(0)
  const whole = Buffer.isBuffer(body) ? body : await body.tryCollect(REQUEST_BYTES_MAX)
  if (whole === undefined || whole.length > REQUEST_BYTES_MAX) return undefined
  request.body = whole
  return whole
}
