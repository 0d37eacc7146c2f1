// The `ui` section: the web UI of the admin server on gateways, for reading. The admin server rejects requests that
// change anything from other origins than its own, and these routes do not lead to their paths.
import type { RenderedConfig, RouteMatch, RouteTarget } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { StandaloneFile, UiFields } from '../schema/file.ts'
import type { Address } from '../schema/values.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import type { GatewayRegistry } from './gateways.ts'
import { attachPolicies } from './routes.ts'
import { routeTraffic } from './traffic.ts'

const PATH = 'ui'
const BACKEND = 'ui:admin'
const ROUTE = 'ui:default'
const DEFAULT_ADMIN: Address = { host: 'localhost', port: 15_000 }
/** The host that the admin server accepts from everywhere. */
const HOST = 'localhost'

/** What the pages read from the admin server. */
const READ_PATHS = [
  '/config_dump',
  '/overview',
  '/traffic',
  '/connections',
  '/endpoints',
  '/mcp_sessions',
  '/effective_policies',
  '/model_prices',
  '/model_usage',
  '/limits',
  '/memory',
  '/logging',
  '/debug/trace',
  '/debug/route',
]
const MATCHES: readonly RouteMatch[] = [
  { path: { pathPrefix: '/ui' }, method: 'GET' },
  ...READ_PATHS.map((exact): RouteMatch => ({ path: { exact }, method: 'GET' })),
  // They evaluate expressions and rules with the variables of the request only.
  { path: { exact: '/debug/cel' }, method: 'POST' },
  { path: { exact: '/debug/mcp_access' }, method: 'POST' },
]
const ROOT: RouteMatch = { path: { exact: '/' }, method: 'GET' }
/** Each decides by itself who may read. */
const GUARDS = ['jwtAuth', 'authorization', 'extAuthz', 'basicAuth', 'apiKey', 'oidc'] as const

export interface UiParts {
  readonly gateways: GatewayRegistry
  readonly context: BuildContext
}

export function addUi({ ui: fields, config }: StandaloneFile, { gateways, context }: UiParts): void {
  if (fields === undefined) return
  const keys = gateways.listenersOf(fields.gateways, { path: PATH })
  const { policies = {} } = fields
  const at = pathTo(PATH, 'policies')
  const name: RouteTarget = { kind: 'HTTPRoute', namespace: DEFAULT_NAMESPACE, name: ROUTE }
  const traffic = routeTraffic({ ...policies, urlRewrite: { authority: { full: HOST } } }, at, context)
  attachPolicies(name, { payload: {}, mcpRules: [] }, traffic.rules, context)
  context.config.backends.push({
    key: BACKEND,
    name: { namespace: DEFAULT_NAMESPACE, name: BACKEND },
    static: reachable(config?.adminAddr ?? DEFAULT_ADMIN),
  })
  for (const listenerKey of keys) {
    if (!isGuarded(policies, listenerKey, context)) {
      context.warn(
        PATH,
        'every client of the gateway can read it: set basicAuth, jwtAuth, apiKey, extAuthz or authorization',
      )
    }
    context.config.routes.push({
      key: `${listenerKey}/${ROUTE}`,
      listenerKey,
      name,
      hostnames: [],
      matches: [...MATCHES, ...(hasRoot(listenerKey, context) ? [] : [ROOT])],
      backends: [{ weight: 1, ref: { backend: BACKEND } }],
      inlinePolicies: traffic.payload,
    })
  }
}

/** Of the admin server of the process that serves the configuration, which flags and variables may set. */
export function withAdminAddress(config: RenderedConfig, admin: Address): RenderedConfig {
  if (!config.backends.some(({ key }) => key === BACKEND)) return config
  const backends = config.backends.map((backend) =>
    backend.key === BACKEND ? { ...backend, static: reachable(admin) } : backend,
  )
  return { ...config, backends }
}

/** An address that servers listen on as one to connect to. */
function reachable({ host, port }: Address): Address {
  if (host === '::') return { host: '::1', port }
  return { host: host === 'localhost' || host === '0.0.0.0' ? '127.0.0.1' : host, port }
}

/** By its own policies, or those of its listener. */
function isGuarded(
  policies: NonNullable<UiFields['policies']>,
  listenerKey: string,
  { config }: BuildContext,
): boolean {
  if (GUARDS.some((guard) => policies[guard] !== undefined)) return true
  const listener = config.listeners.find(({ key }) => key === listenerKey)
  if (listener === undefined) return false
  const { gatewayName, listenerName } = listener.name
  return config.policies.some(({ target, policy: { traffic } }) => {
    const isOwn = target.gateway?.name === gatewayName && target.gateway.listener === listenerName
    return isOwn && traffic !== undefined && LISTENER_GUARDS.some((guard) => traffic[guard] !== undefined)
  })
}

const LISTENER_GUARDS = [
  'jwtAuthentication',
  'authorization',
  'extAuth',
  'basicAuthentication',
  'apiKeyAuthentication',
  'deny',
] as const

/** Another route serves the root of the listener, which the UI must not take. */
function hasRoot(listenerKey: string, { config }: BuildContext): boolean {
  return config.routes.some(
    (route) =>
      route.listenerKey === listenerKey &&
      route.matches.some(({ path = {} }) => path.pathPrefix === '/' || path.exact === '/' || path.regex !== undefined),
  )
}
