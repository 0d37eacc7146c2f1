// A configuration dump as tables: listeners, routes, backends, active policies and fetched credentials. Pure.
import { givenName, givenReference } from './given-names.ts'
import { fieldsOf, type Dump } from './backends.ts'
import { table } from './table.ts'

type Listener = Dump['binds'][number]['listeners'][string]

export function summaryOf(dump: Dump): string {
  const parts = [
    listenersTable(dump),
    routesTable(dump),
    table(
      ['BACKEND', 'KIND'],
      dump.backends.flatMap(({ backend }) =>
        Object.entries(fieldsOf(backend)).map(([kind, variant]) => {
          const { name, namespace, section } = fieldsOf(variant)
          const given = givenName(String(name), typeof section === 'string' ? section : undefined)
          return [`${String(namespace)}/${given}`, kind]
        }),
      ),
    ),
    policiesTable(dump),
    ...credentialsTable(dump),
  ]
  return parts.join('\n')
}

function listenersOf({ binds }: Dump): { readonly address: string; readonly listener: Listener }[] {
  return binds.flatMap(({ address, listeners }) => Object.values(listeners).map((listener) => ({ address, listener })))
}

function listenersTable(dump: Dump): string {
  return table(
    ['ADDRESS', 'GATEWAY', 'LISTENER', 'PROTOCOL', 'HOSTNAME', 'ROUTES'],
    listenersOf(dump).map(({ address, listener }) => [
      address,
      `${listener.gatewayNamespace}/${listener.gatewayName}`,
      listener.listenerName,
      protocolOf(listener),
      listener.hostname === '' ? '*' : listener.hostname,
      String(Object.keys(listener.routes).length + Object.keys(listener.tcpRoutes).length),
    ]),
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

export function routesTable(dump: Dump): string {
  return table(
    ['ROUTE', 'NAMESPACE', 'RULE', 'LISTENER', 'HOSTNAMES', 'BACKENDS'],
    routeRows(dump).map(({ listener, ...route }) => [
      givenName(route.name),
      route.namespace,
      'ruleName' in route ? (route.ruleName ?? '') : '',
      listener,
      (route.hostnames ?? ['*']).join(','),
      (route.backends ?? []).map(backendText).join(', '),
    ]),
  )
}

export function policiesTable({ policies }: Dump): string {
  return table(
    ['POLICY', 'SECTION', 'FIELDS', 'TARGET'],
    policies.map(({ key, policy, target }) => {
      const [section = '', payload] = Object.entries(fieldsOf(policy))[0] ?? []
      return [key, section, Object.keys(fieldsOf(payload)).join(','), targetText(target)]
    }),
  )
}

/** Only of a proxy that has fetched some. Dumps of older versions have no list. */
function credentialsTable({ credentials = [] }: Partial<Pick<Dump, 'credentials'>>): string[] {
  if (credentials.length === 0) return []
  const rows = credentials.map(({ kind, owner, usedBy, tokens, firstExpiry = '-', lastError, failuresInRow }) => [
    kind,
    owner,
    usedBy.join(',') || '-',
    String(tokens),
    firstExpiry,
    lastError === undefined || failuresInRow === 0 ? '-' : lastError.message,
  ])
  return [table(['CREDENTIAL', 'OWNER', 'USED BY', 'VALID', 'FIRST EXPIRY', 'ERROR'], rows)]
}

/** The protocol of a TLS listener is an object whose only key is the protocol. */
function protocolOf({ protocol }: Listener): string {
  return typeof protocol === 'string' ? protocol : (Object.keys(fieldsOf(protocol))[0] ?? '')
}

function backendText(backend: object): string {
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

function targetText(target: unknown): string {
  const [kind = '', place] = Object.entries(fieldsOf(target))[0] ?? []
  return `${kind} ${Object.values(fieldsOf(place))
    .filter((part) => typeof part !== 'object')
    .map(String)
    .join('/')}`
}
