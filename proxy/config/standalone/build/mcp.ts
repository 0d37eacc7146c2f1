// The `mcp` form: an MCP backend on a separate port, or on gateways next to other routes.
import type { RouteMatch, RouteTarget } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { McpFields } from '../schema/file.ts'
import { routeBackendSide } from './backend-policies.ts'
import { addBackend } from './backends.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import type { GatewayRegistry } from './gateways.ts'
import type { ListenerRegistry } from './listeners.ts'
import { attachPolicies } from './routes.ts'
import { routeTraffic } from './traffic.ts'

const PATH = 'mcp'
const KEY = 'mcp'
const ROUTE = 'mcp:default'
const DEFAULT_PORT = 3000
const OWN_PORT: readonly RouteMatch[] = [{ path: { pathPrefix: '/' } }]
const SHARED_GATEWAY: readonly RouteMatch[] = [
  { path: { pathPrefix: '/mcp' } },
  { path: { pathPrefix: '/sse' } },
  { path: { pathPrefix: '/.well-known' } },
]

export interface McpRegistries {
  readonly gateways: GatewayRegistry
  readonly listeners: ListenerRegistry
}

export function addMcp(fields: McpFields, { gateways, listeners }: McpRegistries, context: BuildContext): void {
  const { port, policies = {}, targets, statefulMode, prefixMode, failureMode, toolPinning } = fields
  const shared = gateways.ofSection({ gateways: fields.gateways, hasPort: port !== undefined })
  const isShared = shared !== undefined
  if (isShared && port !== undefined) context.error(pathTo(PATH, 'port'), 'must not be set together with mcp.gateways')
  const keys = isShared ? gateways.listenersOf(shared, { path: PATH }) : [ownListener(port ?? DEFAULT_PORT, listeners)]
  const mcp = { targets, statefulMode, prefixMode, failureMode, toolPinning }
  // The backend with the field `mcp` is the file itself.
  addBackend({ mcp }, { key: KEY, name: ROUTE, path: '' }, context)
  const at = pathTo(PATH, 'policies')
  const name: RouteTarget = { kind: 'HTTPRoute', namespace: DEFAULT_NAMESPACE, name: ROUTE }
  const { payload, rules } = routeTraffic(policies, at, context)
  attachPolicies(name, routeBackendSide(policies, at, context), rules, context)
  for (const listenerKey of keys) {
    context.config.routes.push({
      key: isShared ? `${listenerKey}/${ROUTE}` : ROUTE,
      listenerKey,
      name,
      hostnames: [],
      matches: [...(isShared ? SHARED_GATEWAY : OWN_PORT)],
      backends: [{ weight: 1, ref: { backend: KEY } }],
      ...(Object.keys(payload).length > 0 && { inlinePolicies: payload }),
    })
  }
}

function ownListener(port: number, listeners: ListenerRegistry): string {
  const bindKey = listeners.addPort(port, pathTo(PATH, 'port'))
  listeners.addListener({
    key: KEY,
    bindKey,
    namespace: DEFAULT_NAMESPACE,
    gateway: bindKey,
    name: KEY,
    hostname: undefined,
    protocol: undefined,
    tls: undefined,
    path: PATH,
    policies: {},
    policiesPath: PATH,
  })
  return KEY
}
