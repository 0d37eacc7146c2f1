// The admin server of one proxy, over any stream of bytes that leads there: a socket of this machine today, a port that
// the Kubernetes API server forwards as soon as there is a transport for it. Knows neither.
import { request, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** The way to one admin server. */
export interface AdminTransport {
  /** As users call the proxy: an address, or `pod.namespace`. */
  readonly label: string
  /** For the server; undefined: it wants none, as far as anybody knows. Rejects like `open`. */
  token?(): Promise<string | undefined>
  /** One stream for one request. Rejects with an error whose message says why there is none. */
  open(): Promise<Duplex>
}

export interface AdminAnswer {
  readonly status: number
  readonly text: string
}

const ANSWER_MS_MAX = 30_000
const ANSWER_CHARACTERS_MAX = 256 * 1024 * 1024

export class AdminClient {
  readonly #transport: AdminTransport

  constructor(transport: AdminTransport) {
    this.#transport = transport
  }

  get label(): string {
    return this.#transport.label
  }

  /**
   * As `ask`, for an answer that lasts: only its head has a deadline. `signal` ends it.
   * @throws {Error} that names the proxy, when there is no answer.
   */
  async open(method: 'GET' | 'POST', path: string, signal: AbortSignal): Promise<AdminStream> {
    try {
      const headers = await this.#headers()
      const stream = await this.#transport.open()
      const ended = new AbortController()
      const end = (): void => ended.abort()
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) end()
      const timer = setTimeout(end, ANSWER_MS_MAX)
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
      const call = request({ method, path, headers, createConnection: () => stream, signal: ended.signal }, resolve)
      call.on('error', reject)
      call.on('close', () => stream.destroy())
      call.end()
      const response = await promise.finally(() => clearTimeout(timer))
      response.setEncoding('utf8')
      // The encoding makes texts of the chunks.
      return { status: response.statusCode ?? 0, chunks: response as AsyncIterable<string> }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`cannot reach the admin server ${this.label}: ${reason}`, { cause: error })
    }
  }

  /** @throws {Error} that names the proxy, when there is no answer. */
  async ask(method: 'GET' | 'POST', path: string): Promise<AdminAnswer> {
    try {
      const headers = await this.#headers()
      const stream = await this.#transport.open()
      try {
        const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
        const signal = AbortSignal.timeout(ANSWER_MS_MAX)
        const call = request({ method, path, headers, createConnection: () => stream, signal }, resolve)
        call.on('error', reject)
        call.end()
        const response = await promise
        return { status: response.statusCode ?? 0, text: await textOf(response) }
      } finally {
        stream.destroy()
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`cannot reach the admin server ${this.label}: ${reason}`, { cause: error })
    }
  }

  /** The admin server answers to the names of this machine only: a forwarded port is one. */
  async #headers(): Promise<Record<string, string>> {
    const token = await this.#transport.token?.()
    return { host: 'localhost', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  }
}

/** An answer whose body comes as it is made. */
export interface AdminStream {
  readonly status: number
  /** UTF-8. */
  readonly chunks: AsyncIterable<string>
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) {
    text += String(chunk)
    if (text.length > ANSWER_CHARACTERS_MAX) throw new Error('the response is too long')
  }
  return text
}
