// Every field of every policy section and who translates it. The compiler reports a field that is missing here.
import type { BackendPayload, FrontendPayload, TrafficPayload } from '#api/ir/types.gen.ts'
import type { Frontend, Traffic } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { BackendFull } from '#api/v1alpha1/shared.gen.ts'
import { accessLog } from './access-log.ts'
import { ai } from './ai.ts'
import { apiKeyAuthentication } from './api-key-authentication.ts'
import { authorization } from './authorization.ts'
import { backendAuth } from './backend-auth.ts'
import { backendHttp } from './backend-http.ts'
import { backendTcp } from './backend-tcp.ts'
import { backendTls } from './backend-tls.ts'
import { backendTunnel } from './backend-tunnel.ts'
import { backendTransformation } from './backend-transformation.ts'
import { buffer } from './buffer.ts'
import { basicAuthentication } from './basic-authentication.ts'
import { cors } from './cors.ts'
import { csrf } from './csrf.ts'
import { delay } from './delay.ts'
import { directResponse } from './direct-response.ts'
import { backendExtAuth, extAuth } from './ext-auth.ts'
import { extProc } from './ext-proc.ts'
import type { FieldTranslator } from './field.ts'
import { connect } from './frontend-connect.ts'
import { frontendHttp } from './frontend-http.ts'
import { proxyProtocol } from './frontend-proxy-protocol.ts'
import { frontendTcp } from './frontend-tcp.ts'
import { frontendTls } from './frontend-tls.ts'
import { headerModifiers } from './header-modifiers.ts'
import { health } from './health.ts'
import { hostRewrite } from './host-rewrite.ts'
import { jwtAuthentication } from './jwt-authentication.ts'
import { rateLimit } from './rate-limit.ts'
import { mcp } from './mcp.ts'
import { metrics } from './metrics.ts'
import { networkAuthorization } from './network-authorization.ts'
import { retry } from './retry.ts'
import { timeouts } from './timeouts.ts'
import { tracing } from './tracing.ts'
import { transformation } from './transformation.ts'

type Section<Fields, P> = { readonly [K in keyof Fields]-?: FieldTranslator<NonNullable<Fields[K]>, P> }

/** `phase` sets when the other fields run; it is not a policy itself. */
export const TRAFFIC = {
  apiKeyAuthentication,
  authorization,
  basicAuthentication,
  buffer,
  cors,
  csrf,
  delay,
  directResponse,
  extAuth,
  extProc,
  headerModifiers,
  hostRewrite,
  jwtAuthentication,
  rateLimit,
  retry,
  timeouts,
  transformation,
} satisfies Section<Omit<Traffic, 'phase'>, TrafficPayload>

export const FRONTEND = {
  accessLog,
  connect,
  http: frontendHttp,
  metrics,
  networkAuthorization,
  proxyProtocol,
  tcp: frontendTcp,
  tls: frontendTls,
  tracing,
} satisfies Section<Frontend, FrontendPayload>

export const BACKEND = {
  ai,
  auth: backendAuth,
  extAuth: backendExtAuth,
  health,
  http: backendHttp,
  mcp,
  tcp: backendTcp,
  tls: backendTls,
  transformation: backendTransformation,
  tunnel: backendTunnel,
} satisfies Section<BackendFull, BackendPayload>
