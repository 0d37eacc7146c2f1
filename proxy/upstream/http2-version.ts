// Which HTTP version a request goes out with (data-plane supplement section 1.6, point 2).
import type { Exchange } from '../exchange/exchange.ts'
import { WEBSOCKET } from '../message/websocket.ts'
import type { UpstreamTarget } from './target.ts'

/**
 * What the backend fixed (policy, then appProtocol) comes first; gRPC needs HTTP/2; a client without TLS is taken at
 * its word if the backend has no TLS either; everything else is HTTP/1.1.
 */
export function wantsHttp2(exchange: Exchange, target: UpstreamTarget): boolean {
  const { upgrade } = exchange.request
  // WebSocket is asked of HTTP/2 where nothing else is spoken for sure; other switches exist in HTTP/1.1 only.
  if (upgrade !== undefined) return upgrade === WEBSOCKET && target.httpVersion === 'HTTP2'
  if (target.httpVersion !== undefined) return target.httpVersion === 'HTTP2'
  if (exchange.isGrpc) return true
  return exchange.request.version === 'HTTP/2' && !exchange.connection.isTls && target.tls === undefined
}

/**
 * Values of a Service port's `appProtocol` that stand for HTTP/2 (Kubernetes well-known names and their usual forms).
 */
const HTTP2_PROTOCOLS = new Set(['kubernetes.io/h2c', 'grpc', 'grpcs', 'http2', 'h2c', 'h2'])
const HTTP1_PROTOCOLS = new Set(['kubernetes.io/ws', 'kubernetes.io/wss', 'https', 'http/1.1'])

export function versionOfAppProtocol(appProtocol: string | undefined): UpstreamTarget['httpVersion'] {
  const name = appProtocol?.toLowerCase() ?? ''
  if (HTTP2_PROTOCOLS.has(name)) return 'HTTP2'
  return HTTP1_PROTOCOLS.has(name) ? 'HTTP1' : undefined
}
