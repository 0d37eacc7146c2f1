// Relays to the proxies of Gateways that the page of a controller links to. Each has a port and a key of its own, so
// that the page of one proxy cannot use the rights of another.
import type { AdminTransport } from '../portforward/admin-client.ts'
import type { Relay } from './relay.ts'

/** Below `/` of the relay of the controller. */
export const GATEWAYS_PATH = 'gateways/'

/** Gateways whose web UI was opened last; a browser has no use for more. */
const RELAYS_MAX = 32
/** Names of Kubernetes objects. */
const GATEWAY = /^\/gateways\/([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/

interface OpenRelay extends Relay {
  readonly label: string
}

export interface GatewayRelaysOptions<T extends AdminTransport> {
  /** A proxy of the Gateway. @throws {Error} with a message for the user */
  readonly find: (namespace: string, name: string) => Promise<T>
  readonly start: (transport: T) => Promise<Relay>
}

export class GatewayRelays<T extends AdminTransport> {
  /** The one that was used last is the last. */
  readonly #open = new Map<string, OpenRelay>()
  readonly #options: GatewayRelaysOptions<T>

  constructor(options: GatewayRelaysOptions<T>) {
    this.#options = options
  }

  /** The URL for a path of the relay of the controller; undefined: not the path of a Gateway. */
  urlFor(path: string): Promise<string> | undefined {
    const [, namespace, name] = GATEWAY.exec(path) ?? []
    return namespace === undefined || name === undefined ? undefined : this.#urlOf(namespace, name)
  }

  async #urlOf(namespace: string, name: string): Promise<string> {
    const key = `${namespace}/${name}`
    const transport = await this.#options.find(namespace, name)
    const known = this.#open.get(key)
    // The pod of the first time may have been replaced.
    const relay = known?.label === transport.label ? known : await this.#started(transport)
    if (known !== relay) known?.close()
    this.#open.delete(key)
    this.#open.set(key, relay)
    for (const [oldest, one] of this.#open) {
      if (this.#open.size <= RELAYS_MAX) break
      one.close()
      this.#open.delete(oldest)
    }
    return relay.url
  }

  async #started(transport: T): Promise<OpenRelay> {
    return { ...(await this.#options.start(transport)), label: transport.label }
  }

  close(): void {
    for (const relay of this.#open.values()) relay.close()
  }
}
