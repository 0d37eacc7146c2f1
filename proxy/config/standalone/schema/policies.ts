// Policies of a standalone file: the policies of each place and the fields of each policy (resources supplement 4.10).
import * as z from 'zod'
import { ROUTE_TYPES_IN_FILES } from '#api/llm/formats.ts'
import { apiKey, basicAuth, jwtAuth, mcpAuthentication } from './authentication.ts'
import {
  extAuthz,
  extAuthzOrConditional,
  extProc,
  inferenceRouting,
  mcpGuardrails,
  remoteRateLimit,
} from './external.ts'
import { conditionalList, orConditional } from './conditional.ts'
import { evaluatedAt } from './moment.ts'
import { denying, fields, isMap, notServed, oneShape, ONE_FIELD } from './object.ts'
import { promptGuard } from './prompt-guard.ts'
import { buffer, delay, health, requestMirror, retry } from './resilience.ts'
import {
  backendAuth,
  backendTLS,
  backendTunnel,
  headerModifier,
  http,
  type location,
  tcp,
  type transform,
  transformation,
  transformationShape,
} from './upstream.ts'
import { cel, count, duration, headerName, mapOf, port, text } from './values.ts'

/** Security policies that this version does not support: a route with one of them rejects its requests. */
export const DENYING_TRAFFIC = ['oidc'] as const
export const DENYING_GATEWAY = ['oidc'] as const
/** As in a GwPolicy. */
const ORIGIN = /^(\*|https?:\/\/(\*|(\*\.)?[a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?)$/
const origin = z.string().regex(ORIGIN, {
  error: 'must be *, or an origin such as https://shop.example or https://*.shop.example, without a path',
})
const cors = fields({
  allowOrigins: z.array(origin).optional(),
  allowMethods: z.array(text).optional(),
  allowHeaders: z.array(text).optional(),
  exposeHeaders: z.array(text).optional(),
  allowCredentials: z.boolean().optional(),
  maxAge: duration.optional(),
})

const csrf = fields({ additionalOrigins: z.array(text).optional() })

const ruleByAction = fields({ allow: cel.optional(), deny: cel.optional(), require: cel.optional() })
  .refine((rule) => Object.keys(rule).length === 1, { error: 'must have exactly one of allow, deny, require' })
  .meta(ONE_FIELD)
const rule = oneShape<z.output<typeof ruleByAction> | string>(
  (value) => (isMap(value) ? ruleByAction : cel),
  [ruleByAction, cel],
)
export const rules = fields({ rules: z.array(rule).min(1) })

const limitShape = {
  maxTokens: count.optional(),
  tokensPerFill: count.optional(),
  fillInterval: duration.refine((ms) => ms > 0, { error: 'must be longer than 0s' }),
  type: z.enum(['requests', 'tokens']).optional(),
  ...notServed(['limit', 'unit'], '; use maxTokens, tokensPerFill and fillInterval'),
}
const limit = fields(limitShape)
/** The plain form is a list; here each entry is one limit. */
const conditionalLimit = conditionalList(limitShape)
const limits = z.array(limit).min(1)
export const localRateLimit = oneShape<z.output<typeof limit>[] | z.output<typeof conditionalLimit>>(
  (value) => (isMap(value) && 'conditional' in value ? conditionalLimit : limits),
  [conditionalLimit, limits],
)

/** `full` is `host:port` or a host. */
const authorityParts = fields({ full: text.optional(), host: text.optional(), port: port.optional() })
  .refine((value) => Object.keys(value).length === 1, { error: 'must have exactly one of full, host, port' })
  .meta(ONE_FIELD)
const authorityWord = z.enum(['auto', 'none'])
const authority = oneShape<z.output<typeof authorityParts> | 'auto' | 'none'>(
  (value) => (isMap(value) ? authorityParts : authorityWord),
  [authorityParts, authorityWord],
)
const pathParts = fields({ full: text.optional(), prefix: text.optional() })
  .refine((value) => Object.keys(value).length === 1, { error: 'must have exactly one of full, prefix' })
  .meta(ONE_FIELD)

const requestRedirect = fields({
  scheme: z.enum(['http', 'https']).optional(),
  authority: authority.optional(),
  path: pathParts.optional(),
  status: z.literal([301, 302, 303, 307, 308]).optional(),
})

const urlRewrite = fields({ authority: authority.optional(), path: pathParts.optional() })

const transformations = orConditional(transformationShape)

const directResponseShape = {
  status: z.int().min(200).max(599),
  body: z.string().max(4096).optional(),
  bodyExpression: cel.optional(),
  headers: z.record(headerName, cel).optional(),
}
const plainDirectResponse = fields(directResponseShape)
const directResponse = orConditional(directResponseShape)

const timeout = fields({ requestTimeout: duration.optional(), backendRequestTimeout: duration.optional() })

const promptMessages = z.array(fields({ role: text, content: text })).min(1)
export const promptCaching = fields({
  cacheSystem: z.boolean().optional(),
  cacheMessages: z.boolean().optional(),
  cacheTools: z.boolean().optional(),
  minTokens: z.int().min(0).optional(),
  cacheMessageOffset: z.int().min(0).optional(),
})
const ai = fields({
  defaults: mapOf(z.json()).optional(),
  overrides: mapOf(z.json()).optional(),
  transformations: evaluatedAt('model', mapOf(cel)).optional(),
  prompts: fields({ prepend: promptMessages.optional(), append: promptMessages.optional() }).optional(),
  modelAliases: mapOf(text).optional(),
  routes: mapOf(z.enum(ROUTE_TYPES_IN_FILES)).optional(),
  promptGuard: promptGuard.optional(),
  promptCaching: promptCaching.optional(),
  ...notServed(['models'], '; use llm.models, which GET /v1/models lists'),
})

export const gatewayPolicyShape = {
  authorization: rules.optional(),
  cors: cors.optional(),
  transformations: transformations.optional(),
  jwtAuth: jwtAuth.optional(),
  basicAuth: basicAuth.optional(),
  apiKey: apiKey.optional(),
  extAuthz: extAuthzOrConditional.optional(),
  extProc: extProc.optional(),
  ...denying(DENYING_GATEWAY),
}
export const gatewayPolicies = evaluatedAt('routing', fields(gatewayPolicyShape))

/** For a place that sets the moment of evaluation. */
export const policies = fields({
  mcpAuthentication: mcpAuthentication.optional(),
  requestHeaderModifier: headerModifier.optional(),
  responseHeaderModifier: headerModifier.optional(),
  requestRedirect: requestRedirect.optional(),
  urlRewrite: urlRewrite.optional(),
  directResponse: directResponse.optional(),
  cors: cors.optional(),
  mcpAuthorization: evaluatedAt('backend', rules).optional(),
  mcpGuardrails: mcpGuardrails.optional(),
  authorization: rules.optional(),
  ai: ai.optional(),
  backendTLS: backendTLS.optional(),
  backendAuth: backendAuth.optional(),
  localRateLimit: localRateLimit.optional(),
  transformations: transformations.optional(),
  csrf: csrf.optional(),
  timeout: timeout.optional(),
  retry: retry.optional(),
  delay: delay.optional(),
  buffer: buffer.optional(),
  requestMirror: requestMirror.optional(),
  jwtAuth: jwtAuth.optional(),
  basicAuth: basicAuth.optional(),
  apiKey: apiKey.optional(),
  extAuthz: extAuthzOrConditional.optional(),
  extProc: extProc.optional(),
  remoteRateLimit: remoteRateLimit.optional(),
  backendTunnel: backendTunnel.optional(),
  a2a: fields({}).optional(),
  ...denying(DENYING_TRAFFIC),
  ...notServed(['mcpRemoteRateLimit'], '; use remoteRateLimit, which counts HTTP requests'),
  ...notServed(['oauth2'], '; use extAuthz with a service that signs users in'),
})

export const routePolicies = evaluatedAt('request', policies)

/** Of the web UI on a gateway (resources supplement 4.9). */
export const uiPolicies = evaluatedAt(
  'request',
  fields({
    cors: cors.optional(),
    jwtAuth: jwtAuth.optional(),
    authorization: rules.optional(),
    extAuthz: extAuthzOrConditional.optional(),
    basicAuth: basicAuth.optional(),
    apiKey: apiKey.optional(),
    csrf: csrf.optional(),
    ...denying(DENYING_TRAFFIC),
  }),
)

export const backendPolicies = evaluatedAt(
  'backend',
  fields({
    requestHeaderModifier: headerModifier.optional(),
    responseHeaderModifier: headerModifier.optional(),
    requestRedirect: requestRedirect.optional(),
    transformations: transformation.optional(),
    backendTLS: backendTLS.optional(),
    backendAuth: backendAuth.optional(),
    http: http.optional(),
    tcp: tcp.optional(),
    health: health.optional(),
    mcpAuthorization: rules.optional(),
    mcpGuardrails: mcpGuardrails.optional(),
    ai: ai.optional(),
    extAuthz: extAuthz.optional(),
    backendTunnel: backendTunnel.optional(),
    a2a: fields({}).optional(),
    inferenceRouting: inferenceRouting.optional(),
    authorization: rules.optional(),
  }),
)

export type GatewayPolicies = z.output<typeof gatewayPolicies>
export type RoutePolicies = z.output<typeof routePolicies>
export type BackendPolicies = z.output<typeof backendPolicies>
export type Cors = z.output<typeof cors>
export type Rules = z.output<typeof rules>
export type Limit = z.output<typeof limit>
export type LocalRateLimit = z.output<typeof localRateLimit>
export type HeaderModifier = z.output<typeof headerModifier>
export type RequestRedirect = z.output<typeof requestRedirect>
export type UrlRewrite = z.output<typeof urlRewrite>
export type Transformations = z.output<typeof transformations>
export type Transform = z.output<typeof transform>
export type DirectResponse = z.output<typeof directResponse>
export type PlainDirectResponse = z.output<typeof plainDirectResponse>
export type Location = z.output<typeof location>
export type BackendAuth = z.output<typeof backendAuth>
export type BackendTLS = z.output<typeof backendTLS>
export type AI = z.output<typeof ai>
