// Ports and listeners of all forms, with the policies that listeners have of their own.
import type { GatewayTarget, TrafficPayload } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { GatewayPolicies } from '../schema/policies.ts'
import type { BuildContext } from './context.ts'
import { defined } from './defined.ts'
import { gatewayTraffic } from './traffic.ts'

export interface ListenerInput {
  readonly key: string
  readonly bindKey: string
  readonly namespace: string
  readonly gateway: string
  readonly name: string
  readonly hostname: string | undefined
  /** Where the listener stands, and where its policies. */
  readonly path: string
  readonly policies: GatewayPolicies
  readonly policiesPath: string
}

export class ListenerRegistry {
  readonly #context: BuildContext
  readonly #ports = new Map<number, string>()
  /** Bind, gateway and host name: one listener each. */
  readonly #hostnames = new Map<string, string>()
  #policyCount = 0

  constructor(context: BuildContext) {
    this.#context = context
  }

  /** @returns the key of the bind */
  addPort(port: number, path: string): string {
    const former = this.#ports.get(port)
    if (former !== undefined) this.#context.error(path, `port ${port} is already used by ${former}`)
    this.#ports.set(port, path)
    const key = `bind/${port}`
    if (former === undefined) this.#context.config.binds.push({ key, port })
    return key
  }

  addListener(input: ListenerInput): void {
    const { key, bindKey, namespace, gateway, name, hostname, path } = input
    const place = `${bindKey} ${gateway} ${hostname?.toLowerCase() ?? '*'}`
    const former = this.#hostnames.get(place)
    if (former !== undefined) {
      const which = hostname === undefined ? 'all host names' : `the host name ${hostname}`
      this.#context.error(hostname === undefined ? path : pathTo(path, 'hostname'), `${former} already has ${which}`)
    }
    this.#hostnames.set(place, path)
    this.#context.config.listeners.push({
      key,
      bindKey,
      name: { gatewayNamespace: namespace, gatewayName: gateway, listenerName: name },
      ...defined({ hostname }),
      protocol: 'HTTP',
    })
    this.#attach(input, { namespace, name: gateway, listener: name })
  }

  /** Before routing, so that they hold for requests without a route too. */
  #attach({ policies, policiesPath }: ListenerInput, gateway: GatewayTarget): void {
    const { payload, rules } = gatewayTraffic(policies, policiesPath, this.#context)
    const fields = Object.entries(payload).map(([field, value]): TrafficPayload => ({ [field]: value }))
    for (const traffic of [...fields, ...rules.map((authorization) => ({ authorization }))]) {
      this.#context.attach(`listener/${this.#policyCount++}`, { gateway }, { phase: 'PreRouting', traffic })
    }
  }
}
