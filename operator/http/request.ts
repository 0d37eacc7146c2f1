// Sends one HTTP/1.1 request through undici, with deadlines. Does not follow redirects, retry, or decode content. The
// dispatcher decides which connection is used (pool.ts, socket-client.ts).
import { type Dispatcher, errors } from 'undici'

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With the query; an absolute URI for a request to a proxy. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Ends the request, and the body of its answer. */
  readonly signal: AbortSignal
  /** From the sent request to the last header of the answer. Timers of undici may fire up to a second late. */
  readonly headMsMax: number
  /** Between two chunks of the body. */
  readonly idleMsMax: number
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Dispatcher.ResponseData['headers']
  /** Read with back-pressure. The connection is closed if the reader stops before the end. */
  readonly body: AsyncIterable<Uint8Array>
}

/** @throws {Error} no answer arrived. Reading the body throws if it is incomplete. */
export async function ask(dispatcher: Dispatcher, request: HttpRequest): Promise<HttpAnswer> {
  const { method, path, headers, body = null, signal, headMsMax, idleMsMax } = request
  try {
    signal.throwIfAborted()
    const deadlines = { headersTimeout: headMsMax, bodyTimeout: idleMsMax }
    const answer = await unlessAborted(
      dispatcher.request({ method, path, headers, body, signal, ...deadlines }),
      signal,
    )
    return { status: answer.statusCode, headers: answer.headers, body: partsOf(answer.body, request) }
  } catch (error) {
    throw explained(error, request)
  }
}

/** Undici checks the signal of a queued request only after the request got a connection. */
function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const aborted = (): void => reject(signal.reason)
  signal.addEventListener('abort', aborted, { once: true })
  return Promise.race([answer, promise]).finally(() => signal.removeEventListener('abort', aborted))
}

async function* partsOf(body: AsyncIterable<Uint8Array>, request: HttpRequest): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw explained(error, request)
  }
}

/** Replaces errors of undici by messages for users. */
function explained(error: unknown, { headMsMax, idleMsMax }: HttpRequest): unknown {
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.ConnectTimeoutError) {
    return new Error(`no response within ${headMsMax} ms`, { cause: error })
  }
  if (error instanceof errors.BodyTimeoutError) return new Error(`no data for ${idleMsMax} ms`, { cause: error })
  if (error instanceof errors.ResponseContentLengthMismatchError) {
    return new Error('the response ended early', { cause: error })
  }
  return error
}
