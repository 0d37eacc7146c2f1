// The units of merging, from the text of the specification, with values that identify their policy. No merging.

/** A valid line of htpasswd; the status reports others. */
const USER = 'a:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='

/** Six digits beginning with 1: found again in every translation of a value. */
export type Mark = number

export interface Unit {
  readonly section: 'traffic' | 'backend' | 'frontend'
  /** In the section of a GwPolicy. */
  readonly path: string
  /** In the effective policies of the proxy. */
  readonly effective: string
  readonly value: (mark: Mark) => unknown
  /** The values of all levels apply. */
  readonly accumulates?: true
  /** Traffic that may influence routing. */
  readonly isPreRouting?: true
  /** Targets that the API rejects for it. */
  readonly refuses?: ReadonlySet<string>
}

const traffic = (unit: Omit<Unit, 'section'>): Unit => ({ section: 'traffic', ...unit })
const backend = (unit: Omit<Unit, 'section'>): Unit => ({ section: 'backend', ...unit })
const frontend = (unit: Omit<Unit, 'section'>): Unit => ({ section: 'frontend', ...unit })

const SERVICE = new Set(['Service', 'Service#'])
const SERVICE_AND_PROVIDER = new Set([...SERVICE, 'GwBackend#'])
const LISTENER = new Set(['Gateway#'])

const NO_HTTP_ROUTE = new Set(['Gateway', 'ListenerSet', 'GRPCRoute'].flatMap((kind) => [kind, `${kind}#`]))
const SERVICE_REF = { backendRef: { name: 'svc', namespace: 'n', port: 80 } }

const setHeader = (mark: Mark): unknown => ({ set: [{ name: 'x-mark', value: String(mark) }] })
const evaluateHeader = (mark: Mark): unknown => ({ request: { set: [{ name: 'x-mark', value: `"${mark}"` }] } })
/** Numbers of a duration have five digits at most. */
const milliseconds = (mark: Mark): string => `${Math.floor(mark / 1000)}s${mark % 1000}ms`
const allow = (mark: Mark): unknown => ({ action: 'Allow', policy: { matchExpressions: [`${mark} == ${mark}`] } })

export const UNITS: readonly Unit[] = [
  traffic({ path: 'cors', effective: 'cors', value: (maxAge) => ({ maxAge }), isPreRouting: true }),
  traffic({ path: 'csrf', effective: 'csrf', value: (mark) => ({ additionalOrigins: [`https://h${mark}.example`] }) }),
  traffic({ path: 'rateLimit.local', effective: 'rateLimit', value: (requests) => [{ requests, unit: 'Hours' }] }),
  traffic({
    path: 'rateLimit.global',
    effective: 'rateLimitGlobal',
    value: (mark) => ({
      ...SERVICE_REF,
      domain: `d${mark}`,
      descriptors: [{ entries: [{ name: 'path', expression: 'request.path' }] }],
    }),
  }),
  traffic({ path: 'headerModifiers.request', effective: 'requestHeaderModifier', value: setHeader }),
  traffic({ path: 'headerModifiers.response', effective: 'responseHeaderModifier', value: setHeader }),
  traffic({ path: 'transformation', effective: 'transformation', value: evaluateHeader, isPreRouting: true }),
  traffic({ path: 'buffer', effective: 'buffer', value: (mark) => ({ request: { maxBytes: String(mark) } }) }),
  traffic({ path: 'directResponse', effective: 'directResponse', value: (m) => ({ status: 200, body: String(m) }) }),
  traffic({
    path: 'timeouts',
    effective: 'timeouts',
    value: (mark) => ({ request: milliseconds(mark) }),
    refuses: NO_HTTP_ROUTE,
  }),
  traffic({ path: 'retry', effective: 'retry', value: (m) => ({ attempts: 1, condition: `response.code == ${m}` }) }),
  traffic({ path: 'delay', effective: 'delay', value: (mark) => ({ duration: milliseconds(mark) }) }),
  traffic({
    path: 'jwtAuthentication',
    effective: 'jwtAuthentication',
    value: (mark) => ({ providers: [{ issuer: `i${mark}`, jwks: { inline: '{"keys":[]}' } }] }),
    isPreRouting: true,
  }),
  traffic({
    path: 'basicAuthentication',
    effective: 'basicAuthentication',
    // Another place than tokens: otherwise both could not be set.
    value: (mark) => ({ users: [USER], realm: `r${mark}`, location: { cookie: { name: 'login' } } }),
    isPreRouting: true,
  }),
  traffic({
    path: 'apiKeyAuthentication',
    effective: 'apiKeyAuthentication',
    value: (m) => ({ secretRef: { name: 'keys' }, location: { cookie: { name: `k${m}` } } }),
    isPreRouting: true,
  }),
  traffic({
    path: 'extAuth',
    effective: 'extAuth',
    value: (m) => ({ ...SERVICE_REF, http: { path: `"/${m}"` } }),
    isPreRouting: true,
  }),
  traffic({
    path: 'extProc',
    effective: 'extProc',
    value: (m) => ({ ...SERVICE_REF, requestAttributes: { mark: `"${m}"` } }),
    isPreRouting: true,
  }),
  traffic({ path: 'authorization', effective: 'authorization', value: allow, accumulates: true, isPreRouting: true }),

  backend({ path: 'http', effective: 'http', value: (mark) => ({ requestTimeout: milliseconds(mark) }) }),
  backend({ path: 'tcp', effective: 'tcp', value: (mark) => ({ connectTimeout: milliseconds(mark) }) }),
  backend({ path: 'health', effective: 'health', value: (m) => ({ unhealthyCondition: `response.code == ${m}` }) }),
  backend({ path: 'transformation', effective: 'transformation', value: evaluateHeader }),
  backend({ path: 'tls', effective: 'tls', value: (mark) => ({ sni: `h${mark}.example` }) }),
  backend({
    path: 'auth',
    effective: 'auth',
    value: (mark) => ({ key: 'word', location: { header: { name: `x-${mark}` } } }),
  }),
  backend({
    path: 'tunnel',
    effective: 'tunnel',
    value: (m) => ({ backendRef: { group: 'gw.dev', kind: 'GwBackend', name: tunnelProxy(m) } }),
  }),
  backend({ path: 'extAuth', effective: 'extAuth', value: (m) => ({ ...SERVICE_REF, http: { path: `"/${m}"` } }) }),
  backend({
    path: 'ai.modelAliases',
    effective: 'ai.modelAliases',
    value: (m) => ({ a: String(m) }),
    refuses: SERVICE,
  }),
  backend({
    path: 'ai.defaults',
    effective: 'ai.defaults',
    value: (m) => [{ field: 'f', value: m }],
    refuses: SERVICE,
  }),
  backend({ path: 'ai.routes', effective: 'ai.routes', value: (m) => ({ [`/${m}`]: 'Messages' }), refuses: SERVICE }),
  backend({
    path: 'mcp.authorization',
    effective: 'mcpAuthorization',
    value: allow,
    accumulates: true,
    refuses: SERVICE_AND_PROVIDER,
  }),

  frontend({
    path: 'metrics',
    effective: 'metrics',
    value: (mark) => ({ attributes: { add: [{ name: 'mark', expression: `"${mark}"` }] } }),
  }),
  frontend({ path: 'accessLog', effective: 'accessLog', value: (m) => ({ filter: `response.code == ${m}` }) }),
  frontend({
    path: 'tracing',
    effective: 'tracing',
    value: (m) => ({ ...SERVICE_REF, filter: `response.code == ${m}` }),
  }),
  frontend({
    path: 'tcp',
    effective: 'tcp',
    value: (mark) => ({ keepalive: { time: milliseconds(mark), interval: '1s' } }),
    refuses: LISTENER,
  }),
  frontend({
    path: 'tls',
    effective: 'tls',
    value: (mark) => ({ handshakeTimeout: milliseconds(mark) }),
    refuses: LISTENER,
  }),
  frontend({ path: 'http', effective: 'http', value: (m) => ({ maxBufferSize: String(m) }), refuses: LISTENER }),
  frontend({
    path: 'networkAuthorization',
    effective: 'networkAuthorization',
    value: allow,
    accumulates: true,
    refuses: LISTENER,
  }),
]

/** Fields that are not units here, because their values cannot hold a mark: whole-fields.test.ts covers them. */
export const NO_UNIT: ReadonlySet<string> = new Set([
  'traffic.hostRewrite',
  'frontend.proxyProtocol',
  'frontend.connect',
])

/** The GwBackend of a tunnel with this mark. */
export function tunnelProxy(mark: Mark): string {
  return `via${mark}`
}

/** `{ section: { path: value } }` of several units. */
export function sectionsOf(units: readonly Unit[], mark: Mark): Record<string, unknown> {
  const sections: Record<string, unknown> = {}
  for (const { section, path, value } of units) {
    const [field = '', below] = path.split('.')
    const own = childOf(sections, section)
    if (below === undefined) own[field] = value(mark)
    else childOf(own, field)[below] = value(mark)
  }
  return sections
}

function childOf(parent: Record<string, unknown>, name: string): Record<string, unknown> {
  // Only this function and the one above write here, and they write objects.
  const child = (parent[name] ?? {}) as Record<string, unknown>
  parent[name] = child
  return child
}

/** All marks in a value, each once: two in one value mean that it was mixed from two. */
export function marksIn(value: unknown): Mark[] {
  const found = (JSON.stringify(value) ?? '').match(/(?<!\d)1\d{5}(?!\d)/g) ?? []
  return [...new Set(found.map(Number))].sort((a, b) => a - b)
}
