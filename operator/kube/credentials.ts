// Headers and connections for the API server, from a kubeconfig or a pod. Both are read again from time to time,
// because tokens and certificates are replaced while the process runs.
import type { RequestOptions } from 'node:https'
import type { KubeConfig } from '@kubernetes/client-node'
import { type Connections, connectionPool, type ServerTls } from '../http/pool.ts'

export interface Access {
  readonly headers: Readonly<Record<string, string>>
  readonly connections: Connections
}

/** Credentials are replaced minutes before the old ones expire. */
const FRESH_MS = 10_000
/** More than all queues and watches use at the same time: a slow answer for one namespace delays no other. */
const CONNECTIONS_MAX = 320
const CONNECT_MS_MAX = 30_000

export class Credentials {
  readonly #config: KubeConfig
  readonly #origin: string
  #access: { readonly value: Access; readonly untilMs: number } | undefined = undefined
  #connections: { readonly of: string; readonly value: Connections } | undefined = undefined

  /** `origin`: scheme, host and port of the API server. */
  constructor(config: KubeConfig, origin: string) {
    this.#config = config
    this.#origin = origin
  }

  async access(): Promise<Access> {
    const known = this.#access
    if (known !== undefined && performance.now() < known.untilMs) return known.value
    const options: RequestOptions = {}
    await this.#config.applyToHTTPSOptions(options)
    // As client-node returns them: a plain record.
    const headers = { ...(options.headers as Record<string, string> | undefined) }
    const value = { headers, connections: this.#connectionsWith(options) }
    this.#access = { value, untilMs: performance.now() + FRESH_MS }
    return value
  }

  /** The server rejected them. */
  refused(): void {
    this.#access = undefined
  }

  close(): void {
    void this.#connections?.value.destroy()
  }

  /**
   * Connections are kept while the TLS credentials stay the same. With new credentials, requests in progress end on
   * their connection, and idle connections are closed soon.
   */
  #connectionsWith({ ca, cert, key, rejectUnauthorized, servername }: ServerTls): Connections {
    const of = [ca, cert, key].map(String).join('\n')
    if (this.#connections?.of === of) return this.#connections.value
    const tls = this.#origin.startsWith('https:') ? { ca, cert, key, rejectUnauthorized, servername } : undefined
    const value = connectionPool({
      origin: this.#origin,
      tls,
      connectionsMax: CONNECTIONS_MAX,
      connectMsMax: CONNECT_MS_MAX,
    })
    this.#connections = { of, value }
    return value
  }
}
