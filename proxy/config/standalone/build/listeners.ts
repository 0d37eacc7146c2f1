// Ports and listeners of all forms, with the policies of the listeners.
import type { Bind, GatewayTarget, TrafficPayload } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { Protocol, TlsFields } from '../schema/listeners.ts'
import type { GatewayPolicies } from '../schema/policies.ts'
import type { BuildContext } from './context.ts'
import { defined } from './defined.ts'
import { renderListenerTls } from './listener-tls.ts'
import { gatewayTraffic } from './traffic.ts'

export interface ListenerInput {
  readonly key: string
  readonly bindKey: string
  readonly namespace: string
  readonly gateway: string
  readonly name: string
  readonly hostname: string | undefined
  readonly protocol: Protocol | undefined
  readonly tls: TlsFields | undefined
  /** The paths of the listener and of its policies. */
  readonly path: string
  readonly policies: GatewayPolicies
  readonly policiesPath: string
}

type PortProtocol = NonNullable<Bind['protocol']>

const PORT_PROTOCOLS: { readonly [P in Protocol]: PortProtocol } = {
  HTTP: 'HTTP',
  HTTPS: 'TLS',
  TLS: 'TLS',
  TCP: 'TCP',
  HBONE: 'TLS',
}

export class ListenerRegistry {
  readonly #context: BuildContext
  readonly #ports = new Map<number, string>()
  /** Bind, gateway and host name: one listener each. */
  readonly #hostnames = new Map<string, string>()
  readonly #protocols = new Map<string, Protocol>()
  /** By `namespace/name`. */
  readonly #gateways = new Map<string, GatewayTarget>()
  #policyCount = 0

  constructor(context: BuildContext) {
    this.#context = context
  }

  /** @returns the key of the bind */
  addPort(port: number, path: string, own: Pick<Bind, 'mode' | 'tunnelProtocol'> = {}): string {
    const former = this.#ports.get(port)
    if (former !== undefined) this.#context.error(path, `port ${port} is already used by ${former}`)
    this.#ports.set(port, path)
    const key = `bind/${port}`
    if (former === undefined) this.#context.config.binds.push({ key, port, ...own })
    return key
  }

  /** Of all listeners, once each. */
  get gateways(): readonly GatewayTarget[] {
    return [...this.#gateways.values()]
  }

  /** Listeners for HTTP, or listeners for plain TCP. */
  ofKind(keys: readonly string[], isHttp: boolean): string[] {
    return keys.filter((key) => {
      const protocol = this.#protocols.get(key)
      return isHttp === (protocol === 'HTTP' || protocol === 'HTTPS')
    })
  }

  addListener(input: ListenerInput): void {
    const { key, bindKey, namespace, gateway, name, hostname, path, protocol = 'HTTP' } = input
    this.#protocols.set(key, protocol)
    this.#gateways.set(`${namespace}/${gateway}`, { namespace, name: gateway })
    this.#setPortProtocol(input, PORT_PROTOCOLS[protocol])
    const place = `${bindKey} ${gateway} ${hostname?.toLowerCase() ?? '*'}`
    const former = this.#hostnames.get(place)
    if (former !== undefined) {
      const which = hostname === undefined ? 'all host names' : `the host name ${hostname}`
      this.#context.error(hostname === undefined ? path : pathTo(path, 'hostname'), `${former} already has ${which}`)
    }
    this.#hostnames.set(place, path)
    const { tls, handshake } = renderListenerTls({ protocol, fields: input.tls, path }, this.#context)
    this.#context.config.listeners.push({
      key,
      bindKey,
      name: { gatewayNamespace: namespace, gatewayName: gateway, listenerName: name },
      ...defined({ hostname }),
      protocol,
      ...defined({ tls }),
    })
    const target = { namespace, name: gateway, listener: name }
    if (handshake !== undefined) {
      this.#context.attach(`listener/${this.#policyCount++}`, { gateway: target }, { frontend: { tls: handshake } })
    }
    if (protocol === 'HTTP' || protocol === 'HTTPS') this.#attach(input, target)
    else this.#refusePolicies(input, protocol)
  }

  /** They inspect requests, which this protocol does not have: if accepted, they would have no effect. */
  #refusePolicies({ policies, policiesPath }: ListenerInput, protocol: Protocol): void {
    const what = protocol === 'HBONE' ? 'accepts tunnels only' : 'forwards plain TCP'
    for (const [field, value] of Object.entries(policies)) {
      if (value === undefined) continue
      this.#context.error(
        pathTo(policiesPath, field),
        `has no effect with protocol ${protocol}, which ${what}; use frontendPolicies.networkAuthorization`,
      )
    }
  }

  /** The first bytes of a connection do not distinguish plain HTTP, TLS and other protocols. */
  #setPortProtocol({ bindKey, path }: ListenerInput, protocol: PortProtocol): void {
    const bind = this.#context.config.binds.find(({ key }) => key === bindKey)
    if (bind === undefined) return
    const isFirst = this.#context.config.listeners.every((listener) => listener.bindKey !== bindKey)
    if (isFirst) {
      if (protocol !== 'HTTP') bind.protocol = protocol
    } else if ((bind.protocol ?? 'HTTP') !== protocol) {
      this.#context.error(path, `plain HTTP, TLS and TCP cannot share port ${bind.port}`)
    } else if (protocol === 'TCP') {
      this.#context.error(path, `port ${bind.port} can have one listener only, because its protocol is TCP`)
    }
  }

  /** Before routing, so that they also apply to requests without a route. */
  #attach({ policies, policiesPath }: ListenerInput, gateway: GatewayTarget): void {
    const { payload, rules } = gatewayTraffic(policies, policiesPath, this.#context)
    const fields = Object.entries(payload).map(([field, value]): TrafficPayload => ({ [field]: value }))
    for (const traffic of [...fields, ...rules.map((authorization) => ({ authorization }))]) {
      this.#context.attach(`listener/${this.#policyCount++}`, { gateway }, { phase: 'PreRouting', traffic })
    }
  }
}
