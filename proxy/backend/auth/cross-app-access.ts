// Cross-app access: sends the access token that two authorities give for the ID token of the client (data-plane
// supplement section 8.5). What the client sent is removed before the new token is written.
import { hash } from 'node:crypto'
import type { CrossAppAccess } from '#api/ir/types.gen.ts'
import { compileCredentialReader } from '../../auth/credential-reader.ts'
import { type CrossAppSettings, crossAppSource } from '../../credentials/oauth/cross-app-access.ts'
import { DEFAULT_TTL_MS, sendIssued, tokenEndpointOf } from './issued-token.ts'
import type { AuthEnvironment, AuthKind } from './kind.ts'
import { DEFAULT_LOCATION, writerFor } from './location.ts'

export const crossAppAccess: AuthKind = ({ crossAppAccess: policy }, environment) => {
  if (policy === undefined) return undefined
  const settings = settingsOf(policy, environment)
  if (typeof settings === 'string') return { problem: settings }
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
      const source = crossAppSource(exchange, settings, subject)
      return sendIssued(exchange, { tokens: environment.tokens, source, write })
    },
  }
}

/** @returns the problem where a secret is missing or unusable */
function settingsOf(policy: CrossAppAccess, environment: AuthEnvironment): CrossAppSettings | string {
  const { audience, resources = [], scopes = [], cache } = policy
  const provider = tokenEndpointOf('identity provider', policy.identityProvider, environment)
  if (typeof provider === 'string') return provider
  const application = tokenEndpointOf('resource authorization server', policy.resourceAuthorizationServer, environment)
  if (typeof application === 'string') return application
  const clients = [provider.client.fingerprint, application.client.fingerprint]
  const fingerprint = hash('sha256', JSON.stringify([policy, ...clients]))
  return {
    owner: `${audience} ${fingerprint.slice(0, 12)}`,
    identityProvider: provider,
    resourceAuthorizationServer: application,
    audience,
    resources,
    scopes,
    defaultTtlMs: cache?.defaultTtlMs ?? DEFAULT_TTL_MS,
    entriesMax: cache?.entriesMax,
    fingerprint,
  }
}
