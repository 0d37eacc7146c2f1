// The token endpoint and the instance metadata service of cloudB:
// learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow, and
// learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
import type { Answer, CloudEndpoints, Seen } from '../cloud-endpoints.testing.ts'

export const AUTHORITY = 'login.microsoftonline.com'
export const TENANT = '11111111-2222-3333-4444-555555555555'
export const CLIENT = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'
export const METADATA = '169.254.169.254'
export const METADATA_PATH = '/metadata/identity/oauth2/token'

export function metadataOfIssuer(endpoints: CloudEndpoints): void {
  const base = `https://${AUTHORITY}/${TENANT}`
  endpoints.on(`${AUTHORITY}/${TENANT}/v2.0/.well-known/openid-configuration`, () => ({
    body: {
      issuer: `${base}/v2.0`,
      authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
      token_endpoint: `${base}/oauth2/v2.0/token`,
      jwks_uri: `${base}/discovery/v2.0/keys`,
    },
  }))
}

/** Grants a token for the secret, or for an assertion: that of the workload, or one that the caller checks. */
export function tokenEndpoint(endpoints: CloudEndpoints, { secret, assertion, answer }: Grant): void {
  metadataOfIssuer(endpoints)
  endpoints.on(`${AUTHORITY}/${TENANT}/oauth2/v2.0/token`, (seen) => {
    const form = new URLSearchParams(seen.body)
    const proof =
      assertion === undefined
        ? form.get('client_secret') === secret
        : isAssertion(assertion, form.get('client_assertion') ?? '') &&
          form.get('client_assertion_type') === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    if (seen.method !== 'POST' || form.get('grant_type') !== 'client_credentials' || form.get('client_id') !== CLIENT) {
      return { status: 400, body: { error: 'invalid_request', error_description: 'AADSTS900144: missing parameter' } }
    }
    if (!proof) {
      const description = `AADSTS7000215: Invalid client secret provided: ${form.get('client_secret')}`
      return { status: 401, body: { error: 'invalid_client', error_description: description } }
    }
    return answer(seen)
  })
}

interface Grant {
  readonly secret?: string
  readonly assertion?: string | ((given: string) => boolean)
  readonly answer: (seen: Seen) => Answer | undefined
}

function isAssertion(expected: NonNullable<Grant['assertion']>, given: string): boolean {
  return typeof expected === 'string' ? given === expected : expected(given)
}

export function granted(token: string, expiresIn: unknown = 3599): Answer {
  return { body: { token_type: 'Bearer', expires_in: expiresIn, ext_expires_in: expiresIn, access_token: token } }
}

/** The service answers only with the field `Metadata: true`; times are text, in seconds. */
export function metadataService(endpoints: CloudEndpoints, answer: (seen: Seen) => Answer | undefined): void {
  endpoints.on(`${METADATA}${METADATA_PATH}`, (seen) => {
    if (seen.headers['metadata'] !== 'true') {
      const description = 'Required metadata header not specified'
      return { status: 400, body: { error: 'bad_request', error_description: description } }
    }
    return answer(seen)
  })
}

export function managed(token: string, life = 86_399): Answer {
  const now = Math.floor(Date.now() / 1000)
  return {
    body: {
      access_token: token,
      refresh_token: '',
      expires_in: String(life),
      expires_on: String(now + life),
      not_before: String(now),
      resource: 'https://cognitiveservices.azure.com',
      token_type: 'Bearer',
    },
  }
}
