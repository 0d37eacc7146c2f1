// How a standalone file sets each policy field of the contract, or why it cannot. The builders are typed by
// these tables, so that a new field compiles only if a file can set it or the reason is here.
import type { BackendPayload, FrontendPayload, TrafficPayload } from '#api/ir/types.gen.ts'
import type { FrontendFields } from './schema/listeners.ts'
import { type BackendPolicies, DENYING_TRAFFIC, type GatewayPolicies, type RoutePolicies } from './schema/policies.ts'

interface Written<Names> {
  /** Fields of the file that become this one. */
  readonly by: readonly Names[]
  /** Also by a gateway, for requests before routing. */
  readonly atGateway?: true
}

interface NotWritten {
  readonly reason: string
}

type Coverage<Payload, Names> = { readonly [K in keyof Required<Payload>]: Written<Names> | NotWritten }

/** Policies of routes and gateways. */
export const TRAFFIC = {
  deny: { by: DENYING_TRAFFIC, atGateway: true },
  timeouts: { by: ['timeout'] },
  cors: { by: ['cors'], atGateway: true },
  jwtAuthentication: { by: ['jwtAuth', 'mcpAuthentication'], atGateway: true },
  basicAuthentication: { by: ['basicAuth'], atGateway: true },
  apiKeyAuthentication: { by: ['apiKey'], atGateway: true },
  extAuth: { by: ['extAuthz'], atGateway: true },
  authorization: { by: ['authorization'], atGateway: true },
  retry: { by: ['retry'] },
  rateLimit: { by: ['localRateLimit'] },
  rateLimitGlobal: { by: ['remoteRateLimit'] },
  buffer: { by: ['buffer'] },
  extProc: { by: ['extProc'], atGateway: true },
  transformation: { by: ['transformations'], atGateway: true },
  csrf: { by: ['csrf'] },
  requestHeaderModifier: { by: ['requestHeaderModifier'] },
  responseHeaderModifier: { by: ['responseHeaderModifier'] },
  hostRewrite: { by: ['urlRewrite'] },
  urlRewrite: { by: ['urlRewrite'] },
  requestRedirect: { by: ['requestRedirect'] },
  delay: { by: ['delay'] },
  directResponse: { by: ['directResponse'] },
  requestMirror: { by: ['requestMirror'] },
} as const satisfies Coverage<TrafficPayload, keyof RoutePolicies | keyof GatewayPolicies>

const ON_THE_ROUTE = 'a filter of references in an HTTPRoute; in a file it is set on the route'

/** Policies of backends. */
export const BACKEND = {
  /** By credentials that are not supported. */
  deny: { by: ['backendAuth'] },
  ai: { by: ['ai'] },
  cors: { reason: ON_THE_ROUTE },
  authorization: { by: ['authorization'] },
  extAuth: { by: ['extAuthz'] },
  auth: { by: ['backendAuth'] },
  tls: { by: ['backendTLS'] },
  inferenceRouting: { by: ['inferenceRouting'] },
  tcp: { by: ['tcp'] },
  http: { by: ['http'] },
  tunnel: { by: ['backendTunnel'] },
  mcpAuthentication: { reason: 'deprecated for jwtAuth with mcp, which is what mcpAuthentication of a file becomes' },
  mcpAuthorization: { by: ['mcpAuthorization'] },
  mcpGuardrails: { by: ['mcpGuardrails'] },
  health: { by: ['health'] },
  transformation: { by: ['transformations'] },
  requestHeaderModifier: { by: ['requestHeaderModifier'] },
  responseHeaderModifier: { by: ['responseHeaderModifier'] },
  requestRedirect: { by: ['requestRedirect'] },
  urlRewrite: { reason: ON_THE_ROUTE },
  requestMirror: { reason: ON_THE_ROUTE },
} as const satisfies Coverage<BackendPayload, keyof BackendPolicies>

/** Policies of connections. */
export const FRONTEND = {
  deny: { reason: 'created by the operator for policies it cannot translate; a file with such a mistake is rejected' },
  http: { by: ['http'] },
  accessLog: { by: ['accessLog', 'logging'] },
  tracing: { by: ['tracing'] },
  metrics: { by: ['metrics'] },
  networkAuthorization: { by: ['networkAuthorization'] },
  tls: { by: ['tls'] },
  tcp: { by: ['tcp'] },
  connect: { by: ['connect'] },
  proxyProtocol: { by: ['proxy', 'proxyProtocol'] },
} as const satisfies Coverage<FrontendPayload, keyof FrontendFields>

/** Members of a table that a file can set. */
export type WrittenIn<Table> = {
  [K in keyof Table]: Table[K] extends { readonly by: unknown } ? K : never
}[keyof Table]

/** Members of a table that a gateway of a file can set. */
export type WrittenAtGateway<Table> = {
  [K in keyof Table]: Table[K] extends { readonly atGateway: true } ? K : never
}[keyof Table]

/** All fields of a payload that a builder must handle; undefined: the file does not set it. */
export type Built<Payload, Names extends keyof Payload> = { readonly [K in Names]-?: Payload[K] | undefined }
