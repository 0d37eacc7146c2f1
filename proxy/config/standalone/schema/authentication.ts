// Policies that authenticate clients (resources supplement 4.10). Their default mode is strict.
import * as z from 'zod'
import { evaluatedAt } from './moment.ts'
import { fields, isMap, notServed, oneShape, ONE_FIELD } from './object.ts'
import { cel, fileOrInline, headerName, headerValue, mapOf, text } from './values.ts'

const KEY_HASH = /^sha256:[0-9a-fA-F]{64}$/
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/

const mode = z.enum(['optional', 'strict', 'permissive'])

export const extraction = fields({
  header: fields({ name: headerName, prefix: headerValue.optional() }).optional(),
  queryParameter: fields({ name: text }).optional(),
  cookie: fields({ name: text }).optional(),
  expression: cel.optional(),
})
  .refine((value) => Object.keys(value).length === 1, {
    error: 'must have exactly one of header, queryParameter, cookie, expression',
  })
  .meta(ONE_FIELD)

const keySetUrl = text.refine(isKeySetUrl, {
  error: 'must be a URL with http or https, without user, password and fragment',
})
const keySetPlace = fields({ file: text.optional(), url: keySetUrl.optional() }).refine(
  (value) => (value.file === undefined) !== (value.url === undefined),
  { error: 'must be a key set as text, {file: …} or {url: …}' },
)
const jwks = oneShape<string | z.output<typeof keySetPlace>>(
  (value) => (isMap(value) ? keySetPlace : text),
  [keySetPlace, text],
)
/** `exp` by default: tokens without expiry must be allowed explicitly. */
const jwtValidationOptions = fields({ requiredClaims: z.array(text).optional() })
const providerShape = {
  issuer: text,
  audiences: z.array(text).min(1).optional(),
  jwks,
  jwtValidationOptions: jwtValidationOptions.optional(),
}
const modeAndLocation = { mode: mode.optional(), location: extraction.optional() }
const severalProviders = fields({ ...modeAndLocation, providers: z.array(fields(providerShape)).min(1).max(64) })
const oneProvider = fields({ ...modeAndLocation, ...providerShape })
export const jwtAuth = oneShape<z.output<typeof severalProviders> | z.output<typeof oneProvider>>(
  (value) => (isMap(value) && 'providers' in value ? severalProviders : oneProvider),
  [severalProviders, oneProvider],
)

export const basicAuth = fields({
  htpasswd: fileOrInline.optional(),
  /** Path of a file: an older name of `htpasswd: {file}`. */
  htpasswdFile: text.optional(),
  realm: text
    .refine((value) => !CONTROL.test(value), {
      error: 'contains control characters, which are not allowed in a header field',
    })
    .optional(),
  mode: z.enum(['optional', 'strict']).optional(),
  authorizationLocation: extraction.optional(),
})
  .refine(({ htpasswd, htpasswdFile }) => htpasswd !== undefined || htpasswdFile !== undefined, {
    path: ['htpasswd'],
    error: 'is required',
  })
  .refine(({ htpasswd, htpasswdFile }) => htpasswd === undefined || htpasswdFile === undefined, {
    error: 'must have at most one of htpasswd, htpasswdFile',
  })

const knownKey = fields({
  key: text.optional(),
  keyHash: z.string().regex(KEY_HASH, { error: 'must be sha256: and 64 hex digits' }).optional(),
  metadata: mapOf(z.json()).optional(),
  ...notServed(['allowedModels'], '; use authorization of the models, which can read apiKey'),
  ...notServed(['budgets'], '; use localRateLimit or remoteRateLimit with the type tokens'),
}).refine((value) => (value.key === undefined) !== (value.keyHash === undefined), {
  error: 'must have exactly one of key, keyHash',
})
export const apiKey = fields({
  keys: z.array(knownKey).min(1),
  mode: mode.optional(),
  location: extraction.optional(),
})

const PROVIDERS = ['auth0', 'keycloak', 'okta', 'descope', 'authentik', 'entra'] as const
const noFields = fields({}).nullable().optional()
const provider = fields({
  auth0: noFields,
  keycloak: noFields,
  okta: noFields,
  descope: noFields,
  authentik: noFields,
  entra: noFields,
} satisfies Record<(typeof PROVIDERS)[number], typeof noFields>)
  .refine((value) => Object.keys(value).length === 1, {
    error: `must have exactly one of ${PROVIDERS.join(', ')}`,
  })
  .meta(ONE_FIELD)
export const mcpAuthentication = fields({
  issuer: text,
  audiences: z.array(text).min(1),
  jwks,
  provider: provider.optional(),
  resourceMetadata: mapOf(z.json()),
  mode: mode.optional(),
  authorizationLocation: extraction.optional(),
  clientId: text.optional(),
  clientSecret: fileOrInline.optional(),
  authorization: fields({ rules: evaluatedAt('backend', z.array(cel).min(1)) }).optional(),
  jwtValidationOptions: jwtValidationOptions.optional(),
  ...notServed(['relaySigningKey'], '; remove it: the gateway keeps no state of sign-ins'),
  ...notServed(['jwksUrl'], '; use jwks.url'),
  ...notServed(['audience'], '; use audiences'),
})

export type McpAuthentication = z.output<typeof mcpAuthentication>
export type JwtAuth = z.output<typeof jwtAuth>
export type JwtProvider = z.output<ReturnType<typeof fields<typeof providerShape>>>
export type BasicAuth = z.output<typeof basicAuth>
export type ApiKey = z.output<typeof apiKey>
export type Extraction = z.output<typeof extraction>
export type Mode = z.output<typeof mode>

function isKeySetUrl(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false
  return url.username === '' && url.password === '' && url.hash === ''
}
