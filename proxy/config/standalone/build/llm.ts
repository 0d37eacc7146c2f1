// The `llm` section: its models behind one route, on a port of its own or on gateways next to other routes.
import type { Backend, Route, RouteMatch, RouteTarget } from '#api/ir/types.gen.ts'
import { MODEL_MATCHES, MODEL_ROUTES } from '#api/llm/formats.ts'
import { pathTo } from '../field-path.ts'
import type { LlmSection, ModelFields } from '../schema/llm.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import { defined } from './defined.ts'
import type { Attachment } from './gateways.ts'
import type { McpRegistries } from './mcp.ts'
import { ModelBuilder } from './models.ts'
import { attachPolicies, renderHeaderMatch } from './routes.ts'
import { routeTraffic } from './traffic.ts'
import { virtualModels } from './virtual-models.ts'

const PATH = 'llm'
const LISTENER = 'llm'
const ROUTE = 'llm:request'
const ROUTER = 'llm:router'
const DEFAULT_PORT = 4000
const OWN_PORT: readonly RouteMatch[] = [{ path: { pathPrefix: '/' } }]

export function addLlm(given: LlmSection, registries: McpRegistries, context: BuildContext): void {
  const hasPort = given.port !== undefined || given.tls !== undefined
  const gateways = registries.gateways.ofSection({ gateways: given.gateways, hasPort })
  const section: PlacedSection = { ...given, gateways }
  const keys = listenersOf(section, registries, context)
  const builder = new ModelBuilder(given, PATH, context)
  const offered = given.models.flatMap((model, index) => {
    const backend = modelBackend(model, index, builder)
    if (backend === undefined) return []
    context.config.backends.push(backend)
    const authorization = builder.rulesOf(index)
    const isInternal = model.visibility === 'internal'
    const rules = authorization.length > 0 && { authorization }
    const matches = model.matches?.map(({ headers }) => ({ headers: headers.map(renderHeaderMatch) }))
    const found = { name: model.name, ...defined({ matches }) }
    return [{ ...found, ...(isInternal && { internal: true }), backend: backend.key, ...rules }]
  })
  const virtual = virtualModels(given, PATH, { builder, context, keyOf })
  context.config.backends.push({
    key: ROUTER,
    name: { namespace: DEFAULT_NAMESPACE, name: ROUTER },
    // A virtual model hides models of the same name.
    models: { models: [...virtual, ...offered] },
  })
  addRoutes(section, keys, context)
}

function modelBackend(model: ModelFields, index: number, builder: ModelBuilder): Backend | undefined {
  const provider = builder.provider(index, model.id ?? model.name, undefined)
  if (provider === undefined) return undefined
  const key = keyOf(model.name, index)
  return {
    key,
    name: { namespace: DEFAULT_NAMESPACE, name: key },
    ai: { groups: [{ providers: [provider] }] },
    inlinePolicies: { ai: { routes: ROUTES[model.passthrough ?? 'none'] } },
  }
}

/** `gateways`: undefined if it has a port of its own. */
type PlacedSection = Omit<LlmSection, 'gateways'> & { readonly gateways: Attachment['gateways'] }

const ROUTES = { none: { ...MODEL_ROUTES }, detect: { '*': 'Detect' }, opaque: { '*': 'Passthrough' } } as const

function keyOf(name: string, index: number): string {
  return `llm:model:${name}:${index}`
}

function listenersOf(
  { port, tls, gateways: names, policies }: PlacedSection,
  { gateways, listeners }: McpRegistries,
  context: BuildContext,
): readonly string[] {
  if (names !== undefined) {
    if (port !== undefined) context.error(pathTo(PATH, 'port'), 'must not be set together with llm.gateways')
    if (tls !== undefined) context.error(pathTo(PATH, 'tls'), 'must not be set together with llm.gateways')
    return gateways.listenersOf(names, { path: PATH })
  }
  const bindKey = listeners.addPort(port ?? DEFAULT_PORT, pathTo(PATH, 'port'))
  listeners.addListener({
    key: LISTENER,
    bindKey,
    namespace: DEFAULT_NAMESPACE,
    gateway: bindKey,
    name: LISTENER,
    hostname: undefined,
    protocol: tls === undefined ? undefined : 'HTTPS',
    tls,
    path: PATH,
    policies: splitPolicies(policies).beforeRouting,
    policiesPath: pathTo(PATH, 'policies'),
  })
  return [LISTENER]
}

/** Guards belong to the models. */
function splitPolicies(policies: Policies = {}) {
  const { guardrails: _, localRateLimit, remoteRateLimit, ...beforeRouting } = policies
  return { beforeRouting, limits: defined({ localRateLimit, remoteRateLimit }) }
}

type Policies = NonNullable<LlmSection['policies']>

/** On a shared gateway, policies apply to this route alone. */
function addRoutes(section: PlacedSection, keys: readonly string[], context: BuildContext): void {
  const isShared = section.gateways !== undefined
  const { beforeRouting, limits } = splitPolicies(section.policies)
  const traffic = routeTraffic(isShared ? { ...beforeRouting, ...limits } : limits, pathTo(PATH, 'policies'), context)
  const name: RouteTarget = { kind: 'HTTPRoute', namespace: DEFAULT_NAMESPACE, name: ROUTE }
  attachPolicies(name, { payload: {}, mcpRules: [] }, traffic.rules, context)
  for (const listenerKey of keys) {
    const route: Route = {
      key: isShared ? `${listenerKey}/${ROUTE}` : ROUTE,
      listenerKey,
      name,
      hostnames: [],
      matches: [...(isShared ? MODEL_MATCHES : OWN_PORT)],
      backends: [{ weight: 1, ref: { backend: ROUTER } }],
      ...(Object.keys(traffic.payload).length > 0 && { inlinePolicies: traffic.payload }),
    }
    context.config.routes.push(route)
  }
}
