// How the API server is spoken to: headers and connections, from a kubeconfig or a pod. Both are looked up anew from
// time to time, because tokens and certificates are replaced while we run.
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent, type RequestOptions } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { KubeConfig } from '@kubernetes/client-node'

export interface Access {
  readonly headers: Readonly<Record<string, string>>
  readonly agent: HttpAgent | HttpsAgent
}

/** What replaces credentials does so minutes before the old ones end. */
const FRESH_MS = 10_000
const KEEP_ALIVE_MS = 15_000
const SOCKETS_MAX = 100

export class Credentials {
  readonly #config: KubeConfig
  readonly #isTls: boolean
  #access: { readonly value: Access; readonly untilMs: number } | undefined = undefined
  #agent: { readonly of: string; readonly value: HttpAgent | HttpsAgent } | undefined = undefined

  constructor(config: KubeConfig, isTls: boolean) {
    this.#config = config
    this.#isTls = isTls
  }

  async access(): Promise<Access> {
    const known = this.#access
    if (known !== undefined && performance.now() < known.untilMs) return known.value
    const options: RequestOptions = {}
    await this.#config.applyToHTTPSOptions(options)
    // As client-node gives them: a plain record.
    const headers = { ...(options.headers as Record<string, string> | undefined) }
    const value = { headers, agent: this.#agentOf(options) }
    this.#access = { value, untilMs: performance.now() + FRESH_MS }
    return value
  }

  /** The server did not take them. */
  refused(): void {
    this.#access = undefined
  }

  close(): void {
    this.#agent?.value.destroy()
  }

  /** Connections are kept for as long as the credentials of TLS stay the same; those under way end where they began. */
  #agentOf({ ca, cert, key, rejectUnauthorized, servername }: RequestOptions): HttpAgent | HttpsAgent {
    const of = [ca, cert, key].map(String).join('\n')
    if (this.#agent?.of === of) return this.#agent.value
    const common = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, maxSockets: SOCKETS_MAX }
    const value = this.#isTls
      ? new HttpsAgent({
          ...common,
          // Made once: for each connection it would be made again, and there are dozens of watches.
          secureContext: createSecureContext({ ca, cert, key }),
          ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
          ...(servername !== undefined && { servername }),
        })
      : new HttpAgent(common)
    this.#agent = { of, value }
    return value
  }
}
