// How the proxy authenticates at a token endpoint, as the contract has it. A Secret that is missing or holds an
// unusable key is reported; its reference stays, and the proxy fails the requests that need it.
import { readKeyCertificates, readSigningKey } from '#api/credentials/signing-key.ts'
import type { OAuthClientAuth as RenderedClientAuth, OAuthPrivateKeyJwt, SecretRef } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { OAuthClientAuth, OAuthPrivateKeyJWT } from '#api/v1alpha1/shared.gen.ts'
import { secretRef } from './credential.ts'
import { type FieldContext, reportError } from './field.ts'

/** Data keys that are read when a reference names none (resources supplement section 1.13). */
const CLIENT_SECRET = 'clientSecret'
const SIGNING_KEY = 'signingKey'
const CERTIFICATE = 'certificate'

/** @throws {TypeError} for what the schema rejects; the section answers with a denial. */
export function renderClientAuth(value: OAuthClientAuth, path: FieldPath, context: FieldContext): RenderedClientAuth {
  const { clientId, secretRef: ref, privateKeyJwt, method = 'ClientSecretBasic' } = value
  if ((privateKeyJwt !== undefined) !== (method === 'PrivateKeyJwt')) throw new TypeError('privateKeyJwt and method')
  if (ref === undefined && method === 'ClientSecretBasic') throw new TypeError('ClientSecretBasic without secretRef')
  return {
    clientId,
    method,
    ...(ref !== undefined && {
      secretRef: secretRef({ ref, defaultKey: CLIENT_SECRET, path: `${path}.secretRef` }, context),
    }),
    ...(privateKeyJwt !== undefined && {
      privateKeyJwt: renderPrivateKeyJwt(privateKeyJwt, `${path}.privateKeyJwt`, context),
    }),
  }
}

function renderPrivateKeyJwt(value: OAuthPrivateKeyJWT, path: FieldPath, context: FieldContext): OAuthPrivateKeyJwt {
  const { signingKeyRef, alg = 'RS256', kid, assertionAudience, certificateRef, certificateHeader } = value
  const signingKey = secretRef({ ref: signingKeyRef, defaultKey: SIGNING_KEY, path: `${path}.signingKeyRef` }, context)
  const certificate =
    certificateRef &&
    secretRef({ ref: certificateRef, defaultKey: CERTIFICATE, path: `${path}.certificateRef` }, context)
  checkMaterial({ signingKey, alg, certificate }, path, context)
  return {
    signingKeyRef: signingKey,
    alg,
    assertionAudience,
    ...(kid !== undefined && { kid }),
    ...(certificate !== undefined && { certificateRef: certificate }),
    ...(certificateHeader !== undefined && { certificateHeader }),
  }
}

interface Material {
  readonly signingKey: SecretRef
  readonly alg: NonNullable<OAuthPrivateKeyJWT['alg']>
  readonly certificate: SecretRef | undefined
}

function checkMaterial({ signingKey, alg, certificate }: Material, path: FieldPath, context: FieldContext): void {
  const pem = storedValue(signingKey, context)
  if (pem === undefined) return
  const key = readSigningKey(pem, alg)
  if (typeof key === 'string') return reportUnusable(`${path}.signingKeyRef`, signingKey, key, context)
  const chain = certificate && storedValue(certificate, context)
  if (certificate === undefined || chain === undefined) return
  const fault = readKeyCertificates(chain, key)
  if (typeof fault === 'string') reportUnusable(`${path}.certificateRef`, certificate, fault, context)
}

/** undefined: the reference was reported. */
function storedValue({ secret }: SecretRef, { report }: FieldContext): string | undefined {
  return report.secrets.findLast(({ key }) => key === secret)?.value
}

function reportUnusable(path: FieldPath, { secret }: SecretRef, fault: string, context: FieldContext): void {
  reportError(context, { path, reason: 'InvalidKey', message: `secret ${secret}: ${fault}` })
}
