// Policies of upstream calls, whether a route, a provider or another policy makes the call (resources supplement
// 4.10, simple backend policies).
import * as z from 'zod'
import { keepalive, keyExchangeGroups } from './connections.ts'
import { serviceReference } from './discovery.ts'
import { evaluatedAt } from './moment.ts'
import {
  actorToken,
  additionalParams,
  clientAuth,
  crossAppSubject,
  grantType,
  requestedTokenType,
  subjectToken,
  tokenCache,
  tokenList,
  tokenPath,
} from './oauth.ts'
import { denying, fields, isMap, notServed, oneShape, ONE_FIELD } from './object.ts'
import { address, cel, duration, fileOrInline, headerName, headerValue, mapOf, text } from './values.ts'

export const DENYING_AUTH = ['copilot'] as const

export const headerModifier = fields({
  add: z.record(headerName, headerValue).optional(),
  set: z.record(headerName, headerValue).optional(),
  remove: z.array(headerName).optional(),
})

export const transform = fields({
  add: z.record(headerName, cel).optional(),
  set: z.record(headerName, cel).optional(),
  remove: z.array(headerName).optional(),
  body: cel.optional(),
  metadata: mapOf(cel).optional(),
  replace: cel.optional(),
})
export const transformationShape = {
  request: transform.optional(),
  response: evaluatedAt('response', transform).optional(),
}
export const transformation = fields(transformationShape)
export const location = fields({
  header: fields({ name: headerName, prefix: headerValue.optional() }).optional(),
  queryParameter: fields({ name: text }).optional(),
  cookie: fields({ name: text }).optional(),
  ...notServed(['expression']),
})
  .refine((value) => Object.keys(value).length === 1, {
    error: 'must have exactly one of header, queryParameter, cookie',
  })
  .meta(ONE_FIELD)
const keyObject = fields({ value: fileOrInline, location: location.optional() })
const keyFile = fields({ file: text })
const authKey = oneShape<string | z.output<typeof keyObject> | z.output<typeof keyFile>>(
  (value) => {
    if (!isMap(value)) return text
    return 'file' in value ? keyFile : keyObject
  },
  [text, keyFile, keyObject],
)
const sessionTag = fields({ key: text, value: z.string().optional(), expression: cel.optional() }).refine(
  (value) => (value.value === undefined) !== (value.expression === undefined),
  { error: 'must have exactly one of value, expression' },
)
const sessionName = z
  .string()
  .regex(/^[A-Za-z0-9_+=,.@-]{2,64}$/, { error: 'must be 2 to 64 letters, digits and _+=,.@-' })
const computedName = fields({ expression: cel })
const awsRole = fields({
  roleArn: text,
  externalId: z
    .string()
    .regex(/^[A-Za-z0-9_+=,.@:/-]{2,1224}$/, { error: 'must be 2 to 1224 letters, digits and _+=,.@:/-' })
    .optional(),
  sessionName: oneShape<string | z.output<typeof computedName>>(
    (value) => (isMap(value) ? computedName : sessionName),
    [sessionName, computedName],
  ).optional(),
  sessionNameExpression: cel.optional(),
  tags: z.array(sessionTag).max(50).optional(),
}).refine((value) => value.sessionName === undefined || value.sessionNameExpression === undefined, {
  error: 'must have at most one of sessionName, sessionNameExpression',
})
const aws = fields({
  accessKeyId: fileOrInline.optional(),
  secretAccessKey: fileOrInline.optional(),
  sessionToken: fileOrInline.optional(),
  assumeRole: awsRole.optional(),
  region: text.optional(),
  serviceName: text.optional(),
})
  .refine((value) => (value.accessKeyId === undefined) === (value.secretAccessKey === undefined), {
    error: 'must have both accessKeyId and secretAccessKey, or neither',
  })
  .refine((value) => value.sessionToken === undefined || value.accessKeyId !== undefined, {
    error: 'must have accessKeyId and secretAccessKey beside sessionToken',
  })
  .refine((value) => value.accessKeyId === undefined || value.assumeRole === undefined, {
    error: 'must have at most one of accessKeyId, assumeRole',
  })
const azureSecret = fields({ tenant_id: fileOrInline, client_id: fileOrInline, client_secret: fileOrInline })
const azureCertificate = fields({ tenant_id: fileOrInline, client_id: fileOrInline, client_certificate: fileOrInline })
const managedIdentity = fields({
  clientId: text.optional(),
  objectId: text.optional(),
  resourceId: text.optional(),
}).refine((value) => Object.keys(value).length <= 1, {
  error: 'must have at most one of clientId, objectId, resourceId',
})
const explicitAzure = fields({
  clientSecret: azureSecret.optional(),
  clientCertificate: azureCertificate.optional(),
  managedIdentity: managedIdentity.optional(),
  workloadIdentity: fields({}).optional(),
})
  .refine((value) => Object.keys(value).length === 1, {
    error: 'must have exactly one of clientSecret, clientCertificate, managedIdentity, workloadIdentity',
  })
  .meta(ONE_FIELD)
const azure = fields({
  implicit: fields({}).optional(),
  developerImplicit: fields({}).optional(),
  explicitConfig: explicitAzure.optional(),
}).refine((value) => Object.keys(value).length <= 1, {
  error: 'must have at most one of implicit, developerImplicit, explicitConfig',
})
const gcp = fields({
  type: z.enum(['accessToken', 'idToken']).optional(),
  audience: text.optional(),
  credential: fileOrInline.optional(),
}).refine((value) => value.audience === undefined || value.type === 'idToken', {
  error: 'must have type idToken beside audience',
})
const fixedAuthShape = {
  key: authKey.optional(),
  credentials: z
    .array(fields({ location, key: fileOrInline }))
    .min(1)
    .max(8)
    .optional(),
}
const fixedAuthObject = fields(fixedAuthShape)
/** Values that depend on no request and do not end. */
const fixedAuth = oneShape<string | z.output<typeof fixedAuthObject>>(
  (value) => (isMap(value) ? fixedAuthObject : text),
  [fixedAuthObject, text],
)
const plainAuthShape = {
  ...fixedAuthShape,
  passthrough: fields({ location: location.optional() }).optional(),
  aws: aws.optional(),
  azure: azure.optional(),
  gcp: gcp.optional(),
  ...denying(DENYING_AUTH),
}
const plainAuthObject = fields(plainAuthShape)
/** Without tokens of token endpoints. */
const plainAuth = oneShape<string | z.output<typeof plainAuthObject>>(
  (value) => (isMap(value) ? plainAuthObject : text),
  [plainAuthObject, text],
)

export const backendTLS = fields({
  root: text.optional(),
  hostname: text.optional(),
  insecure: z.boolean().optional(),
  insecureHost: z.boolean().optional(),
  alpn: z.array(text).min(1).optional(),
  cert: text.optional(),
  key: text.optional(),
  subjectAltNames: z.array(text).min(1).optional(),
  keyExchangeGroups: keyExchangeGroups.optional(),
}).refine((value) => (value.cert === undefined) === (value.key === undefined), {
  error: 'must have both cert and key, or neither',
})

const HTTP_VERSIONS: ReadonlyMap<string, 'HTTP1' | 'HTTP2'> = new Map([
  ['1.1', 'HTTP1'],
  ['HTTP/1.1', 'HTTP1'],
  ['2', 'HTTP2'],
  ['2.0', 'HTTP2'],
  ['HTTP/2', 'HTTP2'],
  ['HTTP/2.0', 'HTTP2'],
])
/** YAML reads `version: 2` as a number. */
const httpVersion = z.union([z.string(), z.number()]).transform((value, context) => {
  const version = HTTP_VERSIONS.get(String(value))
  if (version !== undefined) return version
  context.addIssue({ code: 'custom', message: 'must be "1.1" or "2"' })
  return z.NEVER
})
export const http = fields({ version: httpVersion.optional(), requestTimeout: duration.optional() })
export const tcp = fields({ connectTimeout: duration.optional(), keepalives: keepalive.optional() })

/** For services that other policies call: an address, or a backend or service of the file. */
export const placeShape = {
  host: address.optional(),
  backend: text.optional(),
  service: serviceReference.optional(),
}

const connectionShape = {
  requestHeaderModifier: headerModifier.optional(),
  transformations: transformation.optional(),
  backendTLS: backendTLS.optional(),
  http: http.optional(),
  tcp: tcp.optional(),
}

/** A token endpoint must not require a token of a token endpoint. */
const endpointPolicies = evaluatedAt(undefined, fields({ ...connectionShape, backendAuth: plainAuth.optional() }))
const endpointShape = {
  ...placeShape,
  target: fields(placeShape).optional(),
  policies: endpointPolicies.optional(),
  path: tokenPath.optional(),
  /** Another name of `path`. */
  tokenEndpointPath: tokenPath.optional(),
}
const hasOnePath = ({ path, tokenEndpointPath }: { readonly path?: unknown; readonly tokenEndpointPath?: unknown }) =>
  path === undefined || tokenEndpointPath === undefined
const TWO_PATHS = { error: 'must have at most one of path, tokenEndpointPath' }
const tokenEndpoint = fields({ ...endpointShape, clientAuth }).refine(hasOnePath, TWO_PATHS)
const oauthTokenExchange = fields({
  ...endpointShape,
  /** Another name of `target`. */
  tokenEndpoint: fields(placeShape).optional(),
  clientAuth: clientAuth.optional(),
  grantType: grantType.optional(),
  subjectToken: subjectToken.optional(),
  actorToken: actorToken.optional(),
  audiences: tokenList.optional(),
  scopes: tokenList.optional(),
  resources: tokenList.optional(),
  requestedTokenType: requestedTokenType.optional(),
  additionalParams: additionalParams.optional(),
  authorizationLocation: location.optional(),
  cache: tokenCache.optional(),
})
  .refine(
    (value) =>
      value.grantType !== 'jwtBearer' || (value.actorToken === undefined && value.requestedTokenType === undefined),
    { error: 'must have actorToken and requestedTokenType only with the grantType tokenExchange' },
  )
  .refine(hasOnePath, TWO_PATHS)
  .refine((value) => value.target === undefined || value.tokenEndpoint === undefined, {
    error: 'must have at most one of target, tokenEndpoint',
  })
const crossAppAccess = fields({
  identityProvider: tokenEndpoint,
  resourceAuthorizationServer: tokenEndpoint,
  audience: text,
  resources: tokenList.optional(),
  scopes: tokenList.optional(),
  subjectToken: crossAppSubject.optional(),
  cache: tokenCache.optional(),
})
const authObject = fields({
  ...plainAuthShape,
  crossAppAccess: crossAppAccess.optional(),
  oauthTokenExchange: oauthTokenExchange.optional(),
  /** Another name of `oauthTokenExchange`. */
  oauth: oauthTokenExchange.optional(),
  ...notServed(['xaa'], '; use crossAppAccess, with identityProvider and resourceAuthorizationServer'),
  ...notServed(['jwtSign'], '; use extAuthz with a service that adds the token'),
})
export const backendAuth = oneShape<string | z.output<typeof authObject>>(
  (value) => (isMap(value) ? authObject : text),
  [authObject, text],
)

const simpleShape = { ...connectionShape, backendAuth: backendAuth.optional() }
/** A proxy must not be behind another proxy: its policies have no tunnel. Its connections serve many requests. */
const proxyShape = { ...connectionShape, backendAuth: fixedAuth.optional() }
const proxyPlace = fields({ ...placeShape, policies: fields(proxyShape).optional() })
export const backendTunnel = fields({ proxy: proxyPlace })
/** Calls at all moments. */
export const simplePolicies = evaluatedAt(
  undefined,
  fields({ ...simpleShape, backendTunnel: backendTunnel.optional() }),
)

export type SimplePolicies = z.output<typeof simplePolicies>
export type OAuthTokenExchange = z.output<typeof oauthTokenExchange>
export type CrossAppAccess = z.output<typeof crossAppAccess>
export type Tunnel = z.output<typeof backendTunnel>
type ServiceAddress = Pick<z.output<typeof proxyPlace>, 'host' | 'backend' | 'service'>
export type ServiceFields = ServiceAddress & {
  readonly target?: ServiceAddress | undefined
  readonly policies?: SimplePolicies | undefined
}
