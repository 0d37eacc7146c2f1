// An MCP client for load over several replicas: it takes them in turn, and retries once, at another replica.
import { Agent, type IncomingMessage, request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-06-18',
}
const DEADLINE_MS = 60_000

export interface Reply {
  readonly status: number
  readonly session: string | undefined
  readonly text: string
}

/** What clients see. */
export interface Seen {
  calls: number
  /** Requests that succeeded at their second attempt. */
  retried: number
  /** Requests that failed twice, with the reasons. */
  readonly failed: string[]
}

export class LoadClient {
  readonly #ports: readonly number[]
  readonly #agent: Agent
  readonly #seen: Seen
  #next: number
  session = ''

  /** `first`: index of the port of the first request. */
  constructor(
    ports: readonly number[],
    options: { readonly agent: Agent; readonly seen: Seen; readonly first: number },
  ) {
    this.#ports = ports
    this.#agent = options.agent
    this.#seen = options.seen
    this.#next = options.first
  }

  async open(): Promise<void> {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'load', version: '1' } }
    this.session = (await this.#retrying((at) => this.#post(at, { id: 1, method: 'initialize', params }))).session ?? ''
    if (this.session === '') throw new Error('initialize opened no session')
    await this.#retrying((at) => this.#post(at, { method: 'notifications/initialized' }))
  }

  async call(name: string): Promise<void> {
    this.#seen.calls++
    const { text } = await this.#retrying((at) => this.#post(at, { id: 2, method: 'tools/call', params: { name } }))
    if (!text.includes('"result"')) throw new Error(`unexpected answer: ${text}`)
  }

  /** Sends a call whose response stays open, and leaves after its head. */
  async abandonCall(name: string): Promise<void> {
    const response = await this.#send(this.#next, 'POST', { id: 3, method: 'tools/call', params: { name } })
    response.destroy()
  }

  /** The stream of the session. */
  listen(): Promise<IncomingMessage> {
    return this.#retrying((at) => this.#send(at, 'GET'))
  }

  async end(): Promise<void> {
    await replyOf(await this.#send(this.#next, 'DELETE'))
  }

  async #post(at: number, message: object): Promise<Reply> {
    return replyOf(await this.#send(at, 'POST', message))
  }

  /** `attempt` gets the index of a replica. */
  async #retrying<T>(attempt: (at: number) => Promise<T>): Promise<T> {
    const at = this.#next++
    try {
      return await attempt(at)
    } catch (first) {
      try {
        const result = await attempt(at + 1)
        this.#seen.retried++
        return result
      } catch (second) {
        this.#seen.failed.push(`${String(first)}; then ${String(second)}`)
        throw second
      }
    }
  }

  #send(at: number, method: string, message?: object): Promise<IncomingMessage> {
    const port = this.#ports[at % this.#ports.length]
    const headers = { ...HEADERS, ...(this.session !== '' && { 'mcp-session-id': this.session }) }
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, path: '/mcp', method, headers, agent: this.#agent },
        (response) => {
          if ((response.statusCode ?? 0) < 300) resolve(response)
          else textOf(response).then((text) => reject(new Error(`${response.statusCode} ${text}`)), reject)
        },
      )
      sent.setTimeout(method === 'GET' ? 0 : DEADLINE_MS, () => sent.destroy(new Error('no answer in time')))
      sent.once('error', reject).end(message && JSON.stringify({ jsonrpc: '2.0', ...message }))
    })
  }
}

async function replyOf(response: IncomingMessage): Promise<Reply> {
  const session = response.headers['mcp-session-id']
  return { status: response.statusCode ?? 0, session: session?.toString(), text: await textOf(response) }
}
