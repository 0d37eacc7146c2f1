// The fields of standalone files of other gateways that have another name, form or default here, or that have no equal.
// A field that protects traffic stays in the file, which then is not valid: it must not be lost by a migration.
import { isMap, isScalar, type Node, type Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import type { Finding } from './annotations.ts'

/** A field, or an item of a list. */
export interface Place {
  /** With `[]` for each item of a list: `routes[].backends[].http`. */
  readonly pattern: string
  /** As in messages: `routes[0].backends[1].http`. */
  readonly path: string
  readonly value: Node
  /** undefined: an item of a list. */
  readonly field: { readonly pair: Pair; readonly parent: YAMLMap } | undefined
}

type Note = (finding: Pick<Finding, 'severity' | 'message'>) => void

interface Rule {
  /** Matches `pattern` of a place. */
  readonly at: RegExp
  readonly apply: (place: Place, note: Note) => void
}

const MINUTE_AND_MORE: ReadonlyMap<string, string> = new Map([
  ['second', '1s'],
  ['minute', '1m'],
  ['hour', '1h'],
  ['day', '24h'],
])
/** Fields of an HTTP check that older files have beside `protocol`. */
const HTTP_CHECK = ['path', 'redirect', 'body', 'includeResponseHeaders', 'addRequestHeaders', 'metadata']

export const RULES: readonly Rule[] = [
  renamed(/\.xaa\.idp$/, 'identityProvider'),
  renamed(/\.xaa\.resourceAs$/, 'resourceAuthorizationServer'),
  renamed(/\.xaa$/, 'crossAppAccess'),
  renamed(/\.tokenEndpointPath$/, 'path'),
  renamed(/\.(oauth|oauthTokenExchange)\.tokenEndpoint$/, 'target'),
  renamed(/(^|\.)(backendAuth|auth)\.oauth$/, 'oauthTokenExchange'),
  nested(/\.basicAuth\.htpasswdFile$/, 'htpasswd', 'file'),
  nested(/\.mcpAuthentication\.jwksUrl$/, 'jwks', 'url'),
  { at: /\.mcpAuthentication\.audience$/, apply: toAudiences },
  { at: /\.backends\[\]\.http$/, apply: toHost },
  { at: /\.extAuthz(\.conditional\[\])?$/, apply: toHttpCheck },
  { at: /\.localRateLimit(\.conditional)?\[\]$/, apply: toTokenBucket },
  removed(/^config\.database$/, 'use frontendPolicies.accessLog.otlp to store entries of the log'),
  removed(/^config\.logging\.(otlp|database)$/, 'use frontendPolicies.accessLog.otlp'),
  removed(/^config\.pricing$/, 'use config.modelCatalog'),
  removed(/^config\.(storage|standardAttributes)$/, 'the file has all settings'),
  removed(/^llm\.models\[\]\.serverTools$/, 'let clients call the tools of mcp'),
  removed(/\.health\.active$/, 'endpoints are judged by their responses: use health.eviction'),
  removed(/\.webhook\.minSizeBytes$/, 'the service gets texts of all sizes'),
  removed(/\.mcpAuthentication\.relaySigningKey$/, 'the gateway keeps no state of sign-ins'),
  removed(/\.bedrock\.requestMetadata$/, 'set the header x-bedrock-metadata by transformations'),
  removed(/\.ai\.models$/, 'use llm.models, which GET /v1/models lists'),
  stricter(/(^|\.)(jwtAuth|basicAuth|apiKey)$/, 'mode', 'optional accepts requests without credentials'),
  stricter(/\.remoteRateLimit$/, 'failureMode', 'failOpen accepts requests if the service fails'),
  stricter(/\.(request|response)\[\]\.webhook$/, 'failureMode', 'failOpen accepts texts if the service fails'),
  { at: /(\.file|(^|\.)(tls|backendTLS)\.(cert|key|root))$/, apply: checkPath },
  {
    at: /\.oidc$/,
    apply: (_, note) =>
      note({ severity: 'warning', message: 'is not supported: all requests it applies to will be rejected' }),
  },
]

function renamed(at: RegExp, name: string): Rule {
  return { at, apply: ({ field }) => rename(field, name) }
}

function rename(field: Place['field'], name: string): void {
  if (field !== undefined && isScalar(field.pair.key)) field.pair.key.value = name
}

/** The value becomes a member of a mapping. */
function nested(at: RegExp, name: string, member: string): Rule {
  return {
    at,
    apply: ({ field, value }) => {
      if (field === undefined) return
      rename(field, name)
      field.pair.value = mapOf([[member, value]])
    },
  }
}

function removed(at: RegExp, cure: string): Rule {
  return {
    at,
    apply: ({ field }, note) => {
      field?.parent.delete(field.pair.key)
      note({ severity: 'warning', message: `is left out: ${cure}` })
    },
  }
}

/** Other gateways let requests pass by default. */
function stricter(at: RegExp, member: string, lenient: string): Rule {
  return {
    at,
    apply: ({ value }, note) => {
      if (!isMap(value) || value.has(member) || value.has('conditional')) return
      note({ severity: 'warning', message: `has a stricter default here; ${member}: ${lenient}` })
    },
  }
}

/** Other gateways start at the folder of the process. */
function checkPath({ value }: Place, note: Note): void {
  const path = isScalar(value) ? value.value : undefined
  if (typeof path !== 'string' || /^[/~$]/.test(path)) return
  note({ severity: 'warning', message: 'is a relative path, which starts at the folder of the file here' })
}

function toAudiences({ field, value }: Place): void {
  if (field === undefined) return
  rename(field, 'audiences')
  const list = new YAMLSeq()
  list.add(value)
  field.pair.value = list
}

function toHost({ field, value }: Place): void {
  if (field === undefined || !isMap(value)) return
  const [host, port] = [value.get('hostname'), value.get('port')]
  if (typeof host !== 'string' || host === '' || (typeof port !== 'number' && typeof port !== 'string')) return
  rename(field, 'host')
  field.pair.value = new Scalar(`${host.includes(':') ? `[${host}]` : host}:${port}`)
}

function toHttpCheck({ value }: Place): void {
  if (!isMap(value)) return
  const protocol = value.get('protocol')
  if (protocol !== 'http' && protocol !== 'grpc') return
  const members = protocol === 'http' ? HTTP_CHECK.filter((name) => value.has(name)) : []
  value.set('protocol', mapOf([[protocol, mapOf(members.map((name) => [name, value.get(name, true)]))]]))
  for (const name of members) value.delete(name)
}

function toTokenBucket({ value }: Place, note: Note): void {
  if (!isMap(value)) return
  const [limit, unit, burst] = [value.get('limit'), value.get('unit'), value.get('burst')]
  const interval = typeof unit === 'string' ? MINUTE_AND_MORE.get(unit.toLowerCase().replace(/s$/, '')) : undefined
  if (typeof limit !== 'number' || interval === undefined) return
  for (const name of ['limit', 'unit', 'burst']) value.delete(name)
  value.set('tokensPerFill', limit)
  value.set('maxTokens', limit + (typeof burst === 'number' ? burst : 0))
  value.set('fillInterval', interval)
  note({ severity: 'warning', message: 'has another form here: check tokensPerFill, maxTokens and fillInterval' })
}

function mapOf(entries: readonly (readonly [string, unknown])[]): YAMLMap {
  const map = new YAMLMap()
  for (const [name, value] of entries) map.set(name, value)
  return map
}
