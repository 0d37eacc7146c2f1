// What the environment says about exported spans: collector, headers, sampling, resource (resources supplement section
// 4.15; names of the OpenTelemetry specification, "OpenTelemetry Protocol Exporter"). Read once, when the proxy starts.
import { type Environment, pairsOf, RESOURCE_VARIABLES } from './resource-variables.ts'

export interface OtlpCollector {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  readonly protocol: 'GRPC' | 'HTTP'
  readonly path: string
  /** Credentials as a rule: never shown. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** undefined: the usual one. */
  readonly timeoutMs: number | undefined
}

export interface OtlpEnvironment {
  /** Of listeners without `frontend.tracing`; undefined: they have no spans. */
  readonly traces: OtlpCollector | undefined
  /** Share of the requests that belong to no trace yet. */
  readonly randomShare: number
  /** How long records of any exporter are gathered; absent: the usual time. */
  readonly batchDelayMs?: { readonly traces: number | undefined; readonly logs: number | undefined }
  /** The variables that resources are made from. */
  readonly resource: Environment
}

/** Reads a variable with or without our prefix, and says what is wrong with one. Values are never repeated. */
export interface VariableReader {
  get(name: string): string | undefined
  refuse(name: string, expected: string): undefined
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/
const TRACES_PATH = '/v1/traces'
const PROTOCOLS: ReadonlyMap<string, OtlpCollector['protocol']> = new Map([
  ['grpc', 'GRPC'],
  ['http', 'HTTP'],
  ['http/protobuf', 'HTTP'],
])
/** OpenTelemetry, "General SDK Configuration". What the parent says is always followed. */
const SAMPLERS: ReadonlyMap<string, number | undefined> = new Map([
  ['always_on', 1],
  ['always_off', 0],
  ['traceidratio', undefined],
  ['parentbased_always_on', 1],
  ['parentbased_always_off', 0],
  ['parentbased_traceidratio', undefined],
])

/** The nearest first. */
function namesOf(what: 'ENDPOINT' | 'HEADERS' | 'PROTOCOL' | 'TIMEOUT'): readonly string[] {
  return [`OTLP_${what}`, `OTEL_EXPORTER_OTLP_TRACES_${what}`, `OTEL_EXPORTER_OTLP_${what}`]
}

export function otlpEnvironment(variables: VariableReader): OtlpEnvironment {
  const resource: Record<string, string> = {}
  for (const name of RESOURCE_VARIABLES) {
    const value = variables.get(name)
    if (value !== undefined) resource[name] = value
  }
  const attributes = resource['OTEL_RESOURCE_ATTRIBUTES']
  if (attributes !== undefined && pairsOf(attributes).length !== attributes.split(',').length) {
    variables.refuse('OTEL_RESOURCE_ATTRIBUTES', 'a list of name=value, separated by commas')
  }
  const batchDelayMs = {
    traces: millisOf(variables, ['OTEL_BSP_SCHEDULE_DELAY']),
    logs: millisOf(variables, ['OTEL_BLRP_SCHEDULE_DELAY']),
  }
  return { traces: collectorOf(variables), randomShare: randomShareOf(variables), batchDelayMs, resource }
}

function collectorOf(variables: VariableReader): OtlpCollector | undefined {
  const endpoint = first(variables, namesOf('ENDPOINT'))
  if (endpoint === undefined) return undefined
  const protocol = protocolOf(variables)
  const headers = headersOf(variables)
  const timeoutMs = millisOf(variables, namesOf('TIMEOUT'))
  const url = URL.parse(endpoint.value)
  const isWeb = url !== null && ['http:', 'https:'].includes(url.protocol)
  if (!isWeb || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return variables.refuse(endpoint.name, 'a URL such as http://collector:4317, without user, query and fragment')
  }
  const isTls = url.protocol === 'https:'
  // The endpoint of all signals is a base; one of traces is what it says.
  const isBase = endpoint.name === 'OTEL_EXPORTER_OTLP_ENDPOINT' || url.pathname === '/'
  return {
    host: url.hostname.replaceAll(/^\[|\]$/g, ''),
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    isTls,
    protocol,
    path: isBase ? `${url.pathname.replace(/\/$/, '')}${TRACES_PATH}` : url.pathname,
    headers,
    timeoutMs,
  }
}

function protocolOf(variables: VariableReader): OtlpCollector['protocol'] {
  const given = first(variables, namesOf('PROTOCOL'))
  if (given === undefined) return 'GRPC'
  return PROTOCOLS.get(given.value) ?? variables.refuse(given.name, 'grpc or http/protobuf') ?? 'GRPC'
}

function millisOf(variables: VariableReader, names: readonly string[]): number | undefined {
  const given = first(variables, names)
  if (given === undefined) return undefined
  const isCount = /^\d{1,7}$/.test(given.value) && Number(given.value) > 0
  return isCount ? Number(given.value) : variables.refuse(given.name, 'a number of milliseconds')
}

function headersOf(variables: VariableReader): OtlpCollector['headers'] {
  const given = first(variables, namesOf('HEADERS'))
  if (given === undefined) return []
  const pairs = given.value.startsWith('{') ? jsonPairs(given.value) : listedPairs(given.value)
  const isUsable = pairs?.every(([name, value]) => HEADER_NAME.test(name) && !CONTROL.test(value))
  if (pairs === undefined || isUsable !== true) {
    variables.refuse(given.name, 'a list of name=value, separated by commas, or a JSON object of texts')
    return []
  }
  return pairs.map(([name, value]) => [name.toLowerCase(), value])
}

function listedPairs(text: string): [string, string][] | undefined {
  const pairs = pairsOf(text)
  return pairs.length === text.split(',').length ? pairs : undefined
}

function jsonPairs(text: string): [string, string][] | undefined {
  try {
    // It begins with a brace: an object, or an error.
    const entries = Object.entries(JSON.parse(text) as Record<string, unknown>)
    return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string') ? entries : undefined
  } catch {
    return undefined
  }
}

function randomShareOf(variables: VariableReader): number {
  const name = variables.get('OTEL_TRACES_SAMPLER')
  if (name === undefined) return 0
  if (!SAMPLERS.has(name)) {
    variables.refuse('OTEL_TRACES_SAMPLER', `one of ${[...SAMPLERS.keys()].join(', ')}`)
    return 0
  }
  const fixed = SAMPLERS.get(name)
  if (fixed !== undefined) return fixed
  const share = Number(variables.get('OTEL_TRACES_SAMPLER_ARG') ?? '1')
  if (share >= 0 && share <= 1) return share
  variables.refuse('OTEL_TRACES_SAMPLER_ARG', 'a number from 0 to 1')
  return 0
}

function first(
  variables: VariableReader,
  names: readonly string[],
): { readonly name: string; readonly value: string } | undefined {
  for (const name of names) {
    const value = variables.get(name)
    if (value !== undefined) return { name, value }
  }
  return undefined
}

/** For `/config_dump`: without the values of headers. */
export function shownOtlp({ traces, ...rest }: OtlpEnvironment): unknown {
  if (traces === undefined) return rest
  return { ...rest, traces: { ...traces, headers: traces.headers.map(([name]) => [name, '<redacted>']) } }
}
