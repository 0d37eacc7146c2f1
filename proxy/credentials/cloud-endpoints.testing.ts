// Token endpoints and metadata servers of cloudB and cloudC on loopback, as the vendors' public documentation describes
// them. They check each request, and answer as the test requires.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Fetch } from './cloud-fetch.ts'

/** Tests replace the fetch of the process by `send`. */
const loopbackFetch = fetch

export interface Seen {
  readonly method: string
  /** The host that the client meant. */
  readonly host: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}

/** undefined: the endpoint never answers. */
type Handler = (seen: Seen) => Answer | undefined

export class CloudEndpoints {
  readonly seen: Seen[] = []
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response))
  /** By the host that the client meant, and the start of the path. */
  readonly #handlers: { readonly host: string; readonly path: string; readonly handler: Handler }[] = []

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  get authority(): string {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has an AddressInfo
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The last handler for a place is the one in use. */
  on(place: string, handler: Handler): void {
    const slash = place.indexOf('/')
    this.#handlers.unshift({ host: place.slice(0, slash), path: place.slice(slash), handler })
  }

  /** Leads every request here, and names the host that was meant in a header field. */
  readonly send: Fetch = async (input, init) => {
    const url = new URL(input)
    const headers = new Headers(init?.headers)
    headers.set('x-meant', url.host)
    return await loopbackFetch(`http://${this.authority}${url.pathname}${url.search}`, { ...init, headers })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const { method = '', headers, url: target = '/' } = request
    const meant = headers['x-meant']
    const host = typeof meant === 'string' ? meant : (headers.host ?? '')
    const url = new URL(`http://${host}${target}`)
    const seen: Seen = { method, host, url, headers, body: Buffer.concat(chunks).toString('utf8') }
    this.seen.push(seen)
    // Without the header field, the client was configured with the address of this server.
    const known = meant === undefined ? undefined : host
    const found = this.#handlers.find(
      (one) => (known === undefined || one.host === known) && url.pathname.startsWith(one.path),
    )
    if (found === undefined) {
      response.writeHead(404).end()
      return
    }
    const answer = found.handler(seen)
    if (answer === undefined) return
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
    const type = typeof answer.body === 'string' ? 'application/text' : 'application/json'
    response.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers }).end(text)
  }
}
