// Listeners, routes and the names of targets in a configuration dump, for tables and the web UI. Pure.
import { givenName, givenReference } from './given-names.ts'
import { fieldsOf, textOf, type Dump } from './backends.ts'

type Listener = Dump['binds'][number]['listeners'][string]

export interface BoundListener {
  /** Key of the bind. */
  readonly bind: string
  readonly address: string
  readonly listener: Listener
}

export function listenersOf({ binds }: Dump): BoundListener[] {
  return binds.flatMap(({ key: bind, address, listeners }) =>
    Object.values(listeners).map((listener) => ({ bind, address, listener })),
  )
}

type Route = Listener['routes'][string] | Listener['tcpRoutes'][string]

export type RouteRow = { readonly address: string; readonly listener: string } & Route

/** Each route with the listener that serves it; those that get requests from other routes have no address. */
export function routeRows(dump: Dump): RouteRow[] {
  const served = listenersOf(dump).flatMap(({ address, listener }) =>
    [...Object.values(listener.routes), ...Object.values(listener.tcpRoutes)].map((route) => ({
      address,
      listener: listener.listenerName,
      ...route,
    })),
  )
  return [...served, ...delegatedRows(dump)]
}

/** Dumps of older versions have no groups. */
function delegatedRows({ routes }: Partial<Pick<Dump, 'routes'>>): RouteRow[] {
  return Object.entries(fieldsOf(routes?.routeGroups)).flatMap(([group, members]) =>
    // As proxy/admin/config-dump.ts writes them.
    Object.values(fieldsOf(members) as Record<string, Route>).map((route) => ({
      address: '',
      listener: delegatedText(group),
      ...route,
    })),
  )
}

function delegatedText(group: string): string {
  return `delegated (${group})`
}

/** The protocol of a TLS listener is an object whose only key is the protocol. */
export function protocolOf({ protocol }: Pick<Listener, 'protocol'>): string {
  return typeof protocol === 'string' ? protocol : (Object.keys(fieldsOf(protocol))[0] ?? '')
}

export function backendText(backend: object): string {
  const { weight } = fieldsOf(backend)
  const target = targetOf(fieldsOf(backend))
  return weight === 1 ? target : `${target} (${String(weight)})`
}

function targetOf({ backend, service, invalid, routeGroup }: Readonly<Record<string, unknown>>): string {
  if (typeof backend === 'string') return givenReference(backend)
  if (typeof routeGroup === 'string') return delegatedText(routeGroup)
  const { name, port } = fieldsOf(service)
  if (typeof name === 'string') return `${name}:${String(port)}`
  return invalid === undefined ? 'none' : 'invalid'
}

/** Of a policy with many targets. */
const TARGETS_MAX = 3

/** `HTTPRoute shop/cart, rule items`, `Gateway shop/web, listener https`; several are separated by a semicolon. */
export function targetText(target: unknown): string {
  const [kind = '', place] = Object.entries(fieldsOf(target))[0] ?? []
  if (kind === 'several' && Array.isArray(place)) {
    const more = place.length - TARGETS_MAX
    const texts = place.slice(0, TARGETS_MAX).map(targetText)
    return [...texts, ...(more > 0 ? [`${more} more`] : [])].join('; ')
  }
  const fields = fieldsOf(place)
  // The dump puts Services and backends below `backend`.
  const inner = kind === 'backend' ? Object.keys(fields)[0] : undefined
  if (inner === 'service' || inner === 'backend') return placeText(inner, fieldsOf(fields[inner]))
  return placeText(kind, fields)
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['gateway', 'Gateway'],
  ['listenerSet', 'ListenerSet'],
  ['service', 'Service'],
])
const PARTS = [
  ['listener', 'listener'],
  ['section', 'section'],
  ['ruleName', 'rule'],
  ['port', 'port'],
] as const

function placeText(kind: string, fields: Readonly<Record<string, unknown>>): string {
  const name = kind === 'backend' ? givenName(textOf(fields['name'])) : textOf(fields['name'])
  const own = kind === 'service' ? textOf(fields['hostname']) : `${textOf(fields['namespace'])}/${name}`
  const parts = PARTS.flatMap(([field, word]) => {
    const value = fields[field]
    return typeof value === 'string' || typeof value === 'number' ? [`${word} ${value}`] : []
  })
  return [`${textOf(fields['kind']) || (KINDS.get(kind) ?? kind)} ${own}`, ...parts].join(', ')
}
