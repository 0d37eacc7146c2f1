// Plain HTTP backends: picks an endpoint and passes the exchange to the engine.
import type { Exchange } from '../exchange/exchange.ts'
import { wantsHttp2 } from '../upstream/http2-version.ts'
import { withoutDefaultPort } from '../message/authority.ts'
import type { UpstreamClient, UpstreamTarget } from '../upstream/target.ts'
import { otherEndpoint } from './failover.ts'
import type { Endpoint, EndpointPicker } from './handler.ts'
import type { BackendHandler } from '../chain/handler.ts'
import type { HealthRule } from '../exchange/slots.ts'

export function httpBackend(
  picker: EndpointPicker,
  client: UpstreamClient,
  health: HealthRule | undefined,
): BackendHandler {
  const call = (exchange: Exchange, endpoint: Endpoint): void => {
    useEndpoint(exchange, endpoint, health)
    const authority = authorityFor(exchange, endpoint, picker.isHostname)
    if (exchange.trace !== undefined) {
      const details = wayTo(exchange, endpoint.target)
      exchange.trace.backendStart(exchange, {
        target: endpoint.label,
        details,
        sent: { host: withoutDefaultPort(authority, endpoint.target.tls !== undefined) },
      })
    }
    client.forward(exchange, endpoint.target, authority, answered)
  }
  /** One for all requests: nothing is allocated unless there is a failure. */
  const answered = (exchange: Exchange): void => {
    const next = exchange.isMovable ? otherEndpoint(exchange, picker) : undefined
    if (next === undefined) exchange.backendDone?.(exchange)
    else call(exchange, next)
  }
  return (exchange, done) => {
    const endpoint = pickEndpoint(exchange, picker)
    if (endpoint === undefined) {
      exchange.fail('noHealthyBackends')
      done(exchange)
      return
    }
    exchange.backendDone = done
    call(exchange, endpoint)
  }
}

/** An endpoint picker selects, if there is one. */
export function pickEndpoint({ picked }: Exchange, picker: EndpointPicker): Endpoint | undefined {
  return picked === undefined ? picker.pick() : picked.choose(picker)
}

/** Charges the exchange to the endpoint; the pipeline settles it when the response is over. */
export function useEndpoint(exchange: Exchange, endpoint: Endpoint, health?: HealthRule): void {
  endpoint.begin()
  exchange.usedEndpoint = endpoint
  exchange.health = health
  exchange.endpoint = endpoint.label
}

/**
 * Host header for the backend. `hostRewrite` unset: hostname backends get their own name, Services and IP addresses the
 * client's; a rewrite of the route wins over both (specification, Traffic `hostRewrite`).
 */
function authorityFor(exchange: Exchange, endpoint: Endpoint, isHostname: boolean): string {
  if (exchange.hasExplicitHost) return exchange.request.host
  const mode = exchange.hostRewriteMode ?? (isHostname ? 'Auto' : 'None')
  return mode === 'Auto' ? endpoint.authority : exchange.request.host
}

/** For traces. */
function wayTo(exchange: Exchange, target: UpstreamTarget): string {
  const version = wantsHttp2(exchange, target) ? 'HTTP/2' : 'HTTP/1.1'
  const words = [
    target.negotiates === true ? `${version} unless the backend chooses otherwise` : version,
    target.tls === undefined ? 'without TLS' : 'with TLS',
    ...(target.tunnel === undefined ? [] : ['through a proxy']),
  ]
  return words.join(', ')
}
