// One HTTP request with exactly the headers of a test, and its whole response. No redirects, no retries.
import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'

export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

const DEADLINE_MS = 15_000

export function ask(url: string, { method = 'GET', headers = {}, body = '' }: Question = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const options = { method, headers: { ...length, ...headers }, agent: false, signal: AbortSignal.timeout(DEADLINE_MS) }
  const call = request(url, options, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
    })
  })
  call.on('error', reject)
  call.end(body)
  return promise
}
