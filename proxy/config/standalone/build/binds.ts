// The `binds` form: ports with their listeners, and listeners with their routes.
import type { Bind } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { BindFields } from '../schema/file.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import { defined } from './defined.ts'
import type { ListenerRegistry } from './listeners.ts'
import type { RouteRegistry } from './routes.ts'
import type { TcpRouteRegistry } from './tcp-routes.ts'

export interface Registries {
  readonly listeners: ListenerRegistry
  readonly routes: RouteRegistry
  readonly tcpRoutes: TcpRouteRegistry
}

const OWN_MODES = { standard: undefined, internal: 'Internal' } as const
const OWN_WAYS = { direct: undefined, proxy: 'Proxy', connect: 'Connect', hboneGateway: undefined } as const

/** For listeners without a gateway. */
const GATEWAY = 'default'

export function addBind(fields: BindFields, path: string, registries: Registries, context: BuildContext): void {
  const { listeners } = registries
  const bindKey = listeners.addPort(fields.port, pathTo(path, 'port'), ownOf(fields, path, context))
  const names = new Set<string>()
  for (const [index, listener] of fields.listeners.entries()) {
    const at = pathTo(path, 'listeners', index)
    const { namespace = DEFAULT_NAMESPACE, hostname, protocol, tls, policies = {} } = listener
    const name = listener.name ?? `listener${index}`
    if (names.has(name)) context.error(pathTo(at, 'name'), `the name ${name} is already used in this bind`)
    names.add(name)
    const key = `${namespace}/${GATEWAY}/${bindKey}/listener${index}`
    const policiesPath = pathTo(at, 'policies')
    // The bind key as the gateway separates listeners with equal names on other ports.
    listeners.addListener({
      key,
      bindKey,
      namespace,
      gateway: bindKey,
      name,
      hostname,
      protocol,
      tls,
      path: at,
      policies,
      policiesPath,
    })
    addRoutes(listener, { key, path: at }, registries, context)
  }
}

/** HBONE is the protocol of the listeners: a bind that names it must have no others. */
function ownOf(
  { mode = 'standard', tunnelProtocol = 'direct', listeners }: BindFields,
  path: string,
  context: BuildContext,
): Pick<Bind, 'mode' | 'tunnelProtocol'> {
  const at = pathTo(path, 'tunnelProtocol')
  const protocols = listeners.map(({ protocol = 'HTTP' }) => protocol)
  if (tunnelProtocol === 'hboneGateway' && protocols.some((protocol) => protocol !== 'HBONE')) {
    context.error(at, 'hboneGateway needs listeners with protocol HBONE; the other ports of the file get their tunnels')
  }
  if (tunnelProtocol === 'proxy' || tunnelProtocol === 'connect') {
    if (protocols.includes('HBONE')) context.error(at, `${tunnelProtocol} cannot be combined with protocol HBONE`)
    else if (tunnelProtocol === 'connect' && protocols.some((protocol) => protocol === 'TLS' || protocol === 'TCP')) {
      context.error(at, 'connect needs listeners with protocol HTTP or HTTPS, because CONNECT is a request')
    }
  }
  return defined({ mode: OWN_MODES[mode], tunnelProtocol: OWN_WAYS[tunnelProtocol] })
}

function addRoutes(
  listener: BindFields['listeners'][number],
  { key, path }: { readonly key: string; readonly path: string },
  registries: Registries,
  context: BuildContext,
): void {
  const { routes = [], tcpRoutes = [] } = listener
  if (listener.protocol === 'HBONE' && routes.length + tcpRoutes.length > 0) {
    context.error(
      pathTo(path, routes.length > 0 ? 'routes' : 'tcpRoutes'),
      'HBONE has none; set them on the ports that tunnels lead to',
    )
    return
  }
  const isHttp = registries.listeners.ofKind([key], true).length > 0
  if (isHttp && tcpRoutes.length > 0) context.error(pathTo(path, 'tcpRoutes'), 'the listener serves HTTP; use routes')
  if (!isHttp && routes.length > 0)
    context.error(pathTo(path, 'routes'), 'the listener forwards plain TCP; use tcpRoutes')
  for (const [position, route] of routes.entries()) {
    registries.routes.add(route, { path: pathTo(path, 'routes', position), listenerKeys: [key] })
  }
  for (const [position, route] of tcpRoutes.entries()) {
    registries.tcpRoutes.add(route, { path: pathTo(path, 'tcpRoutes', position), listenerKeys: [key] })
  }
}
