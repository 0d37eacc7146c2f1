// How the proxy authenticates as a client at a token endpoint (data-plane supplement section 8.5, RFC 6749 section
// 2.3.1, RFC 7523 section 2.2). A secret that is missing or unusable is found when the configuration is compiled.
import { createHash } from 'node:crypto'
import type { OAuthClientAuth, SecretRef } from '#api/ir/types.gen.ts'
import type { HeaderList } from '../../message/headers.ts'
import { assertionSigner } from './private-key-jwt.ts'

/** urn of RFC 7523 section 2.2. */
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

export interface ClientAuthentication {
  /** SHA-256 of everything the endpoint sees of the client: another one after each rotation. No secret itself. */
  readonly fingerprint: string
  /** Adds what the endpoint needs to the form and to the header fields. Nothing is kept from one call to the next. */
  authenticate(form: URLSearchParams, headers: HeaderList): void | Promise<void>
}

/** Which credential is missing or unusable, for the log; names its place, never its value. */
export interface UnusableClient {
  readonly unusable: string
}

export type SecretLookup = (ref: SecretRef) => string | undefined

/** @param auth undefined: the client does not authenticate, nor name itself */
export function compileClientAuth(
  auth: OAuthClientAuth | undefined,
  secret: SecretLookup,
): ClientAuthentication | UnusableClient {
  if (auth === undefined) return { fingerprint: fingerprintOf([]), authenticate: () => undefined }
  if (auth.method === 'PrivateKeyJwt') return privateKeyJwt(auth, secret)
  const { clientId, method, secretRef } = auth
  const value = secretRef === undefined ? undefined : secret(secretRef)
  if (value === undefined || value === '') {
    if (secretRef !== undefined) return { unusable: `secret ${secretRef.secret} is missing` }
    if (method === 'ClientSecretBasic') return { unusable: 'method ClientSecretBasic has no client secret' }
  }
  const fingerprint = fingerprintOf([method, clientId, value ?? ''])
  if (method === 'ClientSecretPost') {
    return {
      fingerprint,
      authenticate(form) {
        form.set('client_id', clientId)
        if (value !== undefined) form.set('client_secret', value)
      },
    }
  }
  const pair = `${formEncoded(clientId)}:${formEncoded(value ?? '')}`
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  return { fingerprint, authenticate: (_form, headers) => headers.set('authorization', authorization) }
}

function privateKeyJwt(auth: OAuthClientAuth, secret: SecretLookup): ClientAuthentication | UnusableClient {
  const { clientId, privateKeyJwt: settings } = auth
  if (settings === undefined) return { unusable: 'method PrivateKeyJwt has no key' }
  const { signingKeyRef, certificateRef, alg, kid, certificateHeader, assertionAudience } = settings
  const key = secret(signingKeyRef)
  if (key === undefined || key === '') return { unusable: `secret ${signingKeyRef.secret} is missing` }
  const certificate = certificateRef === undefined ? undefined : secret(certificateRef)
  if (certificateRef !== undefined && (certificate === undefined || certificate === '')) {
    return { unusable: `secret ${certificateRef.secret} is missing` }
  }
  const signer = assertionSigner({
    clientId,
    audience: assertionAudience,
    key,
    alg,
    kid,
    certificate,
    certificateHeader,
  })
  if (typeof signer === 'string') return { unusable: `secret ${signingKeyRef.secret}: ${signer}` }
  return {
    fingerprint: fingerprintOf([
      'PrivateKeyJwt',
      clientId,
      assertionAudience,
      alg,
      kid ?? '',
      key,
      certificateHeader ?? '',
      certificate ?? '',
    ]),
    async authenticate(form) {
      const assertion = await signer()
      form.set('client_id', clientId)
      form.set('client_assertion_type', ASSERTION_TYPE)
      form.set('client_assertion', assertion)
    },
  }
}

function fingerprintOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** application/x-www-form-urlencoded, which RFC 6749 asks for before the base64. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}
