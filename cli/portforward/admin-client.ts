// A client of the admin server of one proxy, over any stream of bytes: a socket of this machine, or a port that the
// Kubernetes API server forwards. It does not depend on the kind of transport.
import { request, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { messageOf } from '#proxy/exchange/diagnosis.ts'

/** Opens streams to one admin server. */
export interface AdminTransport {
  /** Name of the proxy for users: an address, or `pod.namespace`. */
  readonly label: string
  /** The token for the server; undefined: none is known, and the server may require none. Rejects like `open`. */
  token?(): Promise<string | undefined>
  /** Opens a stream for one request. Rejects with the reason if it cannot. */
  open(): Promise<Duplex>
}

export interface AdminAnswer {
  readonly status: number
  readonly text: string
}

export interface AdminDownload {
  readonly status: number
  readonly body: Buffer
}

const ANSWER_MS_MAX = 30_000
const ANSWER_BYTES_MAX = 256 * 1024 * 1024

export class AdminClient {
  readonly #transport: AdminTransport

  constructor(transport: AdminTransport) {
    this.#transport = transport
  }

  get label(): string {
    return this.#transport.label
  }

  /**
   * As `ask`, for a response without an end: only its head has a deadline. `signal` ends it.
   * @throws {Error} that names the proxy, if it returns no response
   */
  async open(method: 'GET' | 'POST', path: string, signal: AbortSignal): Promise<AdminStream> {
    return this.#named(async () => {
      const ended = new AbortController()
      const end = (): void => ended.abort()
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) end()
      const timer = setTimeout(end, ANSWER_MS_MAX)
      const response = await this.#send(method, path, ended.signal).finally(() => clearTimeout(timer))
      response.setEncoding('utf8')
      // The encoding makes the chunks strings.
      return { status: response.statusCode ?? 0, chunks: response as AsyncIterable<string> }
    })
  }

  /** @throws {Error} that names the proxy, if it returns no response */
  async ask(method: 'GET' | 'POST', path: string): Promise<AdminAnswer> {
    const { status, body } = await this.download(method, path, ANSWER_MS_MAX)
    return { status, text: body.toString('utf8') }
  }

  /** As `ask`, for a response that takes up to `deadlineMs` to arrive, or is not text. */
  async download(method: 'GET' | 'POST', path: string, deadlineMs: number): Promise<AdminDownload> {
    return this.#named(async () => {
      const response = await this.#send(method, path, AbortSignal.timeout(deadlineMs))
      try {
        return { status: response.statusCode ?? 0, body: await bytesOf(response) }
      } finally {
        response.destroy()
      }
    })
  }

  async #named<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      throw new Error(`cannot reach the admin server ${this.label}: ${messageOf(error)}`, { cause: error })
    }
  }

  /** The response begins; its stream ends with it. */
  async #send(method: 'GET' | 'POST', path: string, signal: AbortSignal): Promise<IncomingMessage> {
    const headers = await this.#headers()
    const stream = await this.#transport.open()
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    // A forwarded port can fail before the request uses it.
    stream.on('error', reject)
    const call = request({ method, path, headers, createConnection: () => stream, signal }, resolve)
    call.on('error', reject)
    call.on('close', () => stream.destroy())
    call.end()
    return promise
  }

  /** The admin server accepts only host names of this machine, also through a forwarded port. */
  async #headers(): Promise<Record<string, string>> {
    const token = await this.#transport.token?.()
    return { host: 'localhost', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  }
}

/** A response whose body arrives as the server writes it. */
export interface AdminStream {
  readonly status: number
  /** UTF-8. */
  readonly chunks: AsyncIterable<string>
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    // Without an encoding the chunks are bytes.
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the response is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
