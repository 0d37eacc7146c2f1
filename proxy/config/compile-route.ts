// One rule on one listener: its merged policies as filter chains, and its backends.
import { AGENT_RUNTIME_FORM } from '#api/credentials/agent-runtime.ts'
import type {
  AgentCoreBackend,
  Backend,
  BackendPayload,
  BackendReference,
  ModelsBackend,
  RequestMirror,
  Route,
  RouteBackend,
  ServiceReference,
} from '#api/ir/types.gen.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import { a2aBackend, rememberCardRequest } from '../a2a/agent-card.ts'
import { weightedPicker } from '../chain/weighted.ts'
import { agentCoreAddress, agentCoreBackend, agentCorePolicies } from '../backend/agent-core.ts'
import type { BackendEnvironment } from '../backend/handler.ts'
import type { BackendHandler } from '../chain/handler.ts'
import { sectionOwner } from '../backend/endpoint-keys.ts'
import { Destinations, dynamicBackend } from '../backend/dynamic.ts'
import type { FailureBody } from '../exchange/slots.ts'
import { httpBackend } from '../backend/http.ts'
import { tunnelBackend } from '../backend/tunnel.ts'
import { shown, type Detail } from '../exchange/diagnosis.ts'
import type { ExchangePlace, BackendType } from '../exchange/facts.ts'
import type { FailureCode } from '../exchange/errors.ts'
import type { ConnectionLimits } from '../http/handler.ts'
import { mcpGuard, NO_ACCESS } from '../mcp/access.ts'
import { MCP_SESSION_TTL_MS } from '../mcp/session-ttl.ts'
import type { CompiledChain } from '../chain/filter.ts'
import type { BackendPlan, ResponsePlan, RoutePlan } from '../chain/plan.ts'
import { compileJwtAuthentication } from '../policy/auth/jwt-authentication.ts'
import { isAnyHost } from '../route/host-map.ts'
import type { ListenerPlace } from '../policy/policy-index.ts'
import { effectiveBackend, effectiveService, overlaySection } from '../policy/merge-backend.ts'
import { effectiveTraffic } from '../policy/merge.ts'
import { compileChain, mergeResponseFilters } from '../policy/order.ts'
import { compileMirror } from './compile-mirror.ts'
import type { CompileContext } from './context.ts'
import { LLM, MCP } from './parts.ts'
import { type RecordingContext, recordingTextReads } from './text-reads.ts'
import { commonService, withTrafficDenied } from './pool-traffic.ts'
import { chainEnvironment, filtersOf, healthOf, serverOf, serviceOf, vendorOf } from './service-calls.ts'

/** Backends without a named object have no sections; their owner does not exist. */
const NO_NAME = { namespace: '', name: '' }
const NOT_WATCHING = (): void => {}

export interface RouteInput {
  readonly route: Route
  /** Routes that delegated the request to this one, outermost first; most routes have none. */
  readonly parents: readonly Route[]
  /** Place of the listener. */
  readonly place: ExchangePlace
  readonly listenerPlace: ListenerPlace
  readonly listenerHostname: string | undefined
  readonly listenerChain: CompiledChain
  readonly port: number
  readonly limits: ConnectionLimits
  readonly context: CompileContext
}

interface RecordingInput extends RouteInput {
  readonly context: RecordingContext
}

export function compileRoute(given: RouteInput): RoutePlan {
  const input: RecordingInput = { ...given, context: recordingTextReads(given.context) }
  const { route, listenerPlace, listenerChain, port, context } = input
  const routes = [...input.parents, route]
  // The reference to another route was selected before this plan.
  const own = route.backends.filter(({ ref }) => ref.routeGroup === undefined)
  const service = commonService(own)
  const { postRouting } = effectiveTraffic(context.policies, { ...listenerPlace, routes, service })
  const merged = compileChain(postRouting, 'PostRouting', { ...chainEnvironment(context), listenerPort: port })
  const hasAgent = route.backends.some(({ ref }) => context.resolver.isAgent(ref))
  const agentChain = hasAgent ? { ...merged, request: [rememberCardRequest, ...merged.request] } : merged
  const chain = leadsToMcp(input) ? withMcpGuard(agentChain, input) : agentChain
  const backends = own.map((backend) => ({
    weight: backend.weight,
    value: compileBackend(input, backend, { chain, service, mirrors: postRouting.requestMirror?.value ?? [] }),
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
    failureBody: failureBodyOf(backends.map(({ value }) => value)),
    pickBackend: weightedPicker(backends),
    backends,
  }
}

/** Only models have one, and without models their code is not loaded. */
function failureBodyOf(backends: readonly BackendPlan[]): FailureBody | undefined {
  if (backends.every(({ failureBody }) => failureBody === undefined)) return undefined
  return LLM.get().commonFailureBody(backends.map(({ failureBody }) => failureBody))
}

function leadsToMcp({ route, context }: RouteInput): boolean {
  return route.backends.some(
    ({ ref }) => ref.backend !== undefined && context.resolver.backend(ref.backend)?.mcp !== undefined,
  )
}

/** Directly behind CORS, or first. */
function withMcpGuard(chain: CompiledChain, { route, parents, listenerHostname, context }: RouteInput): CompiledChain {
  const hostnames = [[listenerHostname], ...[...parents, route].map((one) => one.hostnames)]
  const guard = mcpGuard({
    access: context.environment.mcpAccess ?? NO_ACCESS,
    isHostPinned: hostnames.some((names) => names.length > 0 && !names.some(isAnyHost)),
  })
  const at = chain.request.findIndex(({ name }) => name === 'cors') + 1
  return { ...chain, request: [...chain.request.slice(0, at), guard, ...chain.request.slice(at)] }
}

interface RouteParts {
  readonly chain: CompiledChain
  readonly mirrors: readonly RequestMirror[]
  /** The level whose traffic policies are in the chain. */
  readonly service: ServiceReference | undefined
}

function compileBackend(input: RecordingInput, backend: RouteBackend, routeParts: RouteParts): BackendPlan {
  const { route, listenerPlace, listenerChain, limits, context } = input
  const { ref } = backend
  const target = ref.backend === undefined ? undefined : context.resolver.backend(ref.backend)
  const merged = effectiveBackend(context.policies, {
    ...listenerPlace,
    routes: [...input.parents, route],
    service: ref.service,
    backend: target,
    refInlinePolicies: backend.inlinePolicies,
  })
  const policies = policiesFor(merged, { route, ref, service: routeParts.service, target }, context)
  const environment = backendEnvironment(context, limits, policies, target)
  const { chain: routeChain, mirrors } = routeParts
  const {
    handler,
    protocol,
    hasOwnFilters,
    failureBody,
    tunnel = NO_TUNNEL,
  } = target?.models === undefined
    ? handlerOf(ref, policies, environment, context)
    : modelsHandling(target.models, environment, {
        compile: (own) => compileBackend(input, own, routeParts).handler,
        isServed: (key) => LLM.get().isServed(context.resolver.backend(key)),
      })
  const chain = environment.filters(policies, { ref })
  // LLM and MCP backends run the filters themselves, once for the selected provider or server.
  const response = responsePlan(hasOwnFilters ? [routeChain, listenerChain] : [routeChain, chain, listenerChain])
  const health = environment.health(policies)
  return {
    name: nameOf(ref),
    type: typeOf(ref, target),
    protocol,
    handler,
    tunnel,
    request: hasOwnFilters ? [] : chain.request,
    readsRequestBody: chain.readsRequestBody,
    fetched: hasOwnFilters ? undefined : chain.fetched,
    failureBody,
    effective: chain.effective,
    inline: backend.inlinePolicies,
    response: { ...response, readsBody: response.readsBody || health?.readsResponseBody === true },
    mirror: compileMirror(
      [...mirrors, ...(policies.requestMirror ?? [])],
      context,
      (own, mirrored) => filtersOf(own, { ref: mirrored }, context).request,
    ),
  }
}

interface PolicyInputs {
  readonly route: Route
  readonly ref: BackendReference
  readonly service: ServiceReference | undefined
  readonly target: Backend | undefined
}

/** The inputs that merging does not have: the kinds of route and backend, and the other backends of the rule. */
function policiesFor(
  merged: EffectiveBackend,
  { route, ref, service, target }: PolicyInputs,
  context: CompileContext,
): EffectiveBackend {
  const ofKind = target?.agentCore === undefined ? merged : agentCorePolicies(target.agentCore, merged)
  const allowed = service === undefined ? withTrafficDenied(ofKind, ref, context.policies) : ofKind
  return route.name.kind === 'GRPCRoute' ? withHttp2(allowed, ref, context) : allowed
}

/** Backends of a GRPCRoute speak HTTP/2, unless a policy or the Service sets another version. */
function withHttp2(policies: EffectiveBackend, ref: BackendReference, { resolver }: CompileContext): EffectiveBackend {
  const version = policies.http?.version ?? resolver.declaredVersion(ref) ?? 'HTTP2'
  return { ...policies, http: { ...policies.http, version } }
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
  readonly failureBody?: FailureBody
  /** undefined: does not support raw connections. */
  readonly tunnel?: BackendHandler
}

const NO_TUNNEL: BackendHandler = (exchange, done) => {
  exchange.fail('invalidBackendType', 'the backend does not support CONNECT')
  done(exchange)
}

function handlerOf(
  ref: BackendReference,
  policies: EffectiveBackend,
  environment: BackendEnvironment,
  context: CompileContext,
): Handling {
  const { resolver } = context
  if (ref.invalid !== undefined) {
    return broken(ref.invalid.reason === 'ServiceNotFound' ? 'serviceNotFound' : 'backendNotFound', ref.invalid.message)
  }
  if (ref.backend !== undefined) {
    const backend = resolver.backend(ref.backend)
    if (backend === undefined) return broken('backendNotFound', ref.backend)
    if (backend.dynamic !== undefined) return dynamicHandling(backend, policies, context)
    if (backend.agentCore !== undefined)
      return agentCoreHandling(backend.key, backend.agentCore, policies, { environment, resolver })
    const special = specialHandler(backend, policies, environment)
    if (special !== undefined) return special
  }
  const picker = environment.resolve(ref, policies)
  if (picker === undefined) return broken('serviceNotFound', nameOf(ref))
  const health = environment.health(policies)
  const plain = httpBackend(picker, environment.client, health)
  const isAgent = resolver.isAgent(ref)
  return {
    handler: isAgent ? a2aBackend(plain, environment.bufferBytesMax) : plain,
    tunnel: tunnelBackend(picker, environment.client, health),
    protocol: isAgent ? 'a2a' : 'http',
    hasOwnFilters: false,
  }
}

function dynamicHandling(
  { key }: Backend,
  policies: EffectiveBackend,
  { environment: { dynamic }, resolver }: CompileContext,
): Handling {
  if (dynamic === undefined) return broken('invalidBackendType', `backend ${key}`)
  const destinations = new Destinations((host, port) => resolver.dynamic(host, port, policies, dynamic.guard))
  return { ...dynamicBackend(destinations, dynamic), protocol: 'http', hasOwnFilters: false }
}

function agentCoreHandling(
  key: string,
  runtime: AgentCoreBackend,
  policies: EffectiveBackend,
  { environment, resolver }: { environment: BackendEnvironment; resolver: CompileContext['resolver'] },
): Handling {
  const address = agentCoreAddress(runtime)
  if (address === undefined) return broken('backendNotFound', `backend ${key}: agentRuntimeRef ${AGENT_RUNTIME_FORM}`)
  const picker = resolver.address(key, address, policies)
  const plain = httpBackend(picker, environment.client, environment.health(policies))
  return { handler: agentCoreBackend(runtime, plain), protocol: 'http', hasOwnFilters: false }
}

/** Models are separate backends under the same route; compiled on first use. */
function modelsHandling(
  models: ModelsBackend,
  environment: BackendEnvironment,
  { compile, isServed }: { compile: (backend: RouteBackend) => BackendHandler; isServed: (key: string) => boolean },
): Handling {
  const handlers = new Map<string, BackendHandler>()
  const handlerOf = (key: string): BackendHandler => {
    const known = handlers.get(key)
    if (known !== undefined) return known
    const handler = compile({ weight: 1, ref: { backend: key } })
    handlers.set(key, handler)
    return handler
  }
  const { compileModels, modelsFailureBody: failureBody } = LLM.get()
  return {
    handler: compileModels(models, { ...environment, handlerOf, isServed }),
    protocol: 'llm',
    hasOwnFilters: true,
    failureBody,
  }
}

/** undefined: a plain address. */
function specialHandler(
  backend: Backend,
  policies: EffectiveBackend,
  environment: BackendEnvironment,
): Handling | undefined {
  if (backend.invalid !== undefined) return broken('backendNotFound', backend.invalid)
  if (backend.unsupported !== undefined) return broken('backendUnsupported', shown(backend.unsupported))
  if (backend.ai !== undefined) {
    const llm = LLM.get()
    const handler = llm.compileAiBackend(backend.ai, policies, environment)
    return { handler, protocol: 'llm', hasOwnFilters: true, failureBody: llm.failureBodyOf(policies.ai?.routes) }
  }
  if (backend.mcp !== undefined) {
    const handler = MCP.get().compileMcpBackend(backend.mcp, policies, environment)
    return { handler, protocol: 'mcp', hasOwnFilters: true }
  }
  return backend.static === undefined ? broken('invalidBackendType', `backend ${backend.key}`) : undefined
}

function broken(code: FailureCode, detail: Detail): Handling {
  const handler: BackendHandler = (exchange, done) => {
    exchange.fail(code, detail)
    done(exchange)
  }
  return {
    handler,
    tunnel: handler,
    protocol: 'http',
    hasOwnFilters: false,
  }
}

function backendEnvironment(
  context: RecordingContext,
  limits: ConnectionLimits,
  policies: EffectiveBackend,
  backend: Backend | undefined,
): BackendEnvironment {
  const name = backend?.name
  const { resolver, expression, secret, environment } = context
  return {
    client: environment.client,
    resolve: (ref, own) => resolver.resolve(ref, own),
    resolveAddress: ({ section, host, port }, own) =>
      resolver.address(sectionOwner(name ?? NO_NAME, section), { host, port }, own),
    health: (own) => healthOf(own, context),
    sectionPolicies: (section, inline) =>
      name === undefined
        ? policies
        : overlaySection(context.policies, policies, { backend: name, section, inlinePolicies: inline }),
    policiesOf: (ref) => policiesOf(ref, context),
    filters: (own, place) => filtersOf(own, place, context),
    authentication: (auth) => compileJwtAuthentication(auth, chainEnvironment(context)).request,
    service: (own, subtype) => serviceOf(own, context, { subtype }),
    server: (ref, own, options) => serverOf(ref, own, options, context),
    vendor: (host, own) => vendorOf(host, own, context),
    secret,
    expression,
    bufferBytesMax: limits.bufferBytesMax,
    textReads: context.textReads,
    sessionKeys: environment.sessionKeys,
    mcpSessionTtlMs: environment.mcpSessionTtlMs ?? MCP_SESSION_TTL_MS,
    watchBackend: (listener) =>
      environment.changes?.watch((backends) => listener(backend && backends(backend.key))) ?? NOT_WATCHING,
    mcpSession: (event, server) => environment.observer.mcpSession?.(event, server),
  }
}

/** Policies attached to the Service or backend of a reference, and inline policies of that backend. */
function policiesOf(ref: BackendReference, context: CompileContext): BackendPayload {
  const backend = ref.backend === undefined ? undefined : context.resolver.backend(ref.backend)
  const effective = effectiveService(context.policies, { service: ref.service, backend })
  // Rules are about requests of clients.
  const { mcpAuthorization: _tools, authorization: _requests, ...policies } = effective
  return policies
}

function typeOf({ service }: BackendReference, backend: Backend | undefined): BackendType {
  if (service !== undefined) return 'service'
  if (backend === undefined) return 'unknown'
  if (backend.ai !== undefined || backend.models !== undefined) return 'ai'
  if (backend.mcp !== undefined) return 'mcp'
  return backend.dynamic === undefined ? 'static' : 'dynamic'
}

/** CEL `backend.name`. */
function nameOf({ service, backend }: BackendReference): string {
  if (service !== undefined) return `service/${service.namespace}/${service.hostname}:${service.port}`
  return backend ?? 'invalid'
}
