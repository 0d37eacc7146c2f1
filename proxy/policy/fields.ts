// One table for each section of policies, with every field of its payload: order, phases, merging, required fields,
// and the file that runs or reads the field. No code that runs a policy: order.ts has it for filters.
import type { BackendPayload, FrontendPayload, TrafficPayload } from '#api/ir/types.gen.ts'
import type {
  EffectiveBackend,
  EffectiveFrontend,
  GatheredBackend,
  GatheredFrontend,
  GatheredTraffic,
} from '../chain/effective.ts'

/** Before a route is chosen, or after. */
export type Phase = 'PreRouting' | 'PostRouting'

/** Requests of clients, or calls of services that other policies ask. */
export type BackendPhase = 'Client' | 'Service'

/** Once for all listeners of a port, or for each listener. */
export type FrontendPhase = 'Port' | 'Listener'

/** Which value is in force if several places set a field. */
export type Merge =
  /** The value of the most specific place. */
  | 'whole'
  /** Each member of the value from the most specific place that sets it. */
  | 'parts'
  /** The values of all places together. */
  | 'all'
  /** One is enough, and no place can remove it. */
  | 'any'

export interface Field<Phases extends string, Merging extends Merge = Merge> {
  readonly phases: readonly Phases[]
  readonly merge: Merging
  /** The field rejects traffic that would pass without it, so if it cannot run, all traffic is rejected. */
  readonly denyIfMissing: boolean
  /** `filter`: it is compiled to a filter in order.ts. `setting`: `file` reads it. */
  readonly run: 'filter' | 'setting'
  readonly file: string
  /** Place of its response filter among those of route, backend and gateway. */
  readonly responseRank?: number | { readonly [P in Phases]: number }
}

/** How a field may be merged; `Alone`: for fields with one value. */
type MergeOf<K, Gathered, Alone extends Merge> = K extends 'deny' ? 'any' : K extends Gathered ? 'all' : Alone

type TrafficFields = {
  readonly [K in keyof Required<TrafficPayload>]: Field<Phase, MergeOf<K, GatheredTraffic, 'whole'>>
}
type BackendFields = {
  readonly [K in keyof Required<BackendPayload>]: Field<BackendPhase, MergeOf<K, GatheredBackend, 'whole' | 'parts'>>
}
type FrontendFields = {
  readonly [K in keyof Required<FrontendPayload>]: Field<FrontendPhase, MergeOf<K, GatheredFrontend, 'whole' | 'parts'>>
}

/** Section 1.8: header modifiers, whole bodies, transformations from inside out, then the headers of the proxy. */
const RESPONSE = {
  // The picker gets the response of the model server.
  inferenceRouting: 0,
  routeHeaders: 1,
  backendHeaders: 2,
  buffer: 3,
  routeTransformation: 4,
  backendTransformation: 5,
  gatewayTransformation: 6,
  routeExtProc: 7,
  gatewayExtProc: 8,
  rateLimitHeaders: 9,
} as const

const BOTH = ['PreRouting', 'PostRouting'] as const
const ROUTED = ['PostRouting'] as const

const CLIENT = ['Client'] as const
const CALLS = ['Client', 'Service'] as const

const PORT = ['Port'] as const
const LISTENER = ['Listener'] as const
const PORT_AND_LISTENER = ['Port', 'Listener'] as const

const GUARD = { denyIfMissing: true, run: 'filter' } as const
const FILTER = { denyIfMissing: false, run: 'filter' } as const
const GUARD_SETTING = { denyIfMissing: true, run: 'setting' } as const
const SETTING = { denyIfMissing: false, run: 'setting' } as const

/**
 * Policies of requests. The order of the members is the order of the chain (data-plane supplement sections 1.3, 1.4,
 * 1.6 and 1.8).
 */
export const TRAFFIC = {
  // Before everything, including preflights: if a policy cannot be enforced, nothing is allowed.
  deny: { ...GUARD, phases: BOTH, merge: 'any', file: 'proxy/chain/deny.ts' },
  timeouts: { ...FILTER, phases: ROUTED, merge: 'whole', file: 'proxy/policy/resilience/timeouts.ts' },
  // Preflights have no credentials, so they are answered before credentials are checked.
  cors: { ...GUARD, phases: BOTH, merge: 'whole', file: 'proxy/policy/browser/cors.ts' },
  // Each of them must allow the request; authorization rules then read their results.
  jwtAuthentication: { ...GUARD, phases: BOTH, merge: 'whole', file: 'proxy/policy/auth/jwt-authentication.ts' },
  basicAuthentication: { ...GUARD, phases: BOTH, merge: 'whole', file: 'proxy/policy/auth/basic-authentication.ts' },
  apiKeyAuthentication: { ...GUARD, phases: BOTH, merge: 'whole', file: 'proxy/policy/auth/api-key-authentication.ts' },
  // After authentication, whose results it may send; before rules, which may read its response.
  extAuth: { ...GUARD, phases: BOTH, merge: 'whole', file: 'proxy/policy/external/ext-auth.ts' },
  authorization: { ...GUARD, phases: BOTH, merge: 'all', file: 'proxy/policy/auth/authorization.ts' },
  // Only marks the request: its precondition reads the original request of the client.
  retry: { ...FILTER, phases: ROUTED, merge: 'whole', file: 'proxy/policy/resilience/retry.ts' },
  // After authorization: rejected requests take no tokens from the limit.
  rateLimit: {
    ...GUARD,
    phases: ROUTED,
    merge: 'whole',
    file: 'proxy/policy/limits/rate-limit.ts',
    responseRank: RESPONSE.rateLimitHeaders,
  },
  // After the local limits: requests that they reject cost no call.
  rateLimitGlobal: {
    ...GUARD,
    phases: ROUTED,
    merge: 'whole',
    file: 'proxy/policy/limits/rate-limit-global.ts',
    responseRank: RESPONSE.rateLimitHeaders,
  },
  // Before everything that reads bodies, after everything that may reject without one.
  buffer: {
    ...FILTER,
    phases: ROUTED,
    merge: 'whole',
    file: 'proxy/policy/limits/buffer.ts',
    responseRank: RESPONSE.buffer,
  },
  // After policies that may reject without it; before transformations, which may read its results.
  extProc: {
    ...GUARD,
    phases: BOTH,
    merge: 'whole',
    file: 'proxy/policy/external/ext-proc.ts',
    responseRank: { PreRouting: RESPONSE.gatewayExtProc, PostRouting: RESPONSE.routeExtProc },
  },
  transformation: {
    ...FILTER,
    phases: BOTH,
    merge: 'whole',
    file: 'proxy/policy/rewrite/transformation.ts',
    responseRank: { PreRouting: RESPONSE.gatewayTransformation, PostRouting: RESPONSE.routeTransformation },
  },
  // Late, after transformation: docs/adr/0002-csrf-position.md.
  csrf: { ...GUARD, phases: ROUTED, merge: 'whole', file: 'proxy/policy/browser/csrf.ts' },
  requestHeaderModifier: {
    ...FILTER,
    phases: ROUTED,
    merge: 'whole',
    file: 'proxy/policy/rewrite/header-modifiers.ts',
  },
  responseHeaderModifier: {
    ...FILTER,
    phases: ROUTED,
    merge: 'whole',
    file: 'proxy/policy/rewrite/header-modifiers.ts',
    responseRank: RESPONSE.routeHeaders,
  },
  hostRewrite: { ...FILTER, phases: ROUTED, merge: 'whole', file: 'proxy/policy/rewrite/host-rewrite.ts' },
  urlRewrite: { ...FILTER, phases: ROUTED, merge: 'whole', file: 'proxy/policy/rewrite/url-rewrite.ts' },
  // After the header modifiers: a changed host is the host of the redirect.
  requestRedirect: { ...FILTER, phases: ROUTED, merge: 'whole', file: 'proxy/policy/rewrite/request-redirect.ts' },
  // Direct responses wait as well: a test of clients needs no backend.
  delay: { ...FILTER, phases: ROUTED, merge: 'whole', file: 'proxy/policy/resilience/delay.ts' },
  // Last, so that every other policy has run.
  directResponse: { ...FILTER, phases: ROUTED, merge: 'whole', file: 'proxy/policy/rewrite/direct-response.ts' },
  // Copies are sent when the backend is selected.
  requestMirror: { ...SETTING, phases: ROUTED, merge: 'whole', file: 'proxy/config/compile-route.ts' },
} as const satisfies TrafficFields

/** Policies towards a backend. Filters come first, in the order they run on each attempt. */
export const BACKEND = {
  // Its request timeout is a filter; the protocol version is a setting of connections (backend/targets.ts).
  http: { ...FILTER, phases: CALLS, merge: 'whole', file: 'proxy/policy/resilience/timeouts.ts' },
  deny: { ...GUARD, phases: CALLS, merge: 'any', file: 'proxy/chain/deny.ts' },
  // Preflights have no credentials, and no endpoint is picked for them.
  cors: { ...GUARD, phases: CALLS, merge: 'whole', file: 'proxy/policy/browser/cors.ts' },
  // Endpoints are picked only for requests of clients.
  inferenceRouting: {
    ...FILTER,
    phases: CLIENT,
    merge: 'whole',
    file: 'proxy/policy/external/inference-routing.ts',
    responseRank: RESPONSE.inferenceRouting,
  },
  // Before the service: requests that the rules reject cost no call.
  authorization: { ...GUARD, phases: CLIENT, merge: 'all', file: 'proxy/policy/auth/authorization.ts' },
  // Before credentials: the service decides about the client's request, and must not get them. A service that
  // authorizes calls to itself would never be reached.
  extAuth: { ...GUARD, phases: CLIENT, merge: 'whole', file: 'proxy/policy/external/ext-auth.ts' },
  // Before transformations, which may read the credential.
  auth: { ...GUARD, phases: CALLS, merge: 'whole', file: 'proxy/backend/auth.ts' },
  transformation: {
    ...FILTER,
    phases: CALLS,
    merge: 'whole',
    file: 'proxy/policy/rewrite/transformation.ts',
    responseRank: RESPONSE.backendTransformation,
  },
  requestHeaderModifier: { ...FILTER, phases: CALLS, merge: 'whole', file: 'proxy/policy/rewrite/header-modifiers.ts' },
  responseHeaderModifier: {
    ...FILTER,
    phases: CALLS,
    merge: 'whole',
    file: 'proxy/policy/rewrite/header-modifiers.ts',
    responseRank: RESPONSE.backendHeaders,
  },
  urlRewrite: { ...FILTER, phases: CALLS, merge: 'whole', file: 'proxy/policy/rewrite/url-rewrite.ts' },
  requestRedirect: { ...FILTER, phases: CALLS, merge: 'whole', file: 'proxy/policy/rewrite/request-redirect.ts' },
  ai: { ...GUARD_SETTING, phases: CLIENT, merge: 'parts', file: 'proxy/llm/backend.ts' },
  mcpAuthentication: { ...GUARD_SETTING, phases: CLIENT, merge: 'whole', file: 'proxy/mcp/backend.ts' },
  // Before authorization, which may read its metadata.
  mcpGuardrails: { ...GUARD_SETTING, phases: CLIENT, merge: 'whole', file: 'proxy/mcp/backend.ts' },
  mcpAuthorization: { ...GUARD_SETTING, phases: CLIENT, merge: 'all', file: 'proxy/mcp/backend.ts' },
  tls: { ...GUARD_SETTING, phases: CALLS, merge: 'whole', file: 'proxy/backend/targets.ts' },
  tcp: { ...SETTING, phases: CALLS, merge: 'whole', file: 'proxy/backend/targets.ts' },
  tunnel: { ...GUARD_SETTING, phases: CALLS, merge: 'whole', file: 'proxy/backend/targets.ts' },
  health: { ...SETTING, phases: CALLS, merge: 'whole', file: 'proxy/config/compile-route.ts' },
  requestMirror: { ...SETTING, phases: CLIENT, merge: 'whole', file: 'proxy/config/compile-route.ts' },
} as const satisfies BackendFields

/** Policies of connections and their telemetry. The order of the members is the order in which they apply. */
export const FRONTEND = {
  proxyProtocol: { ...GUARD_SETTING, phases: PORT, merge: 'whole', file: 'proxy/config/compile.ts' },
  networkAuthorization: { ...GUARD_SETTING, phases: PORT_AND_LISTENER, merge: 'all', file: 'proxy/config/compile.ts' },
  tcp: { ...SETTING, phases: PORT, merge: 'whole', file: 'proxy/config/compile.ts' },
  // The handshake timeout belongs to the port: the listener is not known before its end.
  tls: { ...GUARD_SETTING, phases: PORT_AND_LISTENER, merge: 'whole', file: 'proxy/config/compile-tls.ts' },
  http: { ...SETTING, phases: PORT, merge: 'whole', file: 'proxy/config/compile.ts' },
  // Rejects with the other policies before routing.
  deny: { ...GUARD_SETTING, phases: LISTENER, merge: 'any', file: 'proxy/config/listener-plans.ts' },
  connect: { ...SETTING, phases: PORT_AND_LISTENER, merge: 'whole', file: 'proxy/config/compile.ts' },
  accessLog: { ...SETTING, phases: LISTENER, merge: 'whole', file: 'proxy/config/compile-telemetry.ts' },
  tracing: { ...SETTING, phases: LISTENER, merge: 'whole', file: 'proxy/config/compile-telemetry.ts' },
  metrics: { ...SETTING, phases: LISTENER, merge: 'whole', file: 'proxy/config/compile-telemetry.ts' },
} as const satisfies FrontendFields

/** Members of a table that are compiled to filters. */
export type FilterOf<Table extends { readonly [K in keyof Table]: { readonly run: string } }> = {
  [K in keyof Table]: Table[K]['run'] extends 'filter' ? K : never
}[keyof Table]

/** Members of a table that have a phase. */
export type InPhase<Table extends { readonly [K in keyof Table]: { readonly phases: readonly string[] } }, P> = {
  [K in keyof Table]: P extends Table[K]['phases'][number] ? K : never
}[keyof Table]

/** The settings of a port, from the policies of its first listener. */
export type PortFrontend = Pick<EffectiveFrontend, InPhase<typeof FRONTEND, 'Port'>>
export type ListenerFrontend = Pick<EffectiveFrontend, InPhase<typeof FRONTEND, 'Listener'>>

export function runsInPhase(field: keyof TrafficPayload, phase: Phase): boolean {
  const phases: readonly Phase[] = TRAFFIC[field].phases
  return phases.includes(phase)
}

/** Without the policies that are about requests of clients. */
export function forServiceCall(policies: EffectiveBackend): EffectiveBackend {
  const kept: EffectiveBackend = { mcpAuthorization: [] }
  return Object.assign(kept, Object.fromEntries(Object.entries(policies).filter(([field]) => SERVICE.has(field))))
}

const SERVICE: ReadonlySet<string> = new Set(
  Object.entries<{ readonly phases: readonly BackendPhase[] }>(BACKEND).flatMap(([field, { phases }]) =>
    phases.includes('Service') ? [field] : [],
  ),
)
