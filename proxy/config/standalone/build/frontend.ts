// `frontendPolicies`, and fields of `config` with the same effect: policies for the connections of all gateways.
import type {
  AccessLog,
  Authorization,
  FrontendConnect,
  FrontendHTTP,
  FrontendPayload,
  FrontendProxyProtocol,
  FrontendTLS,
  GatewayTarget,
} from '#api/ir/types.gen.ts'
import type { Built, FRONTEND, WrittenIn } from '../coverage.ts'
import { pathTo } from '../field-path.ts'
import type { StandaloneFile } from '../schema/file.ts'
import type { FrontendFields } from '../schema/listeners.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { expressions } from './headers.ts'
import { renderKeepalive } from './keepalive.ts'
import { renderVersions } from './listener-tls.ts'
import { type Placed, type ProcessPolicies, processPolicies } from './process-telemetry.ts'
import { renderRules } from './rules.ts'
import { renderLogExport, renderTracing } from './telemetry.ts'

const PATH = 'frontendPolicies'

export function addFrontend(
  { frontendPolicies = {}, config = {} }: Pick<StandaloneFile, 'frontendPolicies' | 'config'>,
  gateways: readonly GatewayTarget[],
  context: BuildContext,
): void {
  const payloads = renderFrontend(frontendPolicies, processPolicies(config, context), context)
  for (const [position, gateway] of gateways.entries()) {
    for (const [name, payload] of payloads) {
      const key = position === 0 ? `frontend/${name}` : `frontend/${name}/${gateway.namespace}/${gateway.name}`
      context.attach(key, { gateway }, { frontend: payload })
    }
  }
}

/** There may be several rules, each a separate policy. */
type Fields = Built<FrontendPayload, Exclude<WrittenIn<typeof FRONTEND>, 'networkAuthorization'>> & {
  readonly networkAuthorization: readonly Authorization[]
}

/** By the last part of the key. */
function renderFrontend(
  fields: FrontendFields,
  process: ProcessPolicies,
  context: BuildContext,
): [string, FrontendPayload][] {
  for (const [one, other] of [
    ['accessLog', 'logging'],
    ['proxy', 'proxyProtocol'],
  ] as const) {
    if (fields[one] === undefined || fields[other] === undefined) continue
    context.error(pathTo(PATH, other), `is the same field as ${one}: remove one of them`)
  }
  const built = {
    ...renderConnections(fields, context),
    ...renderObservation(fields, process, context),
  } satisfies Fields
  return Object.entries(defined(built)).flatMap(([name, value]): [string, FrontendPayload][] =>
    Array.isArray(value)
      ? value.map((one, index) => [`${name}/${index}`, { [name]: one }])
      : [[KEYS.get(name) ?? name, { [name]: value }]],
  )
}

/** Parts of keys that are not the name of the field. */
const KEYS: ReadonlyMap<string, string> = new Map([['proxyProtocol', 'proxy']])

function renderConnections(
  fields: FrontendFields,
  context: BuildContext,
): Pick<Fields, 'http' | 'tls' | 'tcp' | 'networkAuthorization' | 'proxyProtocol' | 'connect'> {
  const keepalives = fields.tcp?.keepalives
  return {
    http: ifSet(fields.http, renderHttp),
    tls: ifSet(fields.tls, (tls) => renderTls(tls, context)),
    tcp: ifSet(keepalives, (value) => ({ keepalive: renderKeepalive(value) })),
    networkAuthorization: renderRules(fields.networkAuthorization, pathTo(PATH, 'networkAuthorization'), context),
    proxyProtocol: ifSet(fields.proxy ?? fields.proxyProtocol, renderProxyProtocol),
    connect: ifSet(fields.connect, ({ mode }) => ({ mode: CONNECT_MODES[mode] })),
  }
}

function renderObservation(
  { accessLog, logging, tracing, metrics }: FrontendFields,
  process: ProcessPolicies,
  context: BuildContext,
): Pick<Fields, 'accessLog' | 'tracing' | 'metrics'> {
  const log = accessLog === undefined ? placed('logging', logging) : placed('accessLog', accessLog)
  const labels = expressions(onePlace(placed('metrics', metrics), process.metrics, context)?.value.add ?? {})
  return {
    accessLog: ifSet(onePlace(log, process.accessLog, context), (one) => renderAccessLog(one, context)),
    tracing: ifSet(onePlace(placed('tracing', tracing), process.tracing, context), ({ value, path }) =>
      renderTracing(value, path, context),
    ),
    metrics: labels.length === 0 ? undefined : { add: labels },
  }
}

function placed<T>(name: string, value: T | undefined): Placed<T> | undefined {
  return ifSet(value, (given) => ({ value: given, path: pathTo(PATH, name) }))
}

/** Of `frontendPolicies` or of `config`. */
function onePlace<T>(
  own: Placed<T> | undefined,
  process: Placed<T> | undefined,
  context: BuildContext,
): Placed<T> | undefined {
  if (own !== undefined && process !== undefined) {
    context.error(process.path, `has the same effect as ${own.path}: remove one of them`)
  }
  return own ?? process
}

function renderHttp(http: NonNullable<FrontendFields['http']>): FrontendHTTP {
  const { http1HeaderCase: headerCase } = http
  return defined({
    bufferBytesMax: http.maxBufferSize,
    http1HeadersMax: http.http1MaxHeaders,
    http1IdleTimeoutMs: http.http1IdleTimeout,
    http1HeaderCase: headerCase && (headerCase === 'preserve' ? ('Preserve' as const) : ('Lowercase' as const)),
    http2WindowBytes: http.http2WindowSize,
    http2ConnectionWindowBytes: http.http2ConnectionWindowSize,
    http2FrameBytes: http.http2FrameSize,
    http2HeaderBytesMax: http.http2MaxHeaderSize,
    http2KeepaliveIntervalMs: http.http2KeepaliveInterval,
    http2KeepaliveTimeoutMs: http.http2KeepaliveTimeout,
    maxConnectionDurationMs: http.maxConnectionDuration,
  })
}

function renderTls(tls: NonNullable<FrontendFields['tls']>, context: BuildContext): FrontendTLS {
  const { handshakeTimeout, alpn, minVersion, maxVersion, cipherSuites, keyExchangeGroups } = tls
  const names = { min: minVersion, max: maxVersion, cipherSuites, keyExchangeGroups }
  return {
    ...defined({ handshakeTimeoutMs: handshakeTimeout === 0 ? undefined : handshakeTimeout, alpnProtocols: alpn }),
    ...renderVersions(names, pathTo(PATH, 'tls'), context),
  }
}

const CONNECT_MODES: { readonly [M in NonNullable<FrontendFields['connect']>['mode']]: FrontendConnect['mode'] } = {
  deny: 'Deny',
  route: 'Route',
  tunnel: 'Tunnel',
}

const VERSIONS = { v1: 'V1', v2: 'V2', all: 'All' } as const

function renderProxyProtocol({
  version = 'v2',
  mode = 'strict',
}: NonNullable<FrontendFields['proxy']>): FrontendProxyProtocol {
  return { version: VERSIONS[version], mode: mode === 'strict' ? 'Strict' : 'Optional' }
}

function renderAccessLog(
  { value, path }: Placed<NonNullable<FrontendFields['accessLog']>>,
  context: BuildContext,
): AccessLog {
  const { filter, add, remove, otlp } = { ...value, ...value.fields }
  const own = defined({ filter, add: ifSet(add, expressions), remove })
  if (otlp === undefined) return own
  return { ...own, otlp: renderLogExport(otlp, own, { path: pathTo(path, 'otlp'), context }) }
}
