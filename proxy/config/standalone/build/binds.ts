// The `binds` form: ports with their listeners, and listeners with their routes.
import { pathTo } from '../field-path.ts'
import type { BindFields } from '../schema/file.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import type { ListenerRegistry } from './listeners.ts'
import type { RouteRegistry } from './routes.ts'
import type { TcpRouteRegistry } from './tcp-routes.ts'

export interface Registries {
  readonly listeners: ListenerRegistry
  readonly routes: RouteRegistry
  readonly tcpRoutes: TcpRouteRegistry
}

/** For listeners without a gateway. */
const GATEWAY = 'default'

export function addBind(fields: BindFields, path: string, registries: Registries, context: BuildContext): void {
  const { listeners } = registries
  const isInternal = fields.mode === 'internal'
  const bindKey = listeners.addPort(fields.port, pathTo(path, 'port'), isInternal ? 'Internal' : undefined)
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

function addRoutes(
  { routes = [], tcpRoutes = [] }: BindFields['listeners'][number],
  { key, path }: { readonly key: string; readonly path: string },
  registries: Registries,
  context: BuildContext,
): void {
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
