// Dynamic forward proxy: the destination is the host of the request, or the server name of the TLS connection. It is
// guarded after resolution (upstream/resolve-target.ts).
import type { Exchange } from '../exchange/exchange.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import { withoutDefaultPort } from '../message/authority.ts'
import type { DynamicForwarding } from '../upstream/dynamic.ts'
import type { UpstreamTarget } from '../upstream/target.ts'
import { LiveEndpoint } from './endpoints.ts'
import type { BackendHandler } from '../chain/handler.ts'
import { useEndpoint } from './http.ts'
import { openTunnel } from './tunnel.ts'

/** Limit of destinations with kept figures and settings; the least recently used one is dropped. */
const DESTINATIONS_MAX = 1024
const AUTHORITY = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([0-9]{1,5}))?$/
const PORT_MAX = 65_535

export class Destinations {
  readonly #known = new Map<string, LiveEndpoint>()
  readonly #targetOf: (host: string, port: number) => UpstreamTarget

  constructor(targetOf: (host: string, port: number) => UpstreamTarget) {
    this.#targetOf = targetOf
  }

  /** undefined: not a valid destination. */
  ofAuthority(authority: string, defaultPort: number): LiveEndpoint | undefined {
    const [, v6, name, port] = AUTHORITY.exec(authority.toLowerCase()) ?? []
    const host = v6 ?? name
    return host === undefined ? undefined : this.#endpoint(host, port === undefined ? defaultPort : Number(port))
  }

  /** The server name of a TLS connection, at its destination port. */
  ofConnection({ sni, localPort }: Pick<ConnectionFacts, 'sni' | 'localPort'>): LiveEndpoint | undefined {
    return sni === undefined ? undefined : this.#endpoint(sni, localPort)
  }

  #endpoint(host: string, port: number): LiveEndpoint | undefined {
    if (port < 1 || port > PORT_MAX) return undefined
    const key = `${host} ${port}`
    const endpoint = this.#known.get(key) ?? this.#make(host, port)
    // Moved to the end: the first one is then the least recently used.
    this.#known.delete(key)
    this.#known.set(key, endpoint)
    return endpoint
  }

  #make(host: string, port: number): LiveEndpoint {
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size >= DESTINATIONS_MAX) this.#known.delete(oldest)
    return new LiveEndpoint(this.#targetOf(host, port), host)
  }
}

/** The scheme is that of the client's connection; it decides only on the port (data-plane supplement section 5.4). */
export function dynamicBackend(
  destinations: Destinations,
  { client }: DynamicForwarding,
): { readonly handler: BackendHandler; readonly tunnel: BackendHandler } {
  const withEndpoint =
    (run: (exchange: Exchange, endpoint: LiveEndpoint, done: (exchange: Exchange) => void) => void): BackendHandler =>
    (exchange, done) => {
      const { host, scheme } = exchange.request
      const endpoint = destinations.ofAuthority(host, scheme === 'https' ? 443 : 80)
      if (endpoint !== undefined) run(exchange, endpoint, done)
      else {
        exchange.fail('invalidRequest', `${host} is not a valid destination`)
        done(exchange)
      }
    }
  return {
    handler: withEndpoint((exchange, endpoint, done) => {
      useEndpoint(exchange, endpoint, undefined)
      if (exchange.trace !== undefined) {
        const host = withoutDefaultPort(exchange.request.host, endpoint.target.tls !== undefined)
        exchange.trace.backendStart(exchange, { target: endpoint.label, sent: { host } })
      }
      client.forward(exchange, endpoint.target, exchange.request.host, done)
    }),
    tunnel: withEndpoint((exchange, endpoint, done) =>
      openTunnel(exchange, { endpoint, client, health: undefined, done }),
    ),
  }
}
