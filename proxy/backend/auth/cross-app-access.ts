// Cross-app access: sends the access token that two authorities give for the ID token of the client (data-plane
// supplement section 8.5). What the client sent is removed before the new token is written.
import { createHash } from 'node:crypto'
import type { CrossAppAccess, OAuthEndpoint } from '#api/ir/types.gen.ts'
import { compileCredentialReader } from '../../auth/credential-reader.ts'
import { compileClientAuth } from '../../credentials/oauth/client-auth.ts'
import { type CrossAppSettings, crossAppSource } from '../../credentials/oauth/cross-app-access.ts'
import type { TokenEndpoint } from '../../credentials/oauth/token-endpoint.ts'
import { TokenError } from '../../credentials/token.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { formCaller } from '../form-caller.ts'
import type { AuthEnvironment, AuthKind } from './kind.ts'
import { DEFAULT_LOCATION, writerFor } from './location.ts'
import { tokenFor } from './sent-token.ts'

const DEFAULT_TTL_MS = 300_000

export const crossAppAccess: AuthKind = ({ crossAppAccess: policy }, environment) => {
  if (policy === undefined) return undefined
  const settings = settingsOf(policy, environment)
  if (typeof settings === 'string') return { problem: settings }
  const entriesMax = policy.cache?.entriesMax
  const reader = compileCredentialReader(policy.subjectToken?.source, 'Bearer ', environment.expression)
  const write = writerFor(DEFAULT_LOCATION)
  return {
    note: 'writes the access token of cross-app access',
    readsRequestBody: reader.readsRequestBody,
    request: (exchange) => {
      const subject = reader.read(exchange)
      if (subject === undefined)
        return exchange.fail('subjectTokenRejected', { log: 'no ID token', client: 'no ID token' })
      // Also where the exchange fails: an access log of all headers must not show it.
      reader.remove(exchange)
      const source = { ...crossAppSource(exchange, settings, subject), ...(entriesMax !== undefined && { entriesMax }) }
      const send = ({ value }: { readonly value: string }): undefined => {
        write(exchange.request, value)
      }
      try {
        const token = tokenFor(exchange, environment.tokens, { source })
        return token instanceof Promise ? token.then(send).catch((error) => failed(exchange, error)) : send(token)
      } catch (error) {
        return failed(exchange, error)
      }
    },
  }
}

function failed(exchange: Exchange, error: unknown): ReturnType<Exchange['fail']> {
  if (!(error instanceof TokenError)) throw error
  const code = error.reason === 'SubjectRejected' ? 'subjectTokenRejected' : 'backendAuthFailed'
  return exchange.fail(code, { log: `crossAppAccess: ${error.message}`, client: 'no access token' })
}

/** @returns the problem where a secret is missing or unusable */
function settingsOf(policy: CrossAppAccess, environment: AuthEnvironment): CrossAppSettings | string {
  const { audience, resources = [], scopes = [], cache } = policy
  const provider = endpointOf('identity provider', policy.identityProvider, environment)
  if (typeof provider === 'string') return provider
  const application = endpointOf('resource authorization server', policy.resourceAuthorizationServer, environment)
  if (typeof application === 'string') return application
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([policy, provider.client.fingerprint, application.client.fingerprint]))
    .digest('hex')
  return {
    owner: `${audience} ${fingerprint.slice(0, 12)}`,
    identityProvider: provider,
    resourceAuthorizationServer: application,
    audience,
    resources,
    scopes,
    defaultTtlMs: cache?.defaultTtlMs ?? DEFAULT_TTL_MS,
    fingerprint,
  }
}

function endpointOf(
  name: string,
  { service: ref, path, clientAuth }: OAuthEndpoint,
  { secret, service }: AuthEnvironment,
): TokenEndpoint | string {
  const client = compileClientAuth(clientAuth, secret)
  if ('unusable' in client) return `${name}: ${client.unusable}`
  const called = service(ref, 'Oidc')
  return { name, caller: called && formCaller(called), path, client }
}
