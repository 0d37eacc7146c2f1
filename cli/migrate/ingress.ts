// Ingresses as Gateways, HTTPRoutes and GwPolicies. What has no equal is a finding. Pure.
import { isRecord, recordOf, type JsonRecord } from '#api/json.ts'
import { type Finding, type Settings, settingsOf } from './annotations.ts'

export interface MigratedIngress {
  readonly namespace: string
  readonly routes: readonly object[]
  readonly policies: readonly object[]
  readonly listeners: readonly Listener[]
  readonly findings: readonly Finding[]
}

/** An HTTPS listener of the Gateway; all have the HTTP listener. */
interface Listener {
  readonly hostname: string | undefined
  readonly secret: string
}

export interface MigrateOptions {
  /** Name of the Gateway in each namespace. */
  readonly gateway: string
  /** The number of a named port of a Service; undefined: the Service is not among the files. */
  readonly portOf: (service: {
    readonly namespace: string
    readonly name: string
    readonly port: string
  }) => number | undefined
}

const GATEWAY_API = 'gateway.networking.k8s.io'
const HTTP = 'http'
/** `/api(/|$)(.*)` with the target `/$2`: the usual way to remove a prefix. */
const PREFIX_IDIOM = /^(\/[^()[\]*+?.\\|$]*)\(\/\|\$\)\(\.\*\)$/
const TAIL_TARGET = /^(\/[^$]*?)?\/?\$2$/

export function migrateIngress(ingress: JsonRecord, options: MigrateOptions): MigratedIngress {
  const metadata = recordOf(ingress['metadata'])
  const { name: given, namespace: inNamespace } = metadata
  const name = typeof given === 'string' ? given : 'unnamed'
  const namespace = typeof inNamespace === 'string' ? inNamespace : 'default'
  const spec = recordOf(ingress['spec'])
  const settings = settingsOf(recordOf(metadata['annotations']))
  const place = { ...options, name, namespace, settings }
  if (settings.findings.some(({ severity }) => severity === 'error')) {
    return { namespace, routes: [], policies: [], listeners: [], findings: settings.findings }
  }
  const listeners = listenersOf(spec)
  const findings: Finding[] = [...settings.findings]
  const note = (finding: Finding): void => void findings.push(finding)
  const isEncrypted = (host: string | undefined): boolean =>
    listeners.some(({ hostname }) => hostname === undefined || hostname === host)
  const routes = hostsOf(spec).flatMap((entry, index) => {
    const own = entry.isDefault
      ? { ...settings, hasRegex: false, rewriteTarget: undefined, appRoot: undefined }
      : settings
    const route = { ...place, settings: own, name: index === 0 ? name : `${name}-${index}`, host: entry.host, note }
    const rules = rulesOf(entry, route)
    if (rules.length === 0) return []
    const redirects = settings.redirectsToHttps ?? isEncrypted(entry.host)
    if (!redirects || !isEncrypted(entry.host)) return [routeObject(route, { rules })]
    const sections = listeners
      .filter(({ hostname }) => hostname === undefined || hostname === entry.host)
      .map(({ hostname }) => listenerName(hostname))
    const toHttps = { type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 308 } }
    return [
      routeObject(route, { rules, sections }),
      routeObject({ ...route, name: `${route.name}-to-https` }, { rules: [{ filters: [toHttps] }], sections: [HTTP] }),
    ]
  })
  return { namespace, routes, policies: policiesOf(place, routes), listeners, findings }
}

/** The Gateway of all Ingresses of a namespace. */
export function gatewayObject(name: string, namespace: string, listeners: readonly Listener[]): object {
  const allowedRoutes = { namespaces: { from: 'Same' } }
  return {
    apiVersion: `${GATEWAY_API}/v1`,
    kind: 'Gateway',
    metadata: { name, namespace },
    spec: {
      gatewayClassName: 'gw',
      listeners: [
        { name: HTTP, port: 80, protocol: 'HTTP', allowedRoutes },
        ...listeners.map(({ hostname, secret }) => ({
          name: listenerName(hostname),
          port: 443,
          protocol: 'HTTPS',
          ...(hostname !== undefined && { hostname }),
          tls: { mode: 'Terminate', certificateRefs: [{ name: secret }] },
          allowedRoutes,
        })),
      ],
    },
  }
}

function listenerName(hostname: string | undefined): string {
  return hostname === undefined ? 'https' : `https-${hostname.replace('*', 'any')}`
}

function listenersOf(spec: JsonRecord): Listener[] {
  return recordsOf(spec['tls']).flatMap(({ hosts, secretName }) => {
    const names: readonly unknown[] = Array.isArray(hosts) && hosts.length > 0 ? hosts : [undefined]
    if (typeof secretName !== 'string') return []
    return names.map((host) => ({ hostname: typeof host === 'string' ? host : undefined, secret: secretName }))
  })
}

interface HostEntry {
  readonly host: string | undefined
  /** The default backend, whose paths are not rewritten. */
  readonly isDefault: boolean
  /** Field of the Ingress. */
  readonly field: string
  readonly paths: readonly JsonRecord[]
}

function hostsOf(spec: JsonRecord): HostEntry[] {
  const rules = recordsOf(spec['rules']).map(({ host, http }, index) => ({
    host: typeof host === 'string' ? host : undefined,
    isDefault: false,
    field: `spec.rules[${index}].http.paths`,
    paths: recordsOf(recordOf(http)['paths']),
  }))
  if (!isRecord(spec['defaultBackend'])) return rules
  const backend = { path: '/', pathType: 'Prefix', backend: spec['defaultBackend'] }
  return [...rules, { host: undefined, isDefault: true, field: 'spec.defaultBackend', paths: [backend] }]
}

interface RoutePlace extends MigrateOptions {
  readonly name: string
  readonly namespace: string
  readonly host: string | undefined
  readonly settings: Settings
  readonly note: (finding: Finding) => void
}

function rulesOf({ field, paths }: HostEntry, place: RoutePlace): object[] {
  const { appRoot, redirect } = place.settings
  const root =
    appRoot === undefined
      ? []
      : [
          {
            matches: [{ path: { type: 'Exact', value: '/' } }],
            filters: [
              {
                type: 'RequestRedirect',
                requestRedirect: { path: { type: 'ReplaceFullPath', replaceFullPath: appRoot }, statusCode: 302 },
              },
            ],
          },
        ]
  const rules = paths.flatMap((path, index): object[] => {
    const { match, rewrite } = matchOf(path, { ...place, field: `${field}[${index}]` })
    const matches = [{ path: match }]
    if (redirect !== undefined) return [{ matches, filters: [{ type: 'RequestRedirect', requestRedirect: redirect }] }]
    const backend = backendOf(recordOf(path['backend']), { ...place, field: `${field}[${index}].backend` })
    const filters = [...withRewrite(place.settings.filters, rewrite)]
    return backend === undefined ? [] : [{ matches, ...(filters.length > 0 && { filters }), backendRefs: [backend] }]
  })
  return [...root, ...rules]
}

/** A rule has one URLRewrite filter. */
function withRewrite(filters: readonly object[], rewrite: object | undefined): readonly object[] {
  if (rewrite === undefined) return filters
  const other = filters.find((filter) => 'urlRewrite' in filter)
  const host = other !== undefined && 'urlRewrite' in other ? recordOf(other.urlRewrite) : {}
  const urlRewrite = { type: 'URLRewrite', urlRewrite: { ...host, path: rewrite } }
  return [urlRewrite, ...filters.filter((filter) => filter !== other)]
}

type Placed = RoutePlace & { readonly field: string }

interface Matched {
  readonly match: object
  /** `path` of an URLRewrite filter. */
  readonly rewrite: object | undefined
}

function matchOf({ path, pathType }: JsonRecord, place: Placed): Matched {
  const { settings, note, field } = place
  const { hasRegex, rewriteTarget: target } = settings
  const value = typeof path === 'string' && path !== '' ? path : '/'
  const idiom = withoutPrefix(value, target)
  if (idiom !== undefined) return idiom
  const rewrite = fullRewrite(place)
  if (hasRegex && pathType !== 'Exact') {
    // nginx compares without case, from the start of the path on.
    return { match: { type: 'RegularExpression', value: `(?i)${value}.*` }, rewrite }
  }
  if (pathType === 'ImplementationSpecific' && value !== '/') {
    note({
      path: field,
      severity: 'warning',
      message: `nginx also serves ${value}more; PathPrefix matches whole segments`,
    })
  }
  return { match: { type: pathType === 'Exact' ? 'Exact' : 'PathPrefix', value }, rewrite }
}

/** undefined: not the usual way to remove a prefix. */
function withoutPrefix(path: string, target = ''): Matched | undefined {
  const [, prefix] = PREFIX_IDIOM.exec(path) ?? []
  const [isTail, head = ''] = TAIL_TARGET.exec(target) ?? []
  if (prefix === undefined || isTail === undefined) return undefined
  const rewrite = { type: 'ReplacePrefixMatch', replacePrefixMatch: head === '' ? '/' : head }
  return { match: { type: 'PathPrefix', value: prefix }, rewrite }
}

function fullRewrite({ settings: { rewriteTarget: target }, note, field }: Placed): object | undefined {
  if (target?.includes('$') !== true) {
    return target === undefined ? undefined : { type: 'ReplaceFullPath', replaceFullPath: target }
  }
  note({ path: field, severity: 'warning', message: `the rewrite to ${target} is not migrated; use a transformation` })
  return undefined
}

function backendOf({ service }: JsonRecord, { namespace, portOf, note, field }: Placed): object | undefined {
  const { name, port } = recordOf(service)
  const { number, name: portName } = recordOf(port)
  if (typeof name !== 'string') {
    note({ path: field, severity: 'error', message: 'the rule is left out: only Services can be backends' })
    return undefined
  }
  if (typeof number === 'number') return { name, port: number }
  const found = portOf({ namespace, name, port: String(portName) })
  if (found !== undefined) return { name, port: found }
  const message = `the rule is left out: add the Service ${name} to the files, whose port ${String(portName)} has the number`
  note({ path: field, severity: 'error', message })
  return undefined
}

function routeObject(
  { name, namespace, host, gateway }: Pick<RoutePlace, 'name' | 'namespace' | 'host' | 'gateway'>,
  { rules, sections }: { readonly rules: readonly object[]; readonly sections?: readonly string[] },
): object {
  const parents = sections?.map((sectionName) => ({ name: gateway, sectionName })) ?? [{ name: gateway }]
  return {
    apiVersion: `${GATEWAY_API}/v1`,
    kind: 'HTTPRoute',
    metadata: { name, namespace },
    spec: { parentRefs: parents, ...(host !== undefined && { hostnames: [host] }), rules },
  }
}

/** Redirects to HTTPS have no policy: the route with the backends decides. */
function policiesOf(
  { name, namespace, settings: { traffic } }: Omit<RoutePlace, 'host' | 'note'>,
  routes: readonly object[],
): object[] {
  if (Object.keys(traffic).length === 0 || routes.length === 0) return []
  const names = routes.map((route) => String(recordOf(recordOf(route)['metadata'])['name']))
  const targetRefs = names
    .filter((route) => !route.endsWith('-to-https'))
    .map((route) => ({ group: GATEWAY_API, kind: 'HTTPRoute', name: route }))
  return [
    { apiVersion: 'gw.dev/v1alpha1', kind: 'GwPolicy', metadata: { name, namespace }, spec: { targetRefs, traffic } },
  ]
}

function recordsOf(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
