// Compiles effective policies to chains of filters, in the order of the tables in fields.ts. A field that is a filter
// there does not compile until it has an entry here.
import type { EffectiveBackend, EffectiveTraffic } from '../chain/effective.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { CompiledChain, CompiledPolicy, FetchedCredential, NamedFilter, ResponseFilter } from '../chain/filter.ts'
import { compileApiKeyAuthentication } from './auth/api-key-authentication.ts'
import { compileAuthorization } from './auth/authorization.ts'
import { compileBasicAuthentication } from './auth/basic-authentication.ts'
import { compileBuffer } from './limits/buffer.ts'
import { compileCors } from './browser/cors.ts'
import { compileCsrf } from './browser/csrf.ts'
import { compileBackendAuth } from '../backend/auth.ts'
import { compileDelay } from './resilience/delay.ts'
import { compileDeny } from '../chain/deny.ts'
import { compileDirectResponse } from './rewrite/direct-response.ts'
import type { ChainEnvironment } from '../chain/environment.ts'
import { BACKEND, type BackendPhase, type Field, type FilterOf, type Phase, runsInPhase, TRAFFIC } from './fields.ts'
import { compileRequestHeaderModifier, compileResponseHeaderModifier } from './rewrite/header-modifiers.ts'
import { compileHostRewrite } from './rewrite/host-rewrite.ts'
import { compileJwtAuthentication } from './auth/jwt-authentication.ts'
import { compileRateLimit } from './limits/rate-limit.ts'
import { compileRequestRedirect } from './rewrite/request-redirect.ts'
import { compileRetry } from './resilience/retry.ts'
import { compileBackendTimeout, compileTimeouts } from './resilience/timeouts.ts'
import { compileTransformation } from './rewrite/transformation.ts'
import { SERVICE_POLICIES } from './service-policies.ts'
import { compileUrlRewrite } from './rewrite/url-rewrite.ts'

/** A guard always compiles to a filter: if it cannot run, it rejects. */
type Compiled<Guards> = Guards extends true ? CompiledPolicy : CompiledPolicy | undefined

/** Accumulated values have at least one element. */
type Present<V> = V extends readonly (infer T)[] ? readonly [T, ...T[]] : NonNullable<V>

type TrafficFilter = FilterOf<typeof TRAFFIC>
type BackendFilter = FilterOf<typeof BACKEND>

type TrafficCompiler<K extends keyof typeof TRAFFIC> = (
  effective: Present<EffectiveTraffic[K]>,
  environment: ChainEnvironment,
) => Compiled<(typeof TRAFFIC)[K]['denyIfMissing']>

type BackendCompiler<K extends keyof typeof BACKEND> = (
  effective: Present<EffectiveBackend[K]>,
  environment: ChainEnvironment,
) => Compiled<(typeof BACKEND)[K]['denyIfMissing']>

const TRAFFIC_COMPILERS: { readonly [K in TrafficFilter]: TrafficCompiler<K> } = {
  deny: ([{ value }]) => compileDeny(value),
  timeouts: ({ value }) => compileTimeouts(value),
  cors: ({ value }) => compileCors(value),
  jwtAuthentication: ({ value }, environment) => compileJwtAuthentication(value, environment),
  basicAuthentication: ({ value }, environment) => compileBasicAuthentication(value, environment),
  apiKeyAuthentication: ({ value }, environment) => compileApiKeyAuthentication(value, environment),
  extAuth: ({ value }, environment) => SERVICE_POLICIES.get().compileExtAuth(value, environment),
  authorization: (rules, environment) =>
    compileAuthorization(
      rules.map(({ value }) => value),
      environment,
    ),
  retry: ({ value }, environment) => compileRetry(value, environment),
  rateLimit: ({ value, source }, environment) => compileRateLimit(value, { ...environment, policyKey: source }),
  rateLimitGlobal: ({ value, source }, environment) =>
    SERVICE_POLICIES.get().compileRateLimitGlobal(value, { ...environment, policyKey: source }),
  buffer: ({ value }) => compileBuffer(value),
  extProc: ({ value }, environment) => SERVICE_POLICIES.get().compileExtProc(value, environment),
  transformation: ({ value }, environment) => compileTransformation(value, environment),
  csrf: ({ value }) => compileCsrf(value),
  requestHeaderModifier: ({ value }) => compileRequestHeaderModifier(value),
  responseHeaderModifier: ({ value }) => compileResponseHeaderModifier(value),
  hostRewrite: ({ value }) => compileHostRewrite(value),
  urlRewrite: ({ value }) => compileUrlRewrite(value),
  requestRedirect: ({ value }, environment) => compileRequestRedirect(value, environment),
  delay: ({ value }, environment) => compileDelay(value, environment),
  directResponse: ({ value }, environment) => compileDirectResponse(value, environment),
}

const BACKEND_COMPILERS: { readonly [K in BackendFilter]: BackendCompiler<K> } = {
  http: ({ requestTimeoutMs }) =>
    requestTimeoutMs === undefined ? undefined : compileBackendTimeout(requestTimeoutMs),
  deny: (value) => compileDeny(value),
  cors: (value) => compileCors(value),
  inferenceRouting: (value, environment) => SERVICE_POLICIES.get().compileInferenceRouting(value, environment),
  authorization: (rules, environment) => compileAuthorization(rules.flat(), environment),
  extAuth: (value, environment) => SERVICE_POLICIES.get().compilePlainExtAuth(value, environment),
  auth: (value, environment) => compileBackendAuth(value, environment),
  transformation: (value, environment) => compileTransformation(value, environment),
  requestHeaderModifier: (value) => compileRequestHeaderModifier(value),
  responseHeaderModifier: (value) => compileResponseHeaderModifier(value),
  urlRewrite: (value) => compileUrlRewrite(value),
  requestRedirect: (value, environment) => compileRequestRedirect(value, environment),
}

/** Names in the order in which they run, for documentation and traces. */
export const POLICY_ORDER: readonly string[] = Object.keys(TRAFFIC)

// Members of an object literal keep their order; keyof loses nothing here, because the literals have exactly these.
const TRAFFIC_ORDER = Object.keys(TRAFFIC) as (keyof typeof TRAFFIC)[]
const BACKEND_FILTERS = (Object.keys(BACKEND) as (keyof typeof BACKEND)[]).filter(
  (field): field is BackendFilter => BACKEND[field].run === 'filter',
)

export function compileChain(effective: EffectiveTraffic, phase: Phase, environment: ChainEnvironment): CompiledChain {
  const builder = chainBuilder(effective)
  for (const field of TRAFFIC_ORDER) {
    const policy = compileTraffic(field, effective[field], phase, environment)
    if (policy !== undefined) builder.add(field, policy, rankIn<Phase>(TRAFFIC[field], phase))
  }
  return builder.chain()
}

/** Filters of a backend. They run on each attempt. */
export function compileBackendChain(effective: EffectiveBackend, environment: ChainEnvironment): CompiledChain {
  const builder = chainBuilder(effective)
  for (const field of BACKEND_FILTERS) {
    const policy = compileBackend(field, effective[field], environment)
    if (policy !== undefined) builder.add(field, policy, rankIn<BackendPhase>(BACKEND[field], 'Client'))
  }
  return builder.chain()
}

/** Response filters of all chains of an exchange, in their common order. */
export function mergeResponseFilters(chains: readonly CompiledChain[]): readonly ResponseFilter[] {
  return chains.flatMap(({ response }) => response).sort((a, b) => a.rank - b.rank)
}

/** Admission rejects a field that the phase does not have; if one is present nevertheless, requests are rejected. */
function compileTraffic<K extends keyof typeof TRAFFIC>(
  field: K,
  value: EffectiveTraffic[K],
  phase: Phase,
  environment: ChainEnvironment,
): CompiledPolicy | undefined {
  if (!isPresent(value)) return undefined
  if (!runsInPhase(field, phase)) {
    return compileDeny({ field: `traffic.${field}`, message: `cannot run in phase ${phase}` })
  }
  // A field that is not a filter has no member here.
  const compilers: { readonly [F in keyof typeof TRAFFIC]?: TrafficCompiler<F> } = TRAFFIC_COMPILERS
  return compilers[field]?.(value, environment)
}

function compileBackend<K extends BackendFilter>(
  field: K,
  value: EffectiveBackend[K],
  environment: ChainEnvironment,
): CompiledPolicy | undefined {
  return isPresent(value) ? BACKEND_COMPILERS[field](value, environment) : undefined
}

function isPresent<V>(value: V): value is V & Present<V> {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}

function rankIn<P extends string>({ responseRank = 0 }: Field<P>, phase: P): number {
  return typeof responseRank === 'number' ? responseRank : responseRank[phase]
}

interface ChainBuilder {
  add(name: string, policy: CompiledPolicy, responseRank?: number): void
  chain(): CompiledChain
}

function chainBuilder(effective: object): ChainBuilder {
  const request: NamedFilter[] = []
  const response: ResponseFilter[] = []
  const selected: ((exchange: Exchange) => void)[] = []
  const finished: ((exchange: Exchange) => void)[] = []
  let readsRequestBody = false
  let readsResponseBody = false
  let fetched: FetchedCredential | undefined
  return {
    add(name, policy, responseRank = 0) {
      if (policy.request !== undefined) request.push({ name, filter: policy.request })
      if (policy.response !== undefined) response.push({ name, filter: policy.response, rank: responseRank })
      if (policy.selected !== undefined) selected.push(policy.selected)
      if (policy.finished !== undefined) finished.push(policy.finished)
      readsRequestBody ||= policy.readsRequestBody === true
      readsResponseBody ||= policy.readsResponseBody === true
      fetched ??= policy.fetched
    },
    chain: () => ({
      request,
      response: response.sort((a, b) => a.rank - b.rank),
      selected,
      finished,
      readsRequestBody,
      readsResponseBody,
      fetched,
      effective,
    }),
  }
}
