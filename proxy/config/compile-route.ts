// One rule on one listener: its merged policies as filter chains, and its backends.
import type { Backend, BackendReference, Route, RouteBackend } from '#api/ir/types.gen.ts'
import { compileBackendAuth } from '../backend/auth.ts'
import { weightedPicker } from '../backend/weighted.ts'
import type { BackendEnvironment, BackendHandler, EffectiveBackendPolicies } from '../backend/handler.ts'
import { httpBackend } from '../backend/http.ts'
import type { ExchangePlace } from '../exchange.ts'
import type { FailureCode } from '../errors.ts'
import type { ConnectionLimits } from '../http/handler.ts'
import { compileAiBackend } from '../llm/backend.ts'
import { compileMcpBackend } from '../mcp/backend.ts'
import type { BackendPlan, NamedFilter, ResponsePlan, RoutePlan } from '../plan.ts'
import type { ChainEnvironment } from '../policy/environment.ts'
import type { ListenerPlace } from '../policy/index.ts'
import { effectiveBackend, overlaySection } from '../policy/merge-backend.ts'
import { effectiveTraffic } from '../policy/merge.ts'
import { compileBackendChain, compileChain, mergeResponseFilters, type CompiledChain } from '../policy/order.ts'
import type { CompileContext } from './context.ts'

export interface RouteInput {
  readonly route: Route
  /** Place of the listener. */
  readonly place: ExchangePlace
  readonly listenerPlace: ListenerPlace
  readonly listenerChain: CompiledChain
  readonly port: number
  readonly limits: ConnectionLimits
  readonly context: CompileContext
}

export function compileRoute(input: RouteInput): RoutePlan {
  const { route, listenerPlace, listenerChain, port, context } = input
  const { postRouting } = effectiveTraffic(context.policies, { ...listenerPlace, routes: [route] })
  const chain = compileChain(postRouting, 'PostRouting', { ...chainEnvironment(context), listenerPort: port })
  const backends = route.backends.map((backend) => ({
    weight: backend.weight,
    value: compileBackend(input, backend, chain),
  }))
  return {
    place: {
      ...input.place,
      routeKind: route.name.kind,
      routeNamespace: route.name.namespace,
      routeName: route.name.name,
      routeRule: route.name.ruleName,
    },
    chain,
    response: responsePlan([chain, listenerChain]),
    pickBackend: weightedPicker(backends),
  }
}

function compileBackend(input: RouteInput, backend: RouteBackend, routeChain: CompiledChain): BackendPlan {
  const { route, listenerPlace, listenerChain, limits, context } = input
  const { ref } = backend
  const target = ref.backend === undefined ? undefined : context.resolver.backend(ref.backend)
  const policies = effectiveBackend(context.policies, {
    ...listenerPlace,
    routes: [route],
    service: ref.service,
    backend: target,
    refInlinePolicies: backend.inlinePolicies,
  })
  const environment = backendEnvironment(context, limits, policies, target?.name)
  const { handler, protocol, hasOwnFilters } = handlerOf(ref, policies, environment, context)
  const chain = environment.filters(policies)
  // LLM and MCP backends run the filters themselves, once for the provider or server they picked.
  const response = responsePlan(hasOwnFilters ? [routeChain, listenerChain] : [routeChain, chain, listenerChain])
  return {
    name: nameOf(ref),
    protocol,
    handler,
    request: hasOwnFilters ? [] : chain.request,
    readsRequestBody: chain.readsRequestBody,
    response,
  }
}

function responsePlan(chains: readonly CompiledChain[]): ResponsePlan {
  return {
    filters: mergeResponseFilters(chains),
    readsBody: chains.some(({ readsResponseBody }) => readsResponseBody),
  }
}

interface Handling {
  readonly handler: BackendHandler
  readonly protocol: string
  readonly hasOwnFilters: boolean
}

function handlerOf(
  ref: BackendReference,
  policies: EffectiveBackendPolicies,
  environment: BackendEnvironment,
  { resolver }: CompileContext,
): Handling {
  if (ref.invalid !== undefined) {
    return broken(ref.invalid.reason === 'ServiceNotFound' ? 'serviceNotFound' : 'backendNotFound', ref.invalid.message)
  }
  if (ref.backend !== undefined) {
    const backend = resolver.backend(ref.backend)
    if (backend === undefined) return broken('backendNotFound', ref.backend)
    const special = specialHandler(backend, policies, environment)
    if (special !== undefined) return special
  }
  const picker = environment.resolve(ref, policies)
  if (picker === undefined) return broken('serviceNotFound', nameOf(ref))
  return { handler: httpBackend(picker, environment.client), protocol: 'http', hasOwnFilters: false }
}

/** undefined: a plain address. */
function specialHandler(
  backend: Backend,
  policies: EffectiveBackendPolicies,
  environment: BackendEnvironment,
): Handling | undefined {
  if (backend.invalid !== undefined) return broken('backendNotFound', backend.invalid)
  if (backend.ai !== undefined) {
    return { handler: compileAiBackend(backend.ai, policies, environment), protocol: 'llm', hasOwnFilters: true }
  }
  if (backend.mcp !== undefined) {
    return { handler: compileMcpBackend(backend.mcp, policies, environment), protocol: 'mcp', hasOwnFilters: true }
  }
  return backend.static === undefined ? broken('invalidBackendType', `backend ${backend.key}`) : undefined
}

function broken(code: FailureCode, detail: string): Handling {
  return {
    handler: (exchange, done) => {
      exchange.fail(code, detail)
      done(exchange)
    },
    protocol: 'http',
    hasOwnFilters: false,
  }
}

function backendEnvironment(
  context: CompileContext,
  limits: ConnectionLimits,
  policies: EffectiveBackendPolicies,
  name: { namespace: string; name: string } | undefined,
): BackendEnvironment {
  const { resolver, expression, secret, environment } = context
  return {
    client: environment.client,
    resolve: (ref, own) => resolver.resolve(ref, own),
    resolveAddress: (host, port, own) => resolver.address(`${name?.namespace}/${name?.name}`, host, port, own),
    sectionPolicies: (section, inline) =>
      name === undefined
        ? policies
        : overlaySection(context.policies, policies, { backend: name, section, inlinePolicies: inline }),
    filters: (own) => filtersOf(own, context),
    secret,
    expression,
    bufferBytesMax: limits.bufferBytesMax,
    sessionKey: environment.sessionKey,
  }
}

function filtersOf(policies: EffectiveBackendPolicies, context: CompileContext): CompiledChain {
  const auth = policies.auth === undefined ? undefined : compileBackendAuth(policies.auth, context.secret).request
  const chain = compileBackendChain(policies, chainEnvironment(context), auth)
  const { requestTimeoutMs } = policies.http ?? {}
  if (requestTimeoutMs === undefined) return chain
  const timeout: NamedFilter = {
    name: 'http',
    filter: (exchange) => {
      // The route's own timeout for an attempt is the more specific one.
      exchange.backendRequestTimeoutMs ??= requestTimeoutMs
      return undefined
    },
  }
  return { ...chain, request: [timeout, ...chain.request] }
}

function chainEnvironment({ expression, environment }: CompileContext): ChainEnvironment {
  return { expression, rateLimits: environment.rateLimits }
}

/** CEL `backend.name`. */
function nameOf({ service, backend }: BackendReference): string {
  if (service !== undefined) return `service/${service.namespace}/${service.hostname}:${service.port}`
  return backend ?? 'invalid'
}
