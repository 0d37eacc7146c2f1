// The HTTP client that the library of cloudB gets: its requests, sent by a CloudFetch.
import type { ClientSecretCredentialOptions } from '@azure/identity'
import type { CloudFetch } from '../cloud-fetch.ts'
import { TokenError } from '../token.ts'

export type HttpClient = NonNullable<ClientSecretCredentialOptions['httpClient']>
type PipelineResponse = Awaited<ReturnType<HttpClient['sendRequest']>>

export function httpClient(cloud: CloudFetch): HttpClient {
  return {
    sendRequest: async (request) => {
      const { url, method, headers, body, abortSignal, timeout } = request
      if (body !== undefined && body !== null && typeof body !== 'string') {
        throw new TokenError('Unavailable', 'the library sent a body of an unknown kind')
      }
      const stop = new AbortController()
      const abort = (): void => stop.abort()
      if (abortSignal?.aborted === true) abort()
      abortSignal?.addEventListener('abort', abort)
      const timer = timeout > 0 ? setTimeout(abort, timeout) : undefined
      try {
        const response = await cloud.fetch(url, {
          method,
          headers: Object.entries(headers.toJSON({ preserveCase: true })),
          ...(typeof body === 'string' && { body }),
          signal: stop.signal,
        })
        const answer: PipelineResponse = {
          request,
          status: response.status,
          headers: new AnswerHeaders(response.headers),
          bodyAsText: await response.text(),
        }
        return answer
      } finally {
        clearTimeout(timer)
        abortSignal?.removeEventListener('abort', abort)
      }
    },
  }
}

/** Header fields in the form that the library reads. */
class AnswerHeaders {
  readonly #fields: Headers

  constructor(fields: Headers) {
    this.#fields = fields
  }

  get(name: string): string | undefined {
    return this.#fields.get(name) ?? undefined
  }

  has(name: string): boolean {
    return this.#fields.has(name)
  }

  set(name: string, value: string | number | boolean): void {
    this.#fields.set(name, String(value))
  }

  delete(name: string): void {
    this.#fields.delete(name)
  }

  toJSON(): Record<string, string> {
    return Object.fromEntries(this.#fields)
  }

  [Symbol.iterator](): Iterator<[string, string]> {
    return this.#fields.entries()
  }
}
