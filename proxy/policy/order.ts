// The one list of policies in the order they run (data-plane supplement sections 1.3, 1.4, 1.6 and 1.8). A new field of
// the contract does not compile until it has its place here.
import type { TrafficPayload } from '#api/ir/types.gen.ts'
import type { EffectiveBackendPolicies } from '../backend/handler.ts'
import type { Exchange } from '../exchange.ts'
import type { NamedFilter } from '../plan.ts'
import { compileAuthorization } from './authorization.ts'
import { compileCors } from './cors.ts'
import { compileCsrf } from './csrf.ts'
import { compileDeny } from './deny.ts'
import { compileDirectResponse } from './direct-response.ts'
import type { ChainEnvironment } from './environment.ts'
import type { CompiledPolicy, Filter } from './filter.ts'
import { compileRequestHeaderModifier, compileResponseHeaderModifier } from './header-modifier.ts'
import { compileHostRewrite } from './host-rewrite.ts'
import { compileLocalRateLimit } from './local-rate-limit.ts'
import type { EffectiveTraffic } from './merge.ts'
import { compileRequestRedirect } from './request-redirect.ts'
import { compileTimeout } from './timeout.ts'
import { compileTransformation } from './transformation.ts'
import { compileUrlRewrite } from './url-rewrite.ts'

export type Phase = 'PreRouting' | 'PostRouting'

/** A response filter and its place among those of route, backend and gateway. */
export interface ResponseFilter extends NamedFilter {
  readonly rank: number
}

export interface CompiledChain {
  readonly request: readonly NamedFilter[]
  readonly response: readonly ResponseFilter[]
  /** Run once when the exchange is over. */
  readonly finished: readonly ((exchange: Exchange) => void)[]
  readonly readsRequestBody: boolean
  readonly readsResponseBody: boolean
}

/** Section 1.8: header modifiers, then transformations from the inside out, then what the proxy itself adds. */
const RESPONSE_RANK = {
  routeHeaders: 1,
  backendHeaders: 2,
  routeTransformation: 3,
  backendTransformation: 4,
  gatewayTransformation: 5,
  rateLimitHeaders: 6,
} as const

interface FieldPlan<K extends keyof TrafficPayload> {
  readonly isPreRouting: boolean
  readonly responseRank?: { readonly [P in Phase]: number }
  /** undefined: nothing to run. */
  readonly compile: (
    effective: NonNullable<EffectiveTraffic[K]>,
    environment: ChainEnvironment,
  ) => CompiledPolicy | undefined
}

/** The order of the members is the order of the chain. */
const FIELDS: { readonly [K in keyof Required<TrafficPayload>]: FieldPlan<K> } = {
  // Before everything, preflights too: what cannot be enforced lets nothing through.
  deny: {
    isPreRouting: true,
    compile: ([first]) => (first === undefined ? undefined : compileDeny(first.value)),
  },
  timeout: { isPreRouting: false, compile: ({ value }) => compileTimeout(value) },
  // Preflights carry no credentials, so they are answered before anything asks for some.
  cors: { isPreRouting: true, compile: ({ value }) => compileCors(value) },
  authorization: {
    isPreRouting: true,
    compile: (rules, environment) =>
      rules.length === 0
        ? undefined
        : compileAuthorization(
            rules.map(({ value }) => value),
            environment,
          ),
  },
  // After authorization: what is refused costs nobody a token.
  localRateLimit: {
    isPreRouting: false,
    responseRank: both(RESPONSE_RANK.rateLimitHeaders),
    compile: ({ value, source }, { rateLimits }) => compileLocalRateLimit(value, { rateLimits, policyKey: source }),
  },
  transformation: {
    isPreRouting: true,
    responseRank: {
      PreRouting: RESPONSE_RANK.gatewayTransformation,
      PostRouting: RESPONSE_RANK.routeTransformation,
    },
    compile: ({ value }, environment) => compileTransformation(value, environment),
  },
  // Late, after transformation: docs/adr/0002-csrf-position.md.
  csrf: { isPreRouting: false, compile: ({ value }) => compileCsrf(value) },
  requestHeaderModifier: { isPreRouting: false, compile: ({ value }) => compileRequestHeaderModifier(value) },
  responseHeaderModifier: {
    isPreRouting: false,
    responseRank: both(RESPONSE_RANK.routeHeaders),
    compile: ({ value }) => compileResponseHeaderModifier(value),
  },
  hostRewrite: { isPreRouting: false, compile: ({ value }) => compileHostRewrite(value) },
  urlRewrite: { isPreRouting: false, compile: ({ value }) => compileUrlRewrite(value) },
  // After the header modifiers: a changed host is the host of the redirect.
  requestRedirect: {
    isPreRouting: false,
    compile: ({ value }, environment) => compileRequestRedirect(value, environment),
  },
  // Last, so that every other policy has had its say about the request.
  directResponse: {
    isPreRouting: false,
    compile: ({ value }, environment) => compileDirectResponse(value, environment),
  },
}

// Members of an object literal keep their order; keyof loses nothing here, because the literal has exactly these.
const REQUEST_ORDER = Object.keys(FIELDS) as (keyof TrafficPayload)[]

/** Names in the order they run, for documentation and traces. */
export const POLICY_ORDER: readonly string[] = REQUEST_ORDER

export function compileChain(effective: EffectiveTraffic, phase: Phase, environment: ChainEnvironment): CompiledChain {
  const builder = chainBuilder()
  for (const field of REQUEST_ORDER) {
    const policy = compileField(field, effective[field], phase, environment)
    if (policy !== undefined) builder.add(field, policy, FIELDS[field].responseRank?.[phase] ?? 0)
  }
  return builder.chain()
}

/**
 * Filters of a backend: credentials (`auth`) before transformations, which may then look at them, redirects last. They
 * run on each attempt.
 */
export function compileBackendChain(
  effective: EffectiveBackendPolicies,
  environment: ChainEnvironment,
  auth: Filter | undefined,
): CompiledChain {
  const { deny, transformation, requestHeaderModifier, responseHeaderModifier, requestRedirect, urlRewrite } = effective
  const builder = chainBuilder()
  if (deny !== undefined) builder.add('deny', compileDeny(deny))
  if (auth !== undefined) builder.add('auth', { request: auth })
  if (transformation !== undefined) {
    const policy = compileTransformation(transformation, environment)
    builder.add('transformation', policy, RESPONSE_RANK.backendTransformation)
  }
  if (requestHeaderModifier !== undefined) {
    builder.add('requestHeaderModifier', compileRequestHeaderModifier(requestHeaderModifier))
  }
  if (responseHeaderModifier !== undefined) {
    const policy = compileResponseHeaderModifier(responseHeaderModifier)
    builder.add('responseHeaderModifier', policy, RESPONSE_RANK.backendHeaders)
  }
  if (urlRewrite !== undefined) builder.add('urlRewrite', compileUrlRewrite(urlRewrite))
  if (requestRedirect !== undefined) {
    builder.add('requestRedirect', compileRequestRedirect(requestRedirect, environment))
  }
  return builder.chain()
}

/** Response filters of all chains that an exchange went through, in their common order. */
export function mergeResponseFilters(chains: readonly CompiledChain[]): readonly ResponseFilter[] {
  return chains.flatMap(({ response }) => response).sort((a, b) => a.rank - b.rank)
}

/** A field that the phase does not have is refused at admission; should one come all the same, nothing passes it by. */
function compileField<K extends keyof TrafficPayload>(
  field: K,
  value: EffectiveTraffic[K],
  phase: Phase,
  environment: ChainEnvironment,
): CompiledPolicy | undefined {
  if (value === undefined || value === null) return undefined
  if (phase === 'PreRouting' && !FIELDS[field].isPreRouting) {
    return compileDeny({ field: `traffic.${field}`, message: 'cannot run in phase PreRouting' })
  }
  return FIELDS[field].compile(value, environment)
}

function both(rank: number): { readonly [P in Phase]: number } {
  return { PreRouting: rank, PostRouting: rank }
}

interface ChainBuilder {
  add(name: string, policy: CompiledPolicy, responseRank?: number): void
  chain(): CompiledChain
}

function chainBuilder(): ChainBuilder {
  const request: NamedFilter[] = []
  const response: ResponseFilter[] = []
  const finished: ((exchange: Exchange) => void)[] = []
  let readsRequestBody = false
  let readsResponseBody = false
  return {
    add(name, policy, responseRank = 0) {
      if (policy.request !== undefined) request.push({ name, filter: policy.request })
      if (policy.response !== undefined) response.push({ name, filter: policy.response, rank: responseRank })
      if (policy.finished !== undefined) finished.push(policy.finished)
      readsRequestBody ||= policy.readsRequestBody === true
      readsResponseBody ||= policy.readsResponseBody === true
    },
    chain: () => ({
      request,
      response: response.sort((a, b) => a.rank - b.rank),
      finished,
      readsRequestBody,
      readsResponseBody,
    }),
  }
}
