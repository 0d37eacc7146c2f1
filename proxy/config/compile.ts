// Compiles a rendered configuration for a worker. All cheap steps and all steps that may reject the configuration run
// here; the chains of a route are compiled when it is first used (compile-route.ts).
import type { Bind, FrontendHTTP, FrontendProxyProtocol, Listener, Route, TCPRoute } from '#api/ir/types.gen.ts'
import { compilePermissive } from '#api/cel/compile.ts'
import { environmentWith } from '#api/cel/user-functions.ts'
import { probesOf } from '#api/ir/keepalive.ts'
import { runAll, type Steps } from '#api/incremental/steps.ts'
import type { ListenerFrontend, PortFrontend } from '../policy/fields.ts'
import { AuthStores, type AuthStoresOptions } from '../auth/auth-stores.ts'
import { EndpointTable } from '../backend/endpoints.ts'
import { TargetResolver } from '../backend/targets.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import { DEFAULT_LIMITS, type ConnectionLimits, type RequestHandler, type Http2Options } from '../http/handler.ts'
import { connectTunnel } from '../http/connect-tunnel.ts'
import { OtlpHub } from '../otlp/hub.ts'
import type { RefusalPlace } from '../log/access-log.ts'
import { pipeline, type PipelineInput } from '../pipeline/pipeline.ts'
import { shedding } from '../overload/shedding.ts'
import type { LazyRoute, ListenerPlan } from '../chain/plan.ts'
import { CredentialNames } from '../log/credential-names.ts'
import { type ListenerPlace, placeOf } from '../policy/policy-index.ts'
import { effectiveFrontend, effectiveService } from '../policy/merge-backend.ts'
import { compileNetworkAuthorization } from '../policy/auth/network-authorization.ts'
import type { ProxyRule } from '../socket/proxy-header.ts'
import type { EnterBind } from '../http/enter-bind.ts'
import { hostOf } from '../message/authority.ts'
import { buildHostMap } from '../route/host-map.ts'
import type { HostIndex } from '../route/host-index.ts'
import { HostTables, routerOf } from '../route/router.ts'
import { DelegationChains, lazyRoute, RouteGroups } from './compile-delegation.ts'
import { compileLayer4 } from './compile-layer4.ts'
import { compileTelemetry } from './compile-telemetry.ts'
import type { CompileSteps, CompiledBind, CompiledConfig } from './compiled.ts'
import { withOwnTunnel } from '../policy/own-tunnel.ts'
import { refusal } from './refusal.ts'
import { ConfigIndex } from './config-index.ts'
import { meshTunnels } from './mesh-tunnels.ts'
import type { CompileContext, DeclaredFunctions } from './context.ts'
import { lazily } from './lazily.ts'
import { leadsToModels, listenerFailureBody } from './listener-failures.ts'
import { type ListenerInput, ListenerPlans } from './listener-plans.ts'
import type { RouteIndex } from './route-index.ts'

/** All steps at once. @throws {ConfigError} */
export function compileConfig(...input: Parameters<CompileSteps>): CompiledConfig {
  return runAll(compileSteps(...input))
}

export const compileSteps: CompileSteps = function* ({ generation, config, secrets }, environment, previous) {
  const index = yield* ConfigIndex.stepsOf(config, secrets, previous?.index)
  const { secret, carriers } = index
  const auth = authOf(index, { secret, former: previous?.auth, unknownKey: environment.unknownKey }, previous?.index)
  const functions = functionsOf(config.customFunctions, previous?.context.functions)
  const context: CompileContext = {
    environment,
    policies: index.policies,
    directory: index.targets,
    resolver: new TargetResolver(index.targets, new EndpointTable(environment.endpoints), {
      secret,
      ownPolicies: (place) => effectiveService(index.policies, place),
      place: environment.place,
      meshTunnel: meshTunnels(environment.hbone, secret),
      connections: environment.connections,
    }),
    functions,
    expression: cachedExpressions(functions),
    secret,
    auth,
    otlp: new OtlpHub(previous?.otlp, (outcome) => environment.observer.exported?.(outcome)),
    credentialNames: lazily(() => CredentialNames.of(carriers)),
  }
  const { routes } = index
  // No function here may reference the previous configuration: each would keep its predecessor in memory.
  const plans = { former: previous?.listeners, now: new Map<string, ListenerPlans>() }
  const groups = new RouteGroups((key) => routes.group(key), tables)
  const tcpRoutes = groupBy(config.tcpRoutes, ({ listenerKey }) => listenerKey)
  const listeners = groupBy(config.listeners, ({ bindKey }) => bindKey)
  const binds = new Map<number, CompiledBind>()
  const warnings: string[] = [...auth.warnings]
  for (const bind of config.binds) {
    const own = listeners.get(bind.key) ?? []
    const refusedBecause = refusal(bind, own, binds)
    if (refusedBecause === undefined) {
      const warn = (message: string): number => warnings.push(message)
      const input = { bind, listeners: own, routes, groups, tcpRoutes, context, warn, plans }
      binds.set(bind.port, yield* compileBind(input))
    } else warnings.push(refusedBecause)
  }
  return { generation, binds, warnings, auth, otlp: context.otlp, index, listeners: plans.now, context }
}

/** The same stores for the same carriers and secrets. */
function authOf(index: ConfigIndex, options: AuthStoresOptions, former: ConfigIndex | undefined): AuthStores {
  const isAsBefore = former !== undefined && former.secret === index.secret && former.carriers.isAs(index.carriers)
  return isAsBefore && options.former !== undefined ? options.former : AuthStores.of(index.carriers, options)
}

function* compileBind(input: {
  bind: Bind
  listeners: readonly Listener[]
  routes: RouteIndex
  groups: RouteGroups
  tcpRoutes: ReadonlyMap<string, readonly TCPRoute[]>
  context: CompileContext
  warn: (message: string) => void
  plans: PlansOfListeners
}): Steps<CompiledBind> {
  const { bind, routes, groups, context } = input
  const frontend = frontendOf(bind, input.listeners, context)
  const limits = limitsOf(frontend, context.environment.bodyIdleTimeoutMs)
  const listeners: { readonly listener: Listener; readonly place: ListenerPlace; readonly plan: ListenerPlan }[] = []
  for (const listener of input.listeners) {
    const place = placeOf({ ...listener, port: bind.port })
    const plan = compileListener({
      hosts: routes.at(listener.key),
      leadsToModels: lazily(() => leadsToModels(routes.ofListener(listener.key), routes, context.resolver)),
      groups,
      plans: plansOf({ listener, bind, limits }, input.plans, context),
      frontend: effectiveFrontend(context.policies, place),
      context,
    })
    listeners.push({ listener, place, plan })
    yield
  }
  const plans = new Map<string | undefined, ListenerPlan>()
  for (const { listener, plan } of listeners) {
    // The translator resolves conflicts; the first of two equal hostnames also wins here.
    const hostname = listener.hostname?.toLowerCase()
    if (!plans.has(hostname)) plans.set(hostname, plan)
  }
  const hosts = buildHostMap(plans)
  const { enterBind = NOWHERE, shedder } = context.environment
  const piped = (place: PipelineInput['place'], findListener: PipelineInput['findListener']): RequestHandler =>
    pipeline({
      limits,
      proxyProtocol: frontend.proxyProtocol && proxyRule(frontend.proxyProtocol),
      admits: compileNetworkAuthorization(frontend.networkAuthorization ?? [], context.expression),
      observer: context.environment.observer,
      credentialNames: context.credentialNames,
      tap: context.environment.tap,
      place,
      findListener,
    })
  const shed = (served: RequestHandler, findListener: PipelineInput['findListener']): RequestHandler =>
    shedder === undefined ? served : shedding(served, shedder, (host) => findListener(host)?.failureBody)
  const serve: typeof piped = (place, findListener) => {
    const served = piped(place, findListener)
    return shed(
      frontend.connect?.mode === 'Tunnel' ? connectTunnel(served, { enter: enterBind }) : served,
      findListener,
    )
  }
  const hboneHandlerOf = (plan: ListenerPlan): RequestHandler =>
    shed(
      connectTunnel(
        piped(plan.place, () => plan),
        { enter: enterBind, keepsPeer: true },
      ),
      () => plan,
    )
  const handlerOf = (plan: ListenerPlan): RequestHandler => serve(plan.place, () => plan)
  const layer4 = compileLayer4({ ...input, listeners, frontend, handlerOf, hboneHandlerOf })
  const handler = serve(placeOfPort(listeners.map(({ plan }) => plan.place)), (host) => hosts.find(hostOf(host))?.value)
  const routing = { isTls: bind.protocol === 'TLS', hosts, listeners }
  return { key: bind.key, port: bind.port, isInternal: bind.mode === 'Internal', handler, routing, layer4 }
}

/** Policies of the port are those of its first listener. */
function frontendOf(bind: Bind, [first]: readonly Listener[], { policies }: CompileContext): PortFrontend {
  const frontend = first === undefined ? {} : effectiveFrontend(policies, placeOf({ ...first, port: bind.port }))
  return { ...frontend, ...withOwnTunnel(bind, frontend) }
}

/** Only the request determines which of several listeners is meant. */
function placeOfPort(places: readonly ExchangePlace[]): RefusalPlace | undefined {
  const [first] = places
  return first && { ...first, listener: places.length === 1 ? first.listener : undefined }
}

const NOWHERE: EnterBind = () => false

interface PlansOfListeners {
  /** Of the configuration in force. */
  readonly former: CompiledConfig['listeners'] | undefined
  readonly now: Map<string, ListenerPlans>
}

function plansOf(input: ListenerInput, { former, now }: PlansOfListeners, context: CompileContext): ListenerPlans {
  const { key } = input.listener
  const plans = ListenerPlans.of(input, context, former?.get(key))
  now.set(key, plans)
  return plans
}

function compileListener(input: {
  hosts: HostIndex<Route>
  leadsToModels: () => boolean
  groups: RouteGroups
  plans: ListenerPlans
  frontend: ListenerFrontend
  context: CompileContext
}): ListenerPlan {
  const { hosts, leadsToModels: hasModels, groups, plans, frontend, context } = input
  const { place, chain } = plans
  const chains = new DelegationChains(groups, (route, parents) => plans.plan(route, parents, context))
  const lazy = (route: Route): LazyRoute =>
    lazyRoute(route.key, () => plans.plan(route, [], context), chains.delegateOf(route))
  const telemetry = compileTelemetry(frontend, place, context)
  const { request, response } = telemetry.textReads
  const router = routerOf(hosts, tables, lazy)
  return {
    place,
    chain,
    response: { filters: chain.response, readsBody: chain.readsResponseBody },
    router,
    failureBody: listenerFailureBody(router, hasModels),
    ...telemetry,
    textReads: { request: request || plans.textReads.request, response: response || plans.textReads.response },
    routesConnect: frontend.connect?.mode === 'Route',
  }
}

/** For all configurations: a host name with unchanged routes keeps its table. */
const tables = new HostTables<Route>(({ key, matches, createdAt, name: { namespace, name } }) => ({
  matches,
  order: { createdAt, namespace, name, ruleIndex: ruleIndexOf(key) },
}))

/** `{namespace}/{name}.{rule index}.{listener}`: names contain dots, the index is the two digits before the listener */
function ruleIndexOf(key: string): number {
  const index = /\.(\d{2,})\./.exec(key)?.[1]
  return index === undefined ? 0 : Number(index)
}

function limitsOf({ http, tcp }: PortFrontend, bodyIdleTimeoutMs = DEFAULT_LIMITS.bodyIdleTimeoutMs): ConnectionLimits {
  return {
    headersMax: http?.http1HeadersMax ?? DEFAULT_LIMITS.headersMax,
    headerBytesMax: DEFAULT_LIMITS.headerBytesMax,
    bufferBytesMax: http?.bufferBytesMax ?? DEFAULT_LIMITS.bufferBytesMax,
    bodyIdleTimeoutMs,
    idleTimeoutMs: http?.http1IdleTimeoutMs ?? DEFAULT_LIMITS.idleTimeoutMs,
    preserveHeaderCase: http?.http1HeaderCase === 'Preserve',
    maxConnectionDurationMs: http?.maxConnectionDurationMs,
    keepalive: probesOf(tcp?.keepalive),
    http2: http && http2Options(http),
  }
}

function proxyRule({ version, mode }: FrontendProxyProtocol): ProxyRule {
  return { version, isRequired: mode === 'Strict' }
}

function http2Options(http: FrontendHTTP): Http2Options {
  return {
    windowBytes: http.http2WindowBytes,
    connectionWindowBytes: http.http2ConnectionWindowBytes,
    frameBytes: http.http2FrameBytes,
    headerBytesMax: http.http2HeaderBytesMax,
    keepaliveIntervalMs: http.http2KeepaliveIntervalMs,
    keepaliveTimeoutMs: http.http2KeepaliveTimeoutMs,
  }
}

function functionsOf(text: string | undefined, former: DeclaredFunctions | undefined): DeclaredFunctions {
  return former !== undefined && former.text === text ? former : { text, environment: environmentWith(text) }
}

function cachedExpressions({ environment }: DeclaredFunctions): CompileContext['expression'] {
  const known = new Map<string, ReturnType<typeof compilePermissive>>()
  return (source) => {
    let expression = known.get(source)
    if (expression === undefined) {
      expression = compilePermissive(source, environment)
      known.set(source, expression)
    }
    return expression
  }
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
