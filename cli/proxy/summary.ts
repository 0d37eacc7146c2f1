// A configuration dump as tables: listeners, routes, backends, active policies and fetched credentials. Pure.
import { givenName, givenReference } from './given-names.ts'
import { fieldsOf, type Dump } from './backends.ts'
import { table } from './table.ts'

type Listener = Dump['binds'][number]['listeners'][string]

export function summaryOf(dump: Dump): string {
  const listeners = dump.binds.flatMap((bind) => Object.values(bind.listeners).map((listener) => ({ bind, listener })))
  const parts = [
    table(
      ['ADDRESS', 'GATEWAY', 'LISTENER', 'PROTOCOL', 'HOSTNAME', 'ROUTES'],
      listeners.map(({ bind, listener }) => [
        bind.address,
        `${listener.gatewayNamespace}/${listener.gatewayName}`,
        listener.listenerName,
        protocolOf(listener),
        listener.hostname === '' ? '*' : listener.hostname,
        String(Object.keys(listener.routes).length + Object.keys(listener.tcpRoutes).length),
      ]),
    ),
    table(
      ['ROUTE', 'NAMESPACE', 'RULE', 'LISTENER', 'HOSTNAMES', 'BACKENDS'],
      listeners.flatMap(({ listener }) =>
        [...Object.values(listener.routes), ...Object.values(listener.tcpRoutes)].map((route) => [
          givenName(route.name),
          route.namespace,
          'ruleName' in route ? (route.ruleName ?? '') : '',
          listener.listenerName,
          (route.hostnames ?? ['*']).join(','),
          (route.backends ?? []).map(backendText).join(', '),
        ]),
      ),
    ),
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
    table(
      ['POLICY', 'SECTION', 'FIELDS', 'TARGET'],
      dump.policies.map(({ key, policy, target }) => {
        const [section = '', payload] = Object.entries(fieldsOf(policy))[0] ?? []
        return [key, section, Object.keys(fieldsOf(payload)).join(','), targetText(target)]
      }),
    ),
    ...credentialsTable(dump),
  ]
  return parts.join('\n')
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
