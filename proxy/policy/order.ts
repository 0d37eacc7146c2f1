// The one list of policies in the order they run (data-plane supplement sections 1.3, 1.4, 1.6 and 1.8). A new field of
// the contract does not compile until it has its place here.
import type { TrafficPayload } from '#api/ir/types.gen.ts'
import type { EffectiveBackendPolicies } from '../backend/handler.ts'
import type { Exchange } from '../exchange.ts'
import type { NamedFilter } from '../plan.ts'
import { compileApiKeyAuthentication } from './api-key-authentication.ts'
import { compileAuthorization } from './authorization.ts'
import { compileBasicAuthentication } from './basic-authentication.ts'
import { compileBuffer } from './buffer.ts'
import { compileCors } from './cors.ts'
import { compileCsrf } from './csrf.ts'
import { compileDelay } from './delay.ts'
import { compileDeny } from './deny.ts'
import { compileDirectResponse } from './direct-response.ts'
import type { ChainEnvironment } from './environment.ts'
import { compileExtAuthz, compilePlainExtAuthz } from './ext-authz.ts'
import { compileExtProc } from './ext-proc.ts'
import type { CompiledPolicy, Filter } from './filter.ts'
import { compileRequestHeaderModifier, compileResponseHeaderModifier } from './header-modifier.ts'
import { compileHostRewrite } from './host-rewrite.ts'
import { compileInferenceRouting } from './inference-routing.ts'
import { compileJwtAuthentication } from './jwt-authentication.ts'
import { compileLocalRateLimit } from './local-rate-limit.ts'
import type { EffectiveTraffic } from './merge.ts'
import { compileRemoteRateLimit } from './remote-rate-limit.ts'
import { compileRequestRedirect } from './request-redirect.ts'
import { type Phase, runsBeforeRouting } from './phase.ts'
import { compileRetry } from './retry.ts'
import { compileTimeout } from './timeout.ts'
import { compileTransformation } from './transformation.ts'
import { compileUrlRewrite } from './url-rewrite.ts'

/** A response filter and its place among those of route, backend and gateway. */
export interface ResponseFilter extends NamedFilter {
  readonly rank: number
}

export interface CompiledChain {
  readonly request: readonly NamedFilter[]
  readonly response: readonly ResponseFilter[]
  /** Run when the chain is chosen. */
  readonly selected: readonly ((exchange: Exchange) => void)[]
  /** Run once when the exchange is over. */
  readonly finished: readonly ((exchange: Exchange) => void)[]
  readonly readsRequestBody: boolean
  readonly readsResponseBody: boolean
  /** The merged policies it was compiled from, for traces. */
  readonly effective: object
}

/** Section 1.8: header modifiers, whole bodies, transformations from inside out, then what the proxy itself adds. */
const RESPONSE_RANK = {
  // The picker sees what the model server said.
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

interface FieldPlan<K extends keyof TrafficPayload> {
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
    compile: ([first]) => (first === undefined ? undefined : compileDeny(first.value)),
  },
  timeout: { compile: ({ value }) => compileTimeout(value) },
  // Preflights carry no credentials, so they are answered before anything asks for some.
  cors: { compile: ({ value }) => compileCors(value) },
  // Each of them must let the request pass; authorization rules then look at what they learned.
  jwtAuth: { compile: ({ value }, environment) => compileJwtAuthentication(value, environment) },
  basicAuth: {
    compile: ({ value }, environment) => compileBasicAuthentication(value, environment),
  },
  apiKey: { compile: ({ value }, environment) => compileApiKeyAuthentication(value, environment) },
  // After authentication, whose findings it may send on; before rules, which may look at what it answers.
  extAuthz: { compile: ({ value }, environment) => compileExtAuthz(value, environment) },
  authorization: {
    compile: (rules, environment) =>
      rules.length === 0
        ? undefined
        : compileAuthorization(
            rules.map(({ value }) => value),
            environment,
          ),
  },
  // Only marks the request: what its precondition sees is the request as the client sent it.
  retry: { compile: ({ value }, environment) => compileRetry(value, environment) },
  // After authorization: what is refused costs nobody a token.
  localRateLimit: {
    responseRank: both(RESPONSE_RANK.rateLimitHeaders),
    compile: ({ value, source }, environment) => compileLocalRateLimit(value, { ...environment, policyKey: source }),
  },
  // After the local limits: what they refuse costs no call.
  remoteRateLimit: {
    responseRank: both(RESPONSE_RANK.rateLimitHeaders),
    compile: ({ value }, environment) => compileRemoteRateLimit(value, environment),
  },
  // Before everything that looks into bodies, after everything that may refuse without one.
  buffer: {
    responseRank: both(RESPONSE_RANK.buffer),
    compile: ({ value }) => compileBuffer(value),
  },
  // After what may refuse without it; before transformations, which may look at what it learned.
  extProc: {
    responseRank: { PreRouting: RESPONSE_RANK.gatewayExtProc, PostRouting: RESPONSE_RANK.routeExtProc },
    compile: ({ value }, environment) => compileExtProc(value, environment),
  },
  transformation: {
    responseRank: {
      PreRouting: RESPONSE_RANK.gatewayTransformation,
      PostRouting: RESPONSE_RANK.routeTransformation,
    },
    compile: ({ value }, environment) => compileTransformation(value, environment),
  },
  // Late, after transformation: docs/adr/0002-csrf-position.md.
  csrf: { compile: ({ value }) => compileCsrf(value) },
  requestHeaderModifier: { compile: ({ value }) => compileRequestHeaderModifier(value) },
  responseHeaderModifier: {
    responseRank: both(RESPONSE_RANK.routeHeaders),
    compile: ({ value }) => compileResponseHeaderModifier(value),
  },
  hostRewrite: { compile: ({ value }) => compileHostRewrite(value) },
  urlRewrite: { compile: ({ value }) => compileUrlRewrite(value) },
  // After the header modifiers: a changed host is the host of the redirect.
  requestRedirect: {
    compile: ({ value }, environment) => compileRequestRedirect(value, environment),
  },
  // Direct responses wait as well: a test of clients needs no backend.
  delay: { compile: ({ value }, environment) => compileDelay(value, environment) },
  // Last, so that every other policy has had its say about the request.
  directResponse: {
    compile: ({ value }, environment) => compileDirectResponse(value, environment),
  },
  // No filter: copies are made when the backend is chosen (config/compile-route.ts).
  requestMirror: { compile: () => undefined },
}

// Members of an object literal keep their order; keyof loses nothing here, because the literal has exactly these.
const REQUEST_ORDER = Object.keys(FIELDS) as (keyof TrafficPayload)[]

/** Names in the order they run, for documentation and traces. */
export const POLICY_ORDER: readonly string[] = REQUEST_ORDER

export function compileChain(effective: EffectiveTraffic, phase: Phase, environment: ChainEnvironment): CompiledChain {
  const builder = chainBuilder(effective)
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
  const { deny, cors, transformation, requestHeaderModifier, responseHeaderModifier, requestRedirect, urlRewrite } =
    effective
  const builder = chainBuilder(effective)
  if (deny !== undefined) builder.add('deny', compileDeny(deny))
  // Preflights carry no credentials, and no endpoint is chosen for them.
  if (cors !== undefined) builder.add('cors', compileCors(cors))
  if (effective.inferenceRouting !== undefined) {
    const policy = compileInferenceRouting(effective.inferenceRouting, environment)
    builder.add('inferenceRouting', policy, RESPONSE_RANK.inferenceRouting)
  }
  // Before credentials: the service decides about the client's request, and must not see them.
  if (effective.extAuthz !== undefined) {
    builder.add('extAuthz', compilePlainExtAuthz(effective.extAuthz, environment))
  }
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
  if (phase === 'PreRouting' && !runsBeforeRouting(field)) {
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

function chainBuilder(effective: object): ChainBuilder {
  const request: NamedFilter[] = []
  const response: ResponseFilter[] = []
  const selected: ((exchange: Exchange) => void)[] = []
  const finished: ((exchange: Exchange) => void)[] = []
  let readsRequestBody = false
  let readsResponseBody = false
  return {
    add(name, policy, responseRank = 0) {
      if (policy.request !== undefined) request.push({ name, filter: policy.request })
      if (policy.response !== undefined) response.push({ name, filter: policy.response, rank: responseRank })
      if (policy.selected !== undefined) selected.push(policy.selected)
      if (policy.finished !== undefined) finished.push(policy.finished)
      readsRequestBody ||= policy.readsRequestBody === true
      readsResponseBody ||= policy.readsResponseBody === true
    },
    chain: () => ({
      request,
      response: response.sort((a, b) => a.rank - b.rank),
      selected,
      finished,
      readsRequestBody,
      readsResponseBody,
      effective,
    }),
  }
}
