// Listeners, routes and the names of targets in a configuration dump, for tables and the web UI. Pure.
import { givenReference } from './given-names.ts'
import { fieldsOf, type Dump } from './backends.ts'

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

/** Each route with the listener that serves it. */
export function routeRows(dump: Dump): ({ readonly address: string; readonly listener: string } & Route)[] {
  return listenersOf(dump).flatMap(({ address, listener }) =>
    [...Object.values(listener.routes), ...Object.values(listener.tcpRoutes)].map((route) => ({
      address,
      listener: listener.listenerName,
      ...route,
    })),
  )
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

function targetOf({ backend, service, invalid }: Readonly<Record<string, unknown>>): string {
  if (typeof backend === 'string') return givenReference(backend)
  const { name, port } = fieldsOf(service)
  if (typeof name === 'string') return `${name}:${String(port)}`
  return invalid === undefined ? 'none' : 'invalid'
}

export function targetText(target: unknown): string {
  const [kind = '', place] = Object.entries(fieldsOf(target))[0] ?? []
  return `${kind} ${Object.values(fieldsOf(place))
    .filter((part) => typeof part !== 'object')
    .map(String)
    .join('/')}`
}
