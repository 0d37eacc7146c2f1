// The endpoints of the gateway as an authorization server before an identity provider: registration, authorization,
// the return of the user, tokens. Stores nothing: what must last until the user returns is sealed in `state`.
import { isRecord, parseJson } from '#api/json.ts'
import type { McpSignIn } from '../../../chain/environment.ts'
import type { Verdict } from '../../../chain/filter.ts'
import { ServiceError } from '../../../chain/service.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import { HeaderList } from '../../../message/headers.ts'
import type { HttpResponse } from '../../../message/message.ts'
import { answer, oauthError, passedOn, redirectTo, tooManyRequests } from './answers.ts'
import { type StateCodec, stateCodec } from './authorization-state.ts'
import { mockedRegistration } from './documents.ts'
import {
  type FacadePlaces,
  hasAuthorizeEndpoint,
  hasTokenEndpoint,
  type Metadata,
  type ProviderSettings,
  registrationUrl,
  sendsIssuer,
  withAudience,
  withQuery,
} from './identity-provider.ts'
import type { IssuerClient } from './issuer-client.ts'
import { ENDS } from './place.ts'
import { type RedirectRule, redirectRule } from './redirect-uris.ts'
import { RequestAllowance } from './request-allowance.ts'

/** Registrations and token requests are a page of text at most. */
const REQUEST_BYTES_MAX = 64 * 1024
/** Of one client at one worker. */
const REGISTRATIONS_PER_MINUTE = 30
const TOKEN_REQUESTS_PER_MINUTE = 300
const REDIRECT_URIS_MAX = 32
/** Grants of a client that has a secret at the provider. */
const SECRET_GRANTS: ReadonlySet<string> = new Set(['authorization_code', 'refresh_token'])
/** RFC 7636 section 4.2 with S256: the digest in base64url. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/
/** Of an authorization response, besides `iss` and `state`. */
const RESPONSE_PARAMETERS = ['code', 'error', 'error_description', 'error_uri']

export type RelayPlace = FacadePlaces

export interface RelayParts {
  readonly settings: ProviderSettings
  readonly clientSecret: string | undefined
  readonly issuer: IssuerClient
  readonly signIn: McpSignIn
}

export class Relay {
  readonly #parts: RelayParts
  readonly #states: StateCodec
  readonly #isAllowed: RedirectRule
  readonly #registrations = new RequestAllowance(REGISTRATIONS_PER_MINUTE)
  readonly #tokens = new RequestAllowance(TOKEN_REQUESTS_PER_MINUTE)

  constructor(parts: RelayParts) {
    this.#parts = parts
    this.#states = stateCodec(parts.signIn.sealKeys)
    this.#isAllowed = redirectRule(parts.signIn.redirectUris)
  }

  /** RFC 7591, or the client of the configuration for all. */
  async register(exchange: Exchange, { here }: RelayPlace): Promise<Verdict> {
    // It may have a secret of the client.
    exchange.trace?.omitResponseBody()
    const { settings, issuer } = this.#parts
    const waitSeconds = this.#registrations.take(exchange.connection.sourceAddress, exchange.startMs)
    if (waitSeconds > 0) return tooManyRequests(exchange, waitSeconds)
    const body = await requestBody(exchange)
    if (body === undefined) return exchange.fail('bufferRequestTooLarge')
    const client = parseJson(body.toString('utf8'))
    if (!isRecord(client)) return oauthError(exchange, 'invalid_client_metadata', 'the body is not a JSON object')
    if (settings.clientId !== undefined) {
      // Nothing is sent to the provider; authorization requests are checked again.
      const refused = this.#refusedRedirect(client['redirect_uris'], {})
      if (refused !== undefined) return oauthError(exchange, 'invalid_redirect_uri', refused)
      return answer(exchange, 201, mockedRegistration(settings.clientId, client))
    }
    const metadata = await issuer.metadata(exchange)
    const refused = this.#refusedRedirect(client['redirect_uris'], metadata)
    if (refused !== undefined) return oauthError(exchange, 'invalid_redirect_uri', refused)
    const url = registrationUrl(settings, metadata)
    if (url === undefined) return answer(exchange, 404)
    // Nothing that identifies the client: its credentials are for the gateway.
    const headers = forwarded(exchange, ['content-type', 'accept'])
    if (!sendsIssuer(metadata)) {
      return passedOn(exchange, await issuer.send(exchange, url, { method: 'POST', headers, body }))
    }
    const sent = Buffer.from(JSON.stringify({ ...client, redirect_uris: [here + ENDS.callback] }))
    const response = await issuer.send(exchange, url, { method: 'POST', headers, body: sent })
    return passedOn(exchange, withRedirects(response, client['redirect_uris']))
  }

  async authorize(exchange: Exchange, { issuer, here }: RelayPlace): Promise<Verdict> {
    const { settings } = this.#parts
    const metadata = await this.#parts.issuer.metadata(exchange)
    if (!hasAuthorizeEndpoint(settings, metadata)) return answer(exchange, 404)
    const query = new URLSearchParams(exchange.request.query)
    const problem = repeated(query) ?? authorizationProblem(query)
    if (problem !== undefined) return oauthError(exchange, 'invalid_request', problem)
    const redirectUri = query.get('redirect_uri')
    const refused = this.#refusedRedirect(redirectUri === null ? undefined : [redirectUri], metadata)
    if (refused !== undefined) return oauthError(exchange, 'invalid_request', refused)
    // Entra rejects the parameter that MCP clients must send (RFC 8707).
    if (settings.provider === 'Entra') query.delete('resource')
    if (sendsIssuer(metadata)) {
      const other = callbackProblem(query)
      if (other !== undefined || redirectUri === null) {
        return oauthError(exchange, 'invalid_request', other ?? 'redirect_uri is missing')
      }
      const state = query.get('state') ?? undefined
      query.set('state', this.#states.encode({ issuer, redirectUri, state }))
      query.set('redirect_uri', here + ENDS.callback)
    }
    const endpoint = withAudience(endpointOf(metadata, 'authorization_endpoint'), settings)
    return redirectTo(exchange, withQuery(endpoint, query.toString()))
  }

  /** The user returns from the provider, and gets the response in the name of the gateway (RFC 9207). */
  async callback(exchange: Exchange, { issuer }: RelayPlace): Promise<Verdict> {
    const metadata = await this.#parts.issuer.metadata(exchange)
    if (!sendsIssuer(metadata)) return answer(exchange, 404)
    const query = new URLSearchParams(exchange.request.query)
    const problem = repeated(query)
    if (problem !== undefined) return oauthError(exchange, 'invalid_request', problem)
    const known = this.#states.decode(query.get('state') ?? '', issuer)
    if (known === undefined) {
      return oauthError(exchange, 'invalid_request', 'the sign-in is unknown or took too long; start it again')
    }
    if (query.get('iss') !== metadata['issuer']) {
      return oauthError(exchange, 'invalid_request', 'the response is not from the identity provider of this server')
    }
    // The list may have changed while the user was away.
    const refused = this.#refusedRedirect([known.redirectUri], metadata)
    if (refused !== undefined) return oauthError(exchange, 'invalid_request', refused)
    const response = new URLSearchParams()
    for (const name of RESPONSE_PARAMETERS) {
      const value = query.get(name)
      if (value !== null) response.set(name, value)
    }
    if (known.state !== undefined) response.set('state', known.state)
    response.set('iss', issuer)
    return redirectTo(exchange, withQuery(known.redirectUri, response.toString()))
  }

  async token(exchange: Exchange, { here }: RelayPlace): Promise<Verdict> {
    exchange.trace?.omitResponseBody()
    const { settings, issuer } = this.#parts
    const waitSeconds = this.#tokens.take(exchange.connection.sourceAddress, exchange.startMs)
    if (waitSeconds > 0) return tooManyRequests(exchange, waitSeconds)
    const metadata = await issuer.metadata(exchange)
    if (!hasTokenEndpoint(settings, metadata)) return answer(exchange, 404)
    const body = await requestBody(exchange)
    if (body === undefined) return exchange.fail('bufferRequestTooLarge')
    const form = new URLSearchParams(body.toString('utf8'))
    const problem = repeated(form) ?? tokenProblem(form)
    if (problem !== undefined) return oauthError(exchange, 'invalid_request', problem)
    this.#completeForm(form, sendsIssuer(metadata) ? here + ENDS.callback : undefined)
    const headers = forwarded(exchange, ['accept', 'authorization'])
    headers.set('content-type', 'application/x-www-form-urlencoded')
    const url = endpointOf(metadata, 'token_endpoint')
    const message = { method: 'POST', headers, body: Buffer.from(form.toString()) } as const
    return passedOn(exchange, await issuer.send(exchange, url, message))
  }

  /** `callback`: what the provider has as the redirect URI; undefined: that of the client. */
  #completeForm(form: URLSearchParams, callback: string | undefined): void {
    const { settings, clientSecret } = this.#parts
    const grant = form.get('grant_type') ?? ''
    if (settings.provider === 'Entra') form.delete('resource')
    if (grant === 'authorization_code' && callback !== undefined) form.set('redirect_uri', callback)
    const isOurs = form.get('client_id') === settings.clientId && SECRET_GRANTS.has(grant)
    if (!isOurs || !settings.hasClientSecret) return
    if (clientSecret === undefined) throw new ServiceError('the secret of the client is missing')
    form.set('client_secret', clientSecret)
  }

  /** The reason; undefined: all are allowed, or none was sent. */
  #refusedRedirect(uris: unknown, metadata: Metadata): string | undefined {
    if (uris === undefined) return undefined
    if (!Array.isArray(uris) || uris.length > REDIRECT_URIS_MAX) {
      return `redirect_uris is not a list of at most ${REDIRECT_URIS_MAX} URIs`
    }
    const isProviderChecking = !sendsIssuer(metadata)
    const isAllowed = (uri: unknown): boolean => typeof uri === 'string' && this.#isAllowed(uri, isProviderChecking)
    if (uris.every(isAllowed)) return undefined
    return 'a redirect URI is not allowed; add it to GW_MCP_REDIRECT_URIS of the gateway'
  }
}

function endpointOf(metadata: Metadata, name: string): string {
  const endpoint = metadata[name]
  if (typeof endpoint === 'string' && /^https?:\/\/[!-~]+$/.test(endpoint)) return endpoint
  throw new ServiceError(`the metadata of the issuer has no ${name}`)
}

/** Two parties may read different ones of them (RFC 6749 section 3.1); `resource` may be repeated (RFC 8707). */
function repeated(parameters: URLSearchParams): string | undefined {
  const seen = new Set<string>()
  for (const name of parameters.keys()) {
    if (seen.has(name) && name !== 'resource') return 'a parameter is repeated'
    seen.add(name)
  }
  return undefined
}

function authorizationProblem(query: URLSearchParams): string | undefined {
  const isPkce = query.get('code_challenge_method') === 'S256' && CHALLENGE.test(query.get('code_challenge') ?? '')
  return isPkce ? undefined : 'PKCE is required: code_challenge with code_challenge_method=S256'
}

/** The gateway reads the response, and replaces the redirect URI: both must be in the query, and not signed. */
function callbackProblem(query: URLSearchParams): string | undefined {
  if (query.get('response_type') !== 'code') return 'response_type must be code'
  if ((query.get('response_mode') ?? 'query') !== 'query') return 'response_mode must be query'
  if (query.has('request') || query.has('request_uri')) return 'request objects are not supported'
  return undefined
}

function tokenProblem(form: URLSearchParams): string | undefined {
  const isWithoutPkce = form.get('grant_type') === 'authorization_code' && !form.has('code_verifier')
  return isWithoutPkce ? 'PKCE is required: code_verifier is missing' : undefined
}

/** The client gets its own redirect URIs back, and not the access of RFC 7592 to the registration at the provider. */
function withRedirects(response: HttpResponse, redirectUris: unknown): HttpResponse {
  const { body } = response
  const client = Buffer.isBuffer(body) ? parseJson(body.toString('utf8')) : undefined
  if (!isRecord(client) || response.status >= 300) return response
  const { registration_access_token: _token, registration_client_uri: _uri, ...rest } = client
  response.body = Buffer.from(JSON.stringify({ ...rest, redirect_uris: redirectUris }))
  return response
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
