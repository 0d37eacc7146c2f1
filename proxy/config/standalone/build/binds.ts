// The `binds` form: ports with their listeners, and listeners with their routes.
import { pathTo } from '../field-path.ts'
import type { BindFields } from '../schema/file.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import type { ListenerRegistry } from './listeners.ts'
import type { RouteRegistry } from './routes.ts'

export interface Registries {
  readonly listeners: ListenerRegistry
  readonly routes: RouteRegistry
}

/** Of listeners without one; they belong to no gateway. */
const GATEWAY = 'default'

export function addBind(
  fields: BindFields,
  path: string,
  { listeners, routes }: Registries,
  context: BuildContext,
): void {
  const bindKey = listeners.addPort(fields.port, pathTo(path, 'port'))
  const names = new Set<string>()
  for (const [index, listener] of fields.listeners.entries()) {
    const at = pathTo(path, 'listeners', index)
    const { namespace = DEFAULT_NAMESPACE, hostname, policies = {} } = listener
    const name = listener.name ?? `listener${index}`
    if (names.has(name)) context.error(pathTo(at, 'name'), `the name ${name} is already used in this bind`)
    names.add(name)
    const key = `${namespace}/${GATEWAY}/${bindKey}/listener${index}`
    const policiesPath = pathTo(at, 'policies')
    // The key of the bind as gateway keeps listeners of equal names on other ports apart.
    listeners.addListener({
      key,
      bindKey,
      namespace,
      gateway: bindKey,
      name,
      hostname,
      path: at,
      policies,
      policiesPath,
    })
    for (const [position, route] of (listener.routes ?? []).entries()) {
      routes.add(route, { path: pathTo(at, 'routes', position), listenerKeys: [key] })
    }
  }
}
