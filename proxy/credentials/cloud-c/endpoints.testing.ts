// The token endpoints of cloudC: developers.google.com/identity/protocols/oauth2/service-account (assertions of service
// accounts), developers.google.com/identity/protocols/oauth2/web-server#offline (refresh tokens),
// cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token (federation),
// cloud.google.com/iam/docs/reference/credentials/rest (impersonation), and
// cloud.google.com/compute/docs/metadata/predefined-metadata-keys (metadata server).
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import type { Answer, CloudEndpoints, Seen } from '../cloud-endpoints.testing.ts'

export const EMAIL = 'models@shop.iam.gserviceaccount.com'
export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
export const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

type Answers = (seen: Seen) => Answer | undefined

const REFUSED: Answer = { status: 400, body: { error: 'invalid_grant', error_description: 'planted echo' } }

export function granted(token: string, expiresIn: unknown = 3599): Answer {
  return { body: { access_token: token, expires_in: expiresIn, token_type: 'Bearer' } }
}

/** An ID token that ends in `life` seconds; its signature is not one. */
export function idTokenOf(audience: string | null, life = 3600): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + life
  return `${encode({ alg: 'RS256' })}.${encode({ aud: audience, exp })}.signature`
}

/** `oauth2.googleapis.com/token` for service accounts: verifies the assertion. */
export function assertionEndpoint(endpoints: CloudEndpoints, answer: Answers): void {
  endpoints.on('oauth2.googleapis.com/token', (seen) => {
    const form = new URLSearchParams(seen.body)
    const claims = verifiedClaims(form.get('assertion') ?? '')
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer' || claims === undefined) return REFUSED
    const { iss, aud, exp, iat, scope, target_audience: target } = claims
    const isValid = iss === EMAIL && aud === 'https://oauth2.googleapis.com/token' && Number(exp) - Number(iat) <= 3600
    if (!isValid) return REFUSED
    if (typeof target === 'string') return { body: { id_token: idTokenOf(target) } }
    return scope === SCOPE ? answer(seen) : REFUSED
  })
}

/** What `refreshEndpoint` accepts, as a credential JSON. */
export const USER = {
  type: 'authorized_user',
  client_id: 'client-1',
  client_secret: 'planted-secret',
  refresh_token: 'planted-refresh',
}

/** `oauth2.googleapis.com/token` for users: checks the refresh token and the client. */
export function refreshEndpoint(endpoints: CloudEndpoints, answer: Answers): void {
  endpoints.on('oauth2.googleapis.com/token', (seen) => {
    const form = new URLSearchParams(seen.body)
    const sent = ['grant_type', 'client_id', 'client_secret', 'refresh_token'].map((name) => form.get(name))
    const expected = ['refresh_token', USER.client_id, USER.client_secret, USER.refresh_token]
    if (sent.join(' ') !== expected.join(' ')) return REFUSED
    const target = form.get('target_audience')
    return target === null ? answer(seen) : { body: { id_token: idTokenOf(target) } }
  })
}

/** `sts.googleapis.com/v1/token`: exchanges the token of the workload. */
export function exchangeEndpoint(endpoints: CloudEndpoints, subjectToken: string, answer: Answers): void {
  endpoints.on('sts.googleapis.com/v1/token', (seen) => {
    const form = new URLSearchParams(seen.body)
    const isValid =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:token-exchange' &&
      form.get('requested_token_type') === 'urn:ietf:params:oauth:token-type:access_token' &&
      form.get('subject_token') === subjectToken &&
      form.get('subject_token_type') === 'urn:ietf:params:oauth:token-type:jwt' &&
      form.get('scope') === SCOPE
    return isValid ? answer(seen) : REFUSED
  })
}

/** `iamcredentials.googleapis.com`: tokens of another account for the bearer of `source`. */
export function impersonation(
  endpoints: CloudEndpoints,
  { source, token, life = 3600 }: { source: string; token: string; life?: number },
): void {
  const account = `/v1/projects/-/serviceAccounts/${EMAIL}`
  const refused = { status: 403, body: { error: { code: 403, status: 'PERMISSION_DENIED', message: 'planted echo' } } }
  const checked =
    (answer: Answers): Answers =>
    (seen) =>
      seen.headers.authorization === `Bearer ${source}` ? answer(seen) : refused
  for (const at of [account, encodeURI(account).replace('@', '%40')]) {
    endpoints.on(
      `iamcredentials.googleapis.com${at}:generateAccessToken`,
      checked(() => ({
        body: { accessToken: token, expireTime: new Date(Date.now() + life * 1000).toISOString() },
      })),
    )
    endpoints.on(
      `iamcredentials.googleapis.com${at}:generateIdToken`,
      checked(({ body }) => {
        const sent: unknown = JSON.parse(body)
        const audience = typeof sent === 'object' && sent !== null && 'audience' in sent ? String(sent.audience) : null
        return { body: { token: idTokenOf(audience) } }
      }),
    )
  }
}

/** The metadata server, at the address that `GCE_METADATA_HOST` names. */
export function metadataServer(endpoints: CloudEndpoints, answer: Answers): void {
  const flavour = { 'metadata-flavor': 'Google' }
  const guarded =
    (answers: Answers): Answers =>
    (seen) => {
      if (seen.headers['metadata-flavor'] !== 'Google') return { status: 403, body: 'Missing Metadata-Flavor header' }
      const given = answers(seen)
      return given && { ...given, headers: { ...flavour, ...given.headers } }
    }
  const account = 'metadata.google.internal/computeMetadata/v1/instance'
  endpoints.on(
    account,
    guarded(() => ({ body: 'service-accounts/\n' })),
  )
  endpoints.on(`${account}/service-accounts/default/token`, guarded(answer))
  endpoints.on(
    `${account}/service-accounts/default/identity`,
    guarded(({ url }) => ({ body: idTokenOf(url.searchParams.get('audience')) })),
  )
}

function verifiedClaims(assertion: string): Record<string, unknown> | undefined {
  const [header = '', payload = '', signature = ''] = assertion.split('.')
  const signed = Buffer.from(`${header}.${payload}`)
  if (!verify('RSA-SHA256', signed, createPublicKey(KEY), Buffer.from(signature, 'base64url'))) return undefined
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
  return typeof claims === 'object' && claims !== null ? { ...claims } : undefined
}
