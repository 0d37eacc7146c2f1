// A configuration dump as tables: listeners, routes, backends, active policies and fetched credentials. Pure.
import { fieldsOf, type Dump } from './backends.ts'
import { givenName } from './given-names.ts'
import { backendText, listenersOf, protocolOf, routeRows, targetText } from './rows.ts'
import { table } from './table.ts'

export function summaryOf(dump: Dump, isWide = false): string {
  const parts = [
    listenersTable(dump),
    routesTable(dump, isWide),
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
    policiesTable(dump, isWide),
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

export function routesTable(dump: Dump, isWide = false): string {
  const head = ['ROUTE', 'NAMESPACE', 'RULE', 'LISTENER', 'HOSTNAMES', 'BACKENDS']
  return table(
    isWide ? [...head, 'MATCHES', 'POLICIES'] : head,
    routeRows(dump).map(({ listener, ...route }) => [
      givenName(route.name),
      route.namespace,
      'ruleName' in route ? (route.ruleName ?? '') : '',
      listener,
      (route.hostnames ?? ['*']).join(','),
      (route.backends ?? []).map(backendText).join(', '),
      ...(isWide ? wideCells(route) : []),
    ]),
  )
}

/** Routes of TCP have neither matches nor policies. */
function wideCells(route: object): string[] {
  const { matches, inlinePolicies } = fieldsOf(route)
  const texts = Array.isArray(matches) ? matches.map(matchText) : []
  return [texts.join(', '), Object.keys(fieldsOf(inlinePolicies)).join(',')]
}

/** `GET /cart/* header:x-user query:page`: an exact path has no star, and `~` precedes a regular expression. */
function matchText(match: unknown): string {
  const { method, path, headers, query } = fieldsOf(match)
  const { exact, pathPrefix, regex } = fieldsOf(path)
  const paths = [
    exact,
    typeof pathPrefix === 'string' ? prefixText(pathPrefix) : undefined,
    typeof regex === 'string' ? `~${regex}` : undefined,
  ]
  const names = (kind: string, values: unknown): string[] =>
    Array.isArray(values) ? values.map((value) => `${kind}:${String(fieldsOf(value)['name'])}`) : []
  return [method, ...paths, ...names('header', headers), ...names('query', query)]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' ')
}

function prefixText(prefix: string): string {
  return prefix.endsWith('/') ? `${prefix}*` : `${prefix}/*`
}

export function policiesTable({ policies }: Dump, isWide = false): string {
  const head = ['POLICY', 'SECTION', 'FIELDS', 'TARGET']
  return table(
    isWide ? [...head, 'OBJECT'] : head,
    policies.map(({ key, name, policy, target }) => {
      const [section = '', payload] = Object.entries(fieldsOf(policy))[0] ?? []
      const object = name === null ? '' : `${name.kind} ${name.namespace}/${name.name}`
      const cells = [key, section, Object.keys(fieldsOf(payload)).join(','), targetText(target)]
      return isWide ? [...cells, object] : cells
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
