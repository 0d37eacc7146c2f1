// Token exchange (RFC 8693) and the JWT bearer grant (RFC 7523; data-plane supplement section 8.5): one call of a token
// endpoint gives a token of the backend for the token of the client.
import { hash } from 'node:crypto'
import type { Exchange } from '../../exchange/exchange.ts'
import type { TokenSource } from '../token.ts'
import { keptUntilMs, requestToken, type TokenEndpoint } from './token-endpoint.ts'

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

const TYPE_URNS: ReadonlyMap<string, string> = new Map([
  ['AccessToken', 'urn:ietf:params:oauth:token-type:access_token'],
  ['Jwt', 'urn:ietf:params:oauth:token-type:jwt'],
  ['IdToken', 'urn:ietf:params:oauth:token-type:id_token'],
  ['IdJag', 'urn:ietf:params:oauth:token-type:id-jag'],
])

export interface ExchangeSettings {
  /** The policy or backend, as the token store names it. */
  readonly owner: string
  readonly endpoint: TokenEndpoint
  readonly grantType: 'TokenExchange' | 'JwtBearer'
  /** Names of the contract, or URIs. */
  readonly subjectTokenType: string
  readonly actorTokenType: string | undefined
  readonly requestedTokenType: string | undefined
  readonly audiences: readonly string[] | undefined
  readonly resources: readonly string[] | undefined
  readonly scopes: readonly string[] | undefined
  /** Lifetime of a token whose response gives none, in milliseconds. */
  readonly defaultTtlMs: number
  /** Of the owner; 0 keeps none. */
  readonly entriesMax: number | undefined
  /** The same for policies that may share tokens; no secret. */
  readonly fingerprint: string
}

/** Of one request. */
export interface ExchangeInput {
  readonly subject: string
  readonly actor: string | undefined
  readonly params: ReadonlyArray<readonly [name: string, value: string]>
}

/**
 * Where the token for one subject, actor and set of parameters comes from.
 *
 * @param exchange of the request that asks first
 */
export function exchangeSource(
  exchange: Exchange,
  settings: ExchangeSettings,
  input: ExchangeInput,
): TokenSource<string> {
  const { subject, actor, params } = input
  const { owner, entriesMax, fingerprint, requestedTokenType } = settings
  return {
    // The types of the tokens are part of the fingerprint.
    key: hash('sha256', JSON.stringify([fingerprint, subject, actor ?? null, params])),
    name: { kind: 'oauthTokenExchange', owner },
    ...(entriesMax !== undefined && { entriesMax }),
    fetchMs: settings.endpoint.caller?.answerMs ?? 0,
    fetch: async (signal) => {
      const startMs = Date.now()
      const issued = await requestToken(exchange, settings.endpoint, {
        form: formOf(settings, input),
        signal,
        tokenType: 'Bearer',
        requestedTokenType: requestedTokenType === undefined ? undefined : urnOf(requestedTokenType),
      })
      const { defaultTtlMs } = settings
      return { value: issued.token, expiresMs: keptUntilMs({ issued, startMs, defaultTtlMs, subject }) }
    },
  }
}

function formOf(settings: ExchangeSettings, { subject, actor, params }: ExchangeInput): URLSearchParams {
  const { audiences = [], scopes = [], resources = [] } = settings
  const form = new URLSearchParams(grantFields(settings, subject, actor))
  for (const audience of audiences) form.append('audience', audience)
  if (scopes.length > 0) form.append('scope', scopes.join(' '))
  for (const resource of resources) form.append('resource', resource)
  for (const [name, value] of params) form.append(name, value)
  return form
}

function grantFields(settings: ExchangeSettings, subject: string, actor: string | undefined): [string, string][] {
  const { grantType, subjectTokenType, actorTokenType, requestedTokenType } = settings
  if (grantType === 'JwtBearer') {
    return [
      ['grant_type', JWT_BEARER],
      ['assertion', subject],
    ]
  }
  const fields: [string, string][] = [
    ['grant_type', TOKEN_EXCHANGE],
    ['subject_token', subject],
    ['subject_token_type', urnOf(subjectTokenType)],
  ]
  if (actor !== undefined && actorTokenType !== undefined) {
    fields.push(['actor_token', actor], ['actor_token_type', urnOf(actorTokenType)])
  }
  if (requestedTokenType !== undefined) fields.push(['requested_token_type', urnOf(requestedTokenType)])
  return fields
}

function urnOf(type: string): string {
  return TYPE_URNS.get(type) ?? type
}
