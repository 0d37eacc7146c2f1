// CONNECT through a route (`frontend.connect`, mode Route): a raw connection to the backend of the route.
import type { Exchange } from '../exchange/exchange.ts'
import { Tunnel } from '../socket/tunnel.ts'
import type { UpstreamClient } from '../upstream/target.ts'
import { otherEndpoint } from './failover.ts'
import type { Endpoint, EndpointPicker } from './handler.ts'
import type { BackendHandler } from '../chain/handler.ts'
import type { HealthRule } from '../exchange/slots.ts'
import { useEndpoint } from './http.ts'

export function tunnelBackend(
  picker: EndpointPicker,
  client: UpstreamClient,
  health: HealthRule | undefined,
): BackendHandler {
  return (exchange, done) => {
    const endpoint = picker.pick()
    if (endpoint === undefined) {
      exchange.fail('noHealthyBackends')
      done(exchange)
    } else openTunnel(exchange, { endpoint, picker, client, health, done })
  }
}

export interface TunnelParts {
  readonly endpoint: Endpoint
  /** undefined: there are no others. */
  readonly picker?: EndpointPicker
  readonly client: UpstreamClient
  readonly health: HealthRule | undefined
  readonly done: (exchange: Exchange) => void
}

export function openTunnel(exchange: Exchange, parts: TunnelParts): void {
  const { endpoint, picker, client, health, done } = parts
  useEndpoint(exchange, endpoint, health)
  exchange.trace?.backendStart(exchange, { target: endpoint.label, sent: { host: endpoint.authority } })
  client.tunnel(exchange, endpoint.target, (answered) => {
    // How long the client keeps the tunnel does not affect the endpoint, only the time to connect does.
    if (answered.response?.body instanceof Tunnel) {
      const { upstreamStartMs = 0, upstreamHeadMs = 0 } = answered
      answered.usedEndpoint = undefined
      endpoint.end(upstreamHeadMs - upstreamStartMs, true)
    }
    const next = answered.isMovable && picker !== undefined ? otherEndpoint(answered, picker) : undefined
    if (next === undefined) done(answered)
    else openTunnel(answered, { ...parts, endpoint: next })
  })
}
