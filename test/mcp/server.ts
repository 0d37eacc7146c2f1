// An MCP server for load: sessions, one stream for each session (409 for a second one), and counts of what is open.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { closeServer, listening } from '#test/ports.ts'

/** Clients that leave without DELETE: the oldest sessions are dropped. */
const SESSIONS_MAX = 20_000
const VERSION = '2025-06-18'

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string }
}

export class LoadServer {
  /** With the stream of the session. */
  readonly #sessions = new Map<string, ServerResponse | undefined>()
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  /** Calls whose responses are streams that stay open. */
  silent = 0
  port = 0

  async start(): Promise<this> {
    // A connection that the server closes while the gateway sends a request looks like a failure of the gateway.
    this.#server.keepAliveTimeout = 0
    this.port = await listening(this.#server)
    return this
  }

  stop(): void {
    closeServer(this.#server)
  }

  get sessions(): number {
    return this.#sessions.size
  }

  get streams(): number {
    return [...this.#sessions.values()].filter((stream) => stream !== undefined).length
  }

  /** One message on the stream of each session. */
  notifyAll(): void {
    const message = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    for (const stream of this.#sessions.values()) stream?.write(eventOf(message))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id']
    const text = await textOf(request).catch(() => undefined)
    if (text === undefined) return void response.destroy()
    if (id !== undefined && !this.#sessions.has(String(id))) return void response.writeHead(404).end('no session')
    if (request.method === 'GET') return this.#listen(String(id), response)
    if (request.method === 'DELETE') {
      this.#sessions.get(String(id))?.end()
      this.#sessions.delete(String(id))
      return void response.writeHead(200).end()
    }
    // The clients of this folder send messages of this shape.
    this.#answer(JSON.parse(text) as Message, response)
  }

  #listen(id: string, response: ServerResponse): void {
    if (this.#sessions.get(id) !== undefined) return void response.writeHead(409).end('one stream for each session')
    this.#sessions.set(id, response)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    response.once('close', () => {
      if (this.#sessions.get(id) === response) this.#sessions.set(id, undefined)
    })
  }

  #answer({ id, method, params }: Message, response: ServerResponse): void {
    if (id === undefined) return void response.writeHead(202).end()
    if (params?.name === 'silent') {
      this.silent++
      response.once('close', () => this.silent--)
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    }
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (method === 'initialize') headers['mcp-session-id'] = this.#open()
    const result =
      method === 'initialize'
        ? { protocolVersion: VERSION, capabilities: { tools: {} }, serverInfo: { name: 'load', version: '1' } }
        : { content: [{ type: 'text', text: String(params?.name) }] }
    response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  }

  #open(): string {
    const id = randomUUID()
    this.#sessions.set(id, undefined)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > SESSIONS_MAX && oldest !== undefined) this.#sessions.delete(oldest)
    return id
  }
}

function eventOf(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}
