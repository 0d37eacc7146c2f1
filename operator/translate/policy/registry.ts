// Every field of every policy section and who translates it. The compiler refuses a field that is missing here.
import type { BackendPayload, FrontendPayload, TrafficPayload } from '#api/ir/types.gen.ts'
import type { ExtProcOrConditional, Frontend, ProxyProtocol, Traffic } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { BackendFull } from '#api/v1alpha1/shared.gen.ts'
import { accessLog } from './access-log.ts'
import { ai } from './ai.ts'
import { authorization } from './authorization.ts'
import { backendAuth } from './backend-auth.ts'
import { backendHttp } from './backend-http.ts'
import { backendTcp } from './backend-tcp.ts'
import { backendTls } from './backend-tls.ts'
import { backendTransformation } from './backend-transformation.ts'
import { cors } from './cors.ts'
import { csrf } from './csrf.ts'
import { directResponse } from './direct-response.ts'
import type { FieldTranslator } from './field.ts'
import { frontendHttp } from './frontend-http.ts'
import { headerModifiers } from './header-modifier.ts'
import { hostRewrite } from './host-rewrite.ts'
import { rateLimit } from './local-rate-limit.ts'
import { mcp } from './mcp.ts'
import { notYetProgrammed } from './not-yet-programmed.ts'
import { timeouts } from './timeout.ts'
import { transformation } from './transformation.ts'

type Section<Fields, P> = { readonly [K in keyof Fields]-?: FieldTranslator<NonNullable<Fields[K]>, P> }

/** `phase` says when the other fields run; it is no policy of its own. */
export const TRAFFIC = {
  apiKeyAuthentication: notYetProgrammed({ security: true, suffix: 'apikeyauth' }),
  authorization,
  basicAuthentication: notYetProgrammed({ security: true, suffix: 'basicauth' }),
  buffer: notYetProgrammed({ security: false, suffix: 'buffer' }),
  cors,
  csrf,
  delay: notYetProgrammed({ security: false, suffix: 'delay' }),
  directResponse,
  extAuth: notYetProgrammed({ security: true, suffix: 'extauth' }),
  extProc: notYetProgrammed({ security: mayNotFailOpen, suffix: 'extproc' }),
  headerModifiers,
  hostRewrite,
  jwtAuthentication: notYetProgrammed({ security: true, suffix: 'jwt' }),
  rateLimit,
  retry: notYetProgrammed({ security: false, suffix: 'retry' }),
  timeouts,
  transformation,
} satisfies Section<Omit<Traffic, 'phase'>, TrafficPayload>

export const FRONTEND = {
  accessLog,
  /** Unset or not run, CONNECT is refused with 405, whatever the mode. */
  connect: notYetProgrammed({ security: false, suffix: 'frontend-connect' }),
  http: frontendHttp,
  metrics: notYetProgrammed({ security: false, suffix: 'frontend-metrics' }),
  networkAuthorization: notYetProgrammed({ security: true, suffix: 'frontend-network-authz' }),
  /** A required header that nobody reads would leave source addresses to be believed that are not the client's. */
  proxyProtocol: notYetProgrammed<ProxyProtocol>({
    security: ({ mode }) => mode !== 'Optional',
    suffix: 'frontend-proxy',
  }),
  tcp: notYetProgrammed({ security: false, suffix: 'frontend-tcp' }),
  /** Covers TLS listeners only, and this version opens none. */
  tls: notYetProgrammed({ security: false, suffix: 'frontend-tls' }),
  tracing: notYetProgrammed({ security: false, suffix: 'frontend-tracing' }),
} satisfies Section<Frontend, FrontendPayload>

export const BACKEND = {
  ai,
  auth: backendAuth,
  extAuth: notYetProgrammed({ security: true, suffix: 'extauth' }),
  health: notYetProgrammed({ security: false, suffix: 'health' }),
  http: backendHttp,
  mcp,
  tcp: backendTcp,
  tls: backendTls,
  transformation: backendTransformation,
  /** Without the tunnel traffic would leave by a way that its owner closed. */
  tunnel: notYetProgrammed({ security: true, suffix: 'backend-tunnel' }),
} satisfies Section<BackendFull, BackendPayload>

function mayNotFailOpen({ failureMode, conditional }: ExtProcOrConditional): boolean {
  if (conditional === undefined) return failureMode !== 'FailOpen'
  return conditional.some(({ policy }) => policy.failureMode !== 'FailOpen')
}
