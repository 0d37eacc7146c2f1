// Annotations of the nginx Ingress controller as filters of routes and fields of a GwPolicy. An annotation without an
// equal is reported, and one that protects the route stops its migration. Pure.

const PREFIX = 'nginx.ingress.kubernetes.io/'

export interface Finding {
  /** Field of the Ingress or of the file. */
  readonly path: string
  /** `error`: the Ingress or the rule is left out; the field stays in a standalone file, which is not valid with it. */
  readonly severity: 'error' | 'warning'
  readonly message: string
}

export interface Settings {
  /** Filters of every rule. */
  readonly filters: readonly object[]
  /** `spec.traffic` of a GwPolicy; empty: no policy. */
  readonly traffic: Readonly<Record<string, unknown>>
  /** Paths are regular expressions. */
  readonly hasRegex: boolean
  readonly rewriteTarget: string | undefined
  /** undefined: if the Ingress has TLS. */
  readonly redirectsToHttps: boolean | undefined
  /** A redirect in place of the backends. */
  readonly redirect: object | undefined
  readonly appRoot: string | undefined
  readonly findings: readonly Finding[]
}

type Annotations = ReadonlyMap<string, string>

/** Each of them rejects requests: without it, the route would serve what the Ingress does not. */
const PROTECTIONS: ReadonlyMap<string, string> = new Map([
  ['auth-url', 'add a GwPolicy with spec.traffic.extAuth'],
  ['auth-tls-secret', 'set spec.tls.frontend of the Gateway'],
  ['enable-global-auth', 'add a GwPolicy with spec.traffic.extAuth'],
  ['enable-modsecurity', 'Gw has no rules of ModSecurity; add spec.traffic.extProc or extAuth'],
  ['auth-secret-type', 'only the type auth-file can be migrated'],
])
const HINTS: ReadonlyMap<string, string> = new Map([
  ['affinity', 'Gw does not bind clients to a pod; keep sessions outside of the pods'],
  ['proxy-connect-timeout', 'set spec.backend.tcp.connectTimeout of a GwPolicy'],
  ['proxy-next-upstream', 'set spec.traffic.retry of a GwPolicy'],
  ['proxy-next-upstream-tries', 'set spec.traffic.retry of a GwPolicy'],
  ['proxy-buffering', 'remove it: Gw streams responses, and buffers them only with spec.traffic.buffer'],
  ['proxy-request-buffering', 'remove it: Gw streams requests, and buffers them only with spec.traffic.buffer'],
  ['server-alias', 'add the names to spec.hostnames of the HTTPRoute'],
  ['ssl-passthrough', 'use a TLSRoute at a listener with the protocol TLS and the mode Passthrough'],
  ['from-to-www-redirect', 'add an HTTPRoute for the other name with a RequestRedirect filter'],
  ['custom-headers', 'add a ResponseHeaderModifier filter'],
  ['proxy-read-timeout', 'set timeouts.backendRequest of the rule, which limits the whole response'],
  ['backend-protocol', 'set appProtocol of the Service port, or a BackendTLSPolicy for HTTPS'],
  ['configuration-snippet', 'no configuration of nginx can be used; look for a policy in docs/policies'],
  ['server-snippet', 'no configuration of nginx can be used; look for a policy in docs/policies'],
  ['custom-http-errors', 'Gw does not replace the responses of backends'],
  ['mirror-target', 'add a RequestMirror filter'],
])
/** Of other programs that read Ingresses, by the beginning of their names. */
const OTHER_PROGRAMS: readonly (readonly [prefix: string, cure: string])[] = [
  [
    'cert-manager.io/',
    'set it on the Gateway: cert-manager renews the certificate of an Ingress only as long as the Ingress exists',
  ],
  ['external-dns.alpha.kubernetes.io/', 'external-dns reads Gateways and HTTPRoutes with --source=gateway-httproute'],
]
/** They do nothing if they are `false`. */
const SWITCHES: ReadonlySet<string> = new Set(['canary', 'ssl-passthrough', 'from-to-www-redirect', 'service-upstream'])
/** Read together with others. */
const PARTS: ReadonlySet<string> = new Set(
  [
    'cors-allow-origin cors-allow-methods cors-allow-headers cors-expose-headers cors-allow-credentials cors-max-age',
    'auth-secret auth-realm permanent-redirect-code use-regex rewrite-target ssl-redirect force-ssl-redirect app-root',
    'limit-burst-multiplier canary-weight canary-weight-total canary-by-header canary-by-header-value',
    'canary-by-header-pattern canary-by-cookie affinity-mode affinity-canary-behavior session-cookie-name',
    'session-cookie-path session-cookie-domain session-cookie-expires session-cookie-max-age session-cookie-samesite',
    'session-cookie-secure session-cookie-change-on-failure session-cookie-conditional-samesite-none',
  ].flatMap((names) => names.split(' ')),
)
/** Defaults of the nginx Ingress controller. */
const UNSET = {
  origins: '*',
  methods: 'GET, PUT, POST, DELETE, PATCH, OPTIONS',
  headers:
    'DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization',
  maxAge: 1_728_000,
  burst: 5,
} as const

/** `all`: annotations of an Ingress. */
export function settingsOf(all: Readonly<Record<string, unknown>>): Settings {
  const given: Annotations = new Map(
    Object.entries(all).flatMap(([key, value]) =>
      key.startsWith(PREFIX) ? [[key.slice(PREFIX.length), String(value).trim()] as const] : [],
    ),
  )
  const rewriteTarget = given.get('rewrite-target')
  return {
    filters: filtersOf(given),
    traffic: { ...corsOf(given), ...limitsOf(given), ...basicOf(given), ...addressesOf(given), ...bufferOf(given) },
    hasRegex: given.get('use-regex') === 'true' || rewriteTarget?.includes('$') === true,
    rewriteTarget,
    redirectsToHttps: redirectsToHttps(given),
    redirect: redirectOf(given),
    appRoot: given.get('app-root'),
    findings: [...findingsOf(given), ...otherPrograms(all)],
  }
}

function findingsOf(given: Annotations): Finding[] {
  return [...given].flatMap(([name, value]): Finding[] => {
    const path = `metadata.annotations[${PREFIX}${name}]`
    const lost = leftOut(given, name, value)
    if (lost !== undefined) return [{ path, severity: 'error', message: `the Ingress is left out${lost}` }]
    const message = noteOn(name, value)
    return message === undefined ? [] : [{ path, severity: 'warning', message }]
  })
}

/** Why an Ingress with the annotation is not migrated at all; undefined: it is. */
function leftOut(given: Annotations, name: string, value: string): string | undefined {
  const cure = PROTECTIONS.get(name)
  if (cure !== undefined && value !== 'false') return `, because this protects it; ${cure}`
  if (name === 'canary' && value === 'true') return canaryMessage(given)
  const isBasic = value === 'basic' && /^[^/]+$/.test(given.get('auth-secret') ?? '')
  return name === 'auth-type' && !isBasic
    ? ': only the type basic, with auth-secret in the same namespace, is migrated'
    : undefined
}

function noteOn(name: string, value: string): string | undefined {
  if (name === 'limit-rps' || name === 'limit-rpm') {
    return 'nginx limits each client address; the local rate limit of Gw is one for all clients of the route'
  }
  if (PARTS.has(name) || MIGRATED.has(name) || (SWITCHES.has(name) && value === 'false')) return undefined
  return `not migrated; ${HINTS.get(name) ?? 'it has no equal'}`
}

function canaryMessage(given: Annotations): string {
  const weight = given.get('canary-weight')
  const share = weight === undefined ? 'with a match of its header' : `with the weight ${weight}`
  return `, because its route would compete with the main one; add its backend to the main route ${share}`
}

function otherPrograms(all: Readonly<Record<string, unknown>>): Finding[] {
  return Object.keys(all).flatMap((key) => {
    const cure = OTHER_PROGRAMS.find(([prefix]) => key.startsWith(prefix))?.[1]
    return cure === undefined
      ? []
      : [{ path: `metadata.annotations[${key}]`, severity: 'warning', message: `not migrated; ${cure}` }]
  })
}

const MIGRATED: ReadonlySet<string> = new Set(
  [
    'enable-cors auth-type whitelist-source-range allowlist-source-range denylist-source-range proxy-body-size',
    'upstream-vhost x-forwarded-prefix permanent-redirect temporal-redirect',
  ].flatMap((names) => names.split(' ')),
)

function filtersOf(given: Annotations): object[] {
  const [host, prefix] = [given.get('upstream-vhost'), given.get('x-forwarded-prefix')]
  return [
    ...(host === undefined ? [] : [{ type: 'URLRewrite', urlRewrite: { hostname: host } }]),
    ...(prefix === undefined
      ? []
      : [
          {
            type: 'RequestHeaderModifier',
            requestHeaderModifier: { set: [{ name: 'x-forwarded-prefix', value: prefix }] },
          },
        ]),
  ]
}

function corsOf(given: Annotations): object {
  if (given.get('enable-cors') !== 'true') return {}
  const list = (name: string, unset: string): string[] => listOf(given.get(name) ?? unset)
  return {
    cors: {
      allowOrigins: list('cors-allow-origin', UNSET.origins),
      allowMethods: list('cors-allow-methods', UNSET.methods),
      allowHeaders: list('cors-allow-headers', UNSET.headers),
      ...(given.has('cors-expose-headers') && { exposeHeaders: list('cors-expose-headers', '') }),
      allowCredentials: given.get('cors-allow-credentials') !== 'false',
      maxAge: Number(given.get('cors-max-age') ?? UNSET.maxAge),
    },
  }
}

function limitsOf(given: Annotations): object {
  const factor = Number(given.get('limit-burst-multiplier') ?? UNSET.burst)
  const local = [
    ['limit-rps', 'Seconds'],
    ['limit-rpm', 'Minutes'],
  ].flatMap(([name = '', unit]) => {
    const requests = Number(given.get(name) ?? 0)
    return requests > 0 ? [{ requests, unit, burst: requests * (factor - 1) }] : []
  })
  return local.length === 0 ? {} : { rateLimit: { local } }
}

function basicOf(given: Annotations): object {
  const secret = given.get('auth-secret')
  if (given.get('auth-type') !== 'basic' || secret === undefined) return {}
  const realm = given.get('auth-realm')
  return {
    basicAuthentication: { secretRef: { name: secret, key: 'auth' }, ...(realm !== undefined && { realm }) },
  }
}

/** Addresses that a list allows, and that no list denies. */
function addressesOf(given: Annotations): object {
  const contains = (cidr: string): string => `cidr("${withLength(cidr)}").containsIP(source.address)`
  const allowed = listOf(given.get('whitelist-source-range') ?? given.get('allowlist-source-range') ?? '')
  const denied = listOf(given.get('denylist-source-range') ?? '')
  const expressions = [
    ...(allowed.length === 0 ? [] : [allowed.map(contains).join(' || ')]),
    ...(denied.length === 0 ? [] : [`!(${denied.map(contains).join(' || ')})`]),
  ]
  if (expressions.length === 0) return {}
  return { authorization: { action: 'Require', policy: { matchExpressions: expressions } } }
}

function withLength(cidr: string): string {
  if (cidr.includes('/')) return cidr
  return `${cidr}/${cidr.includes(':') ? 128 : 32}`
}

/** `8m` and `8k` of nginx. */
function bufferOf(given: Annotations): object {
  const [, number, unit = ''] = /^(\d+)([kKmMgG]?)$/.exec(given.get('proxy-body-size') ?? '') ?? []
  if (number === undefined || number === '0') return {}
  return { buffer: { request: { maxBytes: unit === '' ? Number(number) : `${number}${unit.toUpperCase()}i` } } }
}

function redirectsToHttps(given: Annotations): boolean | undefined {
  if (given.get('force-ssl-redirect') === 'true') return true
  const value = given.get('ssl-redirect')
  return value === undefined ? undefined : value === 'true'
}

function redirectOf(given: Annotations): object | undefined {
  const [permanent, temporal] = [given.get('permanent-redirect'), given.get('temporal-redirect')]
  const url = URL.parse(permanent ?? temporal ?? '')
  if (url === null) return undefined
  const statusCode = permanent === undefined ? 302 : Number(given.get('permanent-redirect-code') ?? 301)
  return {
    scheme: url.protocol.slice(0, -1),
    hostname: url.hostname,
    ...(url.port !== '' && { port: Number(url.port) }),
    path: { type: 'ReplaceFullPath', replaceFullPath: url.pathname },
    statusCode,
  }
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
