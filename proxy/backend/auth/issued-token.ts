// Sends a token that token endpoints issue, at once if it is kept. What all kinds with token endpoints share.
import { compileClientAuth } from '../../credentials/oauth/client-auth.ts'
import type { TokenEndpoint } from '../../credentials/oauth/token-endpoint.ts'
import { TokenError, type TokenName, type TokenSource } from '../../credentials/token.ts'
import type { BackendReference, OAuthClientAuth } from '#api/ir/types.gen.ts'
import type { Filter } from '../../chain/filter.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { formCaller } from '../form-caller.ts'
import type { AuthEnvironment } from './kind.ts'
import type { CredentialWriter } from './location.ts'
import { tokenFor } from './sent-token.ts'

/** Lifetime of tokens whose response gives none, in milliseconds (data-plane supplement section 8.5). */
export const DEFAULT_TTL_MS = 300_000

export interface IssuedToken {
  readonly tokens: AuthEnvironment['tokens']
  readonly source: TokenSource<string>
  readonly write: CredentialWriter
}

/** Nothing of the client may be left in the place of the token. */
export function sendIssued(exchange: Exchange, { tokens, source, write }: IssuedToken): ReturnType<Filter> {
  const send = ({ value }: { readonly value: string }): undefined => {
    write(exchange.request, value)
  }
  const { kind } = source.name
  try {
    const token = tokenFor(exchange, tokens, { source })
    return token instanceof Promise ? token.then(send).catch((error) => failed(exchange, kind, error)) : send(token)
  } catch (error) {
    return failed(exchange, kind, error)
  }
}

function failed(exchange: Exchange, kind: TokenName['kind'], error: unknown): ReturnType<Exchange['fail']> {
  if (!(error instanceof TokenError)) throw error
  const code = error.reason === 'SubjectRejected' ? 'subjectTokenRejected' : 'backendAuthFailed'
  return exchange.fail(code, { log: `${kind}: ${error.message}`, client: 'no access token' })
}

export interface EndpointParts {
  readonly service: BackendReference
  readonly path: string
  readonly clientAuth?: OAuthClientAuth
}

/** @param name for messages @returns the problem where a secret is missing or unusable */
export function tokenEndpointOf(
  name: string,
  { service: ref, path, clientAuth }: EndpointParts,
  { secret, service }: Pick<AuthEnvironment, 'secret' | 'service'>,
): TokenEndpoint | string {
  const client = compileClientAuth(clientAuth, secret)
  if ('unusable' in client) return `${name}: ${client.unusable}`
  const called = service(ref, 'Oidc')
  return { name, caller: called && formCaller(called), path, client }
}
