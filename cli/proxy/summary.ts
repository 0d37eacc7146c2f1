// A configuration dump as tables: listeners, routes, backends, active policies and fetched credentials. Pure.
import { fieldsOf, type Dump } from './backends.ts'
import { givenName } from './given-names.ts'
import { backendText, listenersOf, protocolOf, routeRows, targetText } from './rows.ts'
import { table } from './table.ts'

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
