// Ports and listeners of both forms, and their common fields (resources supplement 4.5, 4.6, 4.10).
import * as z from 'zod'
import { keepalive, keyExchangeGroups } from './connections.ts'
import { evaluatedAt } from './moment.ts'
import { fields } from './object.ts'
import { gatewayPolicyShape, rules } from './policies.ts'
import { byteSize } from './resilience.ts'
import { accessLog, labels, tracing } from './telemetry.ts'
import { count, duration, name, port, text } from './values.ts'

const HOSTNAME = /^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/

export const hostname = z
  .string()
  .regex(HOSTNAME, { error: 'must be a host name, or a wildcard such as *.example.com' })

export const protocol = z.enum(['HTTP', 'HTTPS', 'TLS', 'TCP'], { error: 'must be one of HTTP, HTTPS, TLS, TCP' })
/** Tunnels of a mesh lead to other ports, which only the form `binds` names one by one. */
export const bindProtocol = z.enum([...protocol.options, 'HBONE'], {
  error: 'must be one of HTTP, HTTPS, TLS, TCP, HBONE',
})

const VERSIONS = ['TLS_V1_2', 'TLS_V1_3'] as const
const versionShape = {
  minTLSVersion: z.enum(VERSIONS).optional(),
  minTlsVersion: z.enum(VERSIONS).optional(),
  maxTLSVersion: z.enum(VERSIONS).optional(),
  maxTlsVersion: z.enum(VERSIONS).optional(),
}

/** Paths of PEM files. */
export const tls = fields({
  mode: z.enum(['static', 'dynamicCa']).optional(),
  cert: text,
  key: text,
  root: text.optional(),
  cipherSuites: z.array(text).min(1).optional(),
  keyExchangeGroups: keyExchangeGroups.optional(),
  ...versionShape,
})

const listenerShape = { protocol: protocol.optional(), tls: tls.optional() }

export const gatewayListener = fields({
  name: name.optional(),
  hostname: hostname.optional(),
  ...listenerShape,
  ...gatewayPolicyShape,
})
export const gateway = evaluatedAt(
  'routing',
  fields({
    port,
    listeners: z.array(gatewayListener).min(1).optional(),
    ...listenerShape,
    ...gatewayPolicyShape,
  }),
)

const http = fields({
  maxBufferSize: byteSize.optional(),
  http1MaxHeaders: count.optional(),
  http1IdleTimeout: duration.optional(),
  http1HeaderCase: z.enum(['lowercase', 'preserve']).optional(),
  http2WindowSize: byteSize.optional(),
  http2ConnectionWindowSize: byteSize.optional(),
  http2FrameSize: byteSize.optional(),
  http2MaxHeaderSize: byteSize.optional(),
  http2KeepaliveInterval: duration.optional(),
  http2KeepaliveTimeout: duration.optional(),
  maxConnectionDuration: duration.optional(),
})
const handshakes = fields({
  handshakeTimeout: duration.optional(),
  alpn: z.array(text).min(1).optional(),
  minVersion: z.enum(VERSIONS).optional(),
  maxVersion: z.enum(VERSIONS).optional(),
  cipherSuites: z.array(text).min(1).optional(),
  keyExchangeGroups: keyExchangeGroups.optional(),
})
const proxyProtocol = fields({
  version: z.enum(['v1', 'v2', 'all']).optional(),
  mode: z.enum(['strict', 'optional']).optional(),
})

export const frontendPolicies = evaluatedAt(
  'log',
  fields({
    http: http.optional(),
    tls: handshakes.optional(),
    tcp: fields({ keepalives: keepalive.optional() }).optional(),
    networkAuthorization: evaluatedAt('connection', rules).optional(),
    accessLog: accessLog.optional(),
    logging: accessLog.optional(),
    proxy: proxyProtocol.optional(),
    proxyProtocol: proxyProtocol.optional(),
    connect: fields({ mode: z.enum(['deny', 'route', 'tunnel']) }).optional(),
    tracing: tracing.optional(),
    metrics: labels.optional(),
  }),
)

export type Protocol = z.output<typeof bindProtocol>
export type TlsFields = z.output<typeof tls>
export type GatewayFields = z.output<typeof gateway>
export type FrontendFields = z.output<typeof frontendPolicies>
