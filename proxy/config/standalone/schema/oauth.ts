// Token endpoints and tokens of policies that get a token for the backend (resources supplement 4.10). Names that the
// supplement leaves open are those of the API; secrets are texts or files.
import * as z from 'zod'
import { extraction } from './authentication.ts'
import { RESERVED_FIELDS } from '../../../credentials/oauth/reserved-fields.ts'
import { fields } from './object.ts'
import { cel, duration, fileOrInline, mapOf, text } from './values.ts'

const CLIENT_METHODS = ['clientSecretBasic', 'clientSecretPost', 'privateKeyJwt'] as const
const PARAMS_MAX = 64
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384'] as const

const privateKeyJwt = fields({
  signingKey: fileOrInline,
  alg: z.enum(ALGORITHMS).optional(),
  kid: text.optional(),
  assertionAudience: text,
  certificate: fileOrInline.optional(),
  certificateHeader: z.enum(['x5c', 'x5t#S256']).optional(),
}).refine((value) => (value.certificate === undefined) === (value.certificateHeader === undefined), {
  error: 'must have both certificate and certificateHeader, or neither',
})

export const clientAuth = fields({
  clientId: text,
  method: z.enum(CLIENT_METHODS).optional(),
  clientSecret: fileOrInline.optional(),
  privateKeyJwt: privateKeyJwt.optional(),
})
  .refine((value) => (value.privateKeyJwt !== undefined) === (value.method === 'privateKeyJwt'), {
    error: 'must have privateKeyJwt with the method privateKeyJwt, and only with it',
  })
  .refine((value) => value.privateKeyJwt === undefined || value.clientSecret === undefined, {
    error: 'must have at most one of clientSecret, privateKeyJwt',
  })
  .refine((value) => value.clientSecret !== undefined || (value.method ?? 'clientSecretBasic') !== CLIENT_METHODS[0], {
    error: 'must have clientSecret; without a secret, set method: clientSecretPost',
  })

export const tokenPath = z.string().regex(/^\//, { error: 'must begin with /' })
export const tokenCache = fields({ maxEntries: z.int().min(0).optional(), defaultTtl: duration.optional() })
export const tokenList = z.array(text).min(1).max(64)
/** As the contract calls them. */
const TOKEN_TYPES: ReadonlyMap<string, string> = new Map([
  ['accessToken', 'AccessToken'],
  ['jwt', 'Jwt'],
  ['idToken', 'IdToken'],
  ['idJag', 'IdJag'],
])
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[^# ]+$/

const tokenType = text
  .max(256)
  .refine((value) => TOKEN_TYPES.has(value) || URI.test(value), {
    error: `must be ${[...TOKEN_TYPES.keys()].join(', ')} or an absolute URI without fragment`,
  })
  .transform((value) => TOKEN_TYPES.get(value) ?? value)

export const subjectToken = fields({ source: extraction.optional(), tokenType: tokenType.optional() })
export const actorToken = fields({
  source: extraction,
  tokenType: tokenType.optional(),
  enforceMayAct: z.boolean().optional(),
}).refine((value) => value.enforceMayAct !== true || value.tokenType === 'Jwt', {
  error: 'must have tokenType: jwt with enforceMayAct',
})
export const additionalParams = mapOf(cel).superRefine((params, context) => {
  if (Object.keys(params).length > PARAMS_MAX) {
    context.addIssue({ code: 'custom', message: `must have at most ${PARAMS_MAX} entries` })
  }
  for (const name of Object.keys(params)) {
    if (!RESERVED_FIELDS.has(name)) continue
    context.addIssue({ code: 'custom', path: [name], message: 'must not be set here; use the field of its own' })
  }
})
export const grantType = z.enum(['tokenExchange', 'jwtBearer'])
export const requestedTokenType = z.enum(['accessToken', 'jwt', 'idToken'])
export const crossAppSubject = fields({ source: extraction.optional() })

export type ClientAuth = z.output<typeof clientAuth>
export type PrivateKeyJwt = z.output<typeof privateKeyJwt>
export type TokenCache = z.output<typeof tokenCache>
