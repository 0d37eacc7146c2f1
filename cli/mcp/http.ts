// Requests of gw mcp check: bounded in time and size, without redirects, as security-sensitive clients send them.
import { parseJson, parseJsonExactly } from '#api/json.ts'
import { SseParser } from '#proxy/http/sse.ts'

const BODY_BYTES_MAX = 4 * 1024 * 1024

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** undefined: not JSON. */
  readonly json: unknown
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The server did not answer: the name, the connection, TLS or the time. */
export class Unreachable extends Error {}

export class HttpClient {
  readonly #timeoutMs: number

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** @throws {Unreachable} */
  async send(url: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<Answer> {
    // A server may name any URL: `data:` would be read as its document.
    if (!/^https?:/i.test(url)) throw new Unreachable(`${url} is not a URL with http or https`)
    const signal = AbortSignal.timeout(this.#timeoutMs)
    try {
      const options = { method, headers, redirect: 'manual', signal, ...(body !== undefined && { body }) } as const
      const response = await fetch(url, options)
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
      const text = isStream ? await firstMessage(response) : await wholeText(response)
      return { status: response.status, headers: response.headers, text, json: parseJsonExactly(text) }
    } catch (error) {
      throw new Unreachable(`${url}: ${reasonOf(error, this.#timeoutMs)}`)
    }
  }
}

/** The data of the first event that is a JSON-RPC response; the rest of the stream is not read. */
async function firstMessage({ body }: Response): Promise<string> {
  const parser = new SseParser(BODY_BYTES_MAX)
  for await (const chunk of body ?? []) {
    for (const { data } of parser.push(Buffer.from(chunk))) {
      const message = parseJson(data)
      if (typeof message === 'object' && message !== null && ('result' in message || 'error' in message)) return data
    }
  }
  return ''
}

async function wholeText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Error(`the response is larger than ${BODY_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no response within ${timeoutMs / 1000} s`
  const { cause } = error
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}
