// Cross-app access (data-plane supplement section 8.5; draft-ietf-oauth-identity-assertion-authz-grant): the identity
// provider exchanges the token of the client for an identity assertion, and the authorization server of the application
// exchanges that for an access token. Only the access token is kept, by the token store.
import { hash } from 'node:crypto'
import type { Exchange } from '../../exchange/exchange.ts'
import { TokenError, type TokenSource } from '../token.ts'
import { keptUntilMs, requestToken, type TokenEndpoint } from './token-endpoint.ts'

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token'

export interface CrossAppSettings {
  /** The policy or backend, as the token store names it. */
  readonly owner: string
  readonly identityProvider: TokenEndpoint
  readonly resourceAuthorizationServer: TokenEndpoint
  readonly audience: string
  readonly resources: readonly string[]
  readonly scopes: readonly string[]
  /** Lifetime of an access token whose response gives none. */
  readonly defaultTtlMs: number
  /** Of the owner; 0 keeps none. */
  readonly entriesMax: number | undefined
  /** The same for policies that may share tokens; no secret. */
  readonly fingerprint: string
}

/**
 * Where the access token for one subject comes from.
 *
 * @param exchange of the request that asks first
 * @param subject the ID token of the client
 */
export function crossAppSource(exchange: Exchange, settings: CrossAppSettings, subject: string): TokenSource<string> {
  const { identityProvider, resourceAuthorizationServer } = settings
  return {
    key: hash('sha256', JSON.stringify([settings.fingerprint, ID_TOKEN, subject])),
    name: { kind: 'crossAppAccess', owner: settings.owner },
    ...(settings.entriesMax !== undefined && { entriesMax: settings.entriesMax }),
    fetchMs: Math.max(...[identityProvider, resourceAuthorizationServer].map(({ caller }) => caller?.answerMs ?? 0)),
    fetch: async (signal) => {
      const startMs = Date.now()
      const assertion = await requestAssertion(exchange, settings, { subject, signal })
      const issued = await requestAccess(exchange, settings, { assertion, signal })
      const { defaultTtlMs } = settings
      return { value: issued.token, expiresMs: keptUntilMs({ issued, startMs, defaultTtlMs, subject }) }
    },
  }
}

async function requestAssertion(
  exchange: Exchange,
  { identityProvider, audience, resources, scopes }: CrossAppSettings,
  { subject, signal }: { readonly subject: string; readonly signal: AbortSignal },
): Promise<string> {
  const form = new URLSearchParams([
    ['grant_type', TOKEN_EXCHANGE],
    ['subject_token', subject],
    ['subject_token_type', ID_TOKEN],
    ['requested_token_type', ID_JAG],
    ['audience', audience],
    ...scopeField(scopes),
    ...resources.map((resource) => ['resource', resource] as [string, string]),
  ])
  const { token } = await requestToken(exchange, identityProvider, {
    form,
    signal,
    tokenType: 'N_A',
    requestedTokenType: ID_JAG,
    mustNameIssuedType: true,
  })
  return token
}

/** The client has no part in what the application rejects. */
async function requestAccess(
  exchange: Exchange,
  { resourceAuthorizationServer, scopes }: CrossAppSettings,
  { assertion, signal }: { readonly assertion: string; readonly signal: AbortSignal },
): ReturnType<typeof requestToken> {
  const form = new URLSearchParams([['grant_type', JWT_BEARER], ['assertion', assertion], ...scopeField(scopes)])
  try {
    return await requestToken(exchange, resourceAuthorizationServer, { form, signal, tokenType: 'Bearer' })
  } catch (error) {
    if (error instanceof TokenError && error.reason === 'SubjectRejected') {
      throw new TokenError('Rejected', error.message, { cause: error })
    }
    throw error
  }
}

function scopeField(scopes: readonly string[]): [string, string][] {
  return scopes.length === 0 ? [] : [['scope', scopes.join(' ')]]
}
