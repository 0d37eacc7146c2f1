// The `gateways` form: ports by name, and the listeners of a route.
import { hintFor } from '#api/nearest.ts'
import { pathTo } from '../field-path.ts'
import type { GatewayFields } from '../schema/listeners.ts'
import { DEFAULT_NAMESPACE, type BuildContext } from './context.ts'
import type { ListenerRegistry } from './listeners.ts'

/** The gateway of routes that name none. */
const DEFAULT_GATEWAY = 'default'
const POLICY_FIELDS = [
  'oidc',
  'jwtAuth',
  'authorization',
  'extAuthz',
  'extProc',
  'cors',
  'transformations',
  'basicAuth',
  'apiKey',
] as const

export interface Attachment {
  readonly gateways: string | readonly string[] | undefined
  /** Of the route. */
  readonly place: { readonly path: string; readonly isHttp?: boolean }
}

export interface SectionPlace {
  readonly gateways: Attachment['gateways']
  readonly hasPort: boolean
}

export class GatewayRegistry {
  readonly #context: BuildContext
  readonly #listeners: ListenerRegistry
  /** `gateway` selects all its listeners, `gateway/listener` selects one. */
  readonly #attachable = new Map<string, string[]>()

  constructor(context: BuildContext, listeners: ListenerRegistry) {
    this.#context = context
    this.#listeners = listeners
  }

  add(name: string, fields: GatewayFields): void {
    const path = pathTo('gateways', name)
    const bindKey = this.#listeners.addPort(fields.port, pathTo(path, 'port'))
    const key = `gateway/${name}`
    const common = { bindKey, namespace: DEFAULT_NAMESPACE, gateway: name }
    if (fields.listeners === undefined) {
      const own = { key, name: 'default', hostname: undefined, path, policies: policiesOf(fields), policiesPath: path }
      this.#listeners.addListener({ ...common, ...own, protocol: fields.protocol, tls: fields.tls })
      this.#attachable.set(name, [key])
      return
    }
    this.#refuseOwnFields(fields, path)
    const keys: string[] = []
    for (const [index, listener] of fields.listeners.entries()) {
      const at = pathTo(path, 'listeners', index)
      const listenerName = listener.name ?? `listener${index}`
      const listenerKey = `${key}/${listenerName}`
      if (keys.includes(listenerKey)) {
        this.#context.error(pathTo(at, 'name'), `the name ${listenerName} is already used in this gateway`)
      }
      keys.push(listenerKey)
      this.#attachable.set(`${name}/${listenerName}`, [listenerKey])
      const { hostname, protocol, tls } = listener
      const own = { key: listenerKey, name: listenerName, hostname, protocol, tls, path: at }
      this.#listeners.addListener({ ...common, ...own, policies: policiesOf(listener), policiesPath: at })
    }
    this.#attachable.set(name, keys)
  }

  /**
   * The gateways of a section that may have a port of its own: those it names, or the gateway `default` if it sets
   * neither names nor a port. undefined: it has its own port.
   */
  ofSection({ gateways, hasPort }: SectionPlace): Attachment['gateways'] {
    if (gateways !== undefined || hasPort) return gateways
    const keys = this.#attachable.get(DEFAULT_GATEWAY) ?? []
    return this.#listeners.ofKind(keys, true).length > 0 ? DEFAULT_GATEWAY : undefined
  }

  /** Listener keys that match the kind of route; unknown names and gateways of the other kind are reported. */
  listenersOf(gateways: Attachment['gateways'], { path, isHttp = true }: Attachment['place']): string[] {
    const keys = this.#listenersNamed(gateways, path)
    const fitting = this.#listeners.ofKind(keys, isHttp)
    if (keys.length > 0 && fitting.length === 0) {
      const cure = isHttp ? 'use tcpRoutes' : 'use routes'
      const speaks = isHttp ? 'forward plain TCP' : 'serve HTTP'
      this.#context.error(gateways === undefined ? path : pathTo(path, 'gateways'), `its listeners ${speaks}; ${cure}`)
    }
    return fitting
  }

  #listenersNamed(gateways: Attachment['gateways'], path: string): string[] {
    const names = gateways === undefined ? [DEFAULT_GATEWAY] : typeof gateways === 'string' ? [gateways] : gateways
    const keys = names.flatMap((name, index) => {
      const found = this.#attachable.get(name)
      if (found === undefined) {
        const at = gateways === undefined ? path : pathTo(path, 'gateways', ...(Array.isArray(gateways) ? [index] : []))
        this.#context.error(at, this.#unknown(name, gateways === undefined))
      }
      return found ?? []
    })
    return [...new Set(keys)]
  }

  #unknown(name: string, isDefault: boolean): string {
    const names = [...this.#attachable.keys()]
    if (isDefault) return `gateways is not set, and there is no gateway named ${name}; set gateways`
    const [gateway = '', listener] = name.split('/', 2)
    if (listener !== undefined && this.#attachable.has(gateway)) {
      const own = names.filter((one) => one.startsWith(`${gateway}/`))
      const cure = own.length === 0 ? `write ${gateway}` : hintFor(name, own, `there are: ${own.join(', ')}`)
      return `gateway ${gateway} has no listener named ${listener}; ${cure}`
    }
    const hint = hintFor(name, names, `there are: ${names.join(', ')}`)
    return `there is no gateway ${name}; ${names.length === 0 ? 'declare it in gateways' : hint}`
  }

  #refuseOwnFields(fields: GatewayFields, path: string): void {
    for (const field of ['protocol', 'tls', ...POLICY_FIELDS] as const) {
      if (fields[field] === undefined) continue
      this.#context.error(pathTo(path, field), 'must be set on each listener if listeners is set')
    }
  }
}

function policiesOf(fields: Pick<GatewayFields, (typeof POLICY_FIELDS)[number]>) {
  const { oidc, jwtAuth, authorization, extAuthz, extProc, cors, transformations, basicAuth, apiKey } = fields
  return { oidc, jwtAuth, authorization, extAuthz, extProc, cors, transformations, basicAuth, apiKey }
}
