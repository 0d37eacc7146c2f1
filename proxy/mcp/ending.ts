// Responses that hold something until their end.
import type { Cancellable, OutgoingBody } from '../message/body.ts'
import { madeStream } from '../message/made-stream.ts'
import type { HttpResponse } from '../message/message.ts'

/** Runs `end` once: at the end of the response, when the client cancels it, or at once if no response exists. */
export async function withEnd(work: () => Promise<HttpResponse>, end: () => Promise<void>): Promise<HttpResponse> {
  const response = await work().catch(async (error: unknown) => {
    await end()
    throw error
  })
  if (!isStream(response)) await end()
  return atEnd(response, end)
}

/** Runs `end` at the end of a stream, or when the client cancels it; not for other responses. */
export function atEnd(response: HttpResponse, end: () => Promise<void>): HttpResponse {
  const { body } = response
  if (isStreamed(body)) response.body = ending(body, end)
  return response
}

export function isStream({ body }: HttpResponse): boolean {
  return isStreamed(body)
}

function isStreamed(body: OutgoingBody): body is Cancellable<Buffer> {
  return body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body)
}

function ending(body: Cancellable<Buffer>, end: () => Promise<void>): Cancellable<Buffer> {
  let over: Promise<void> | undefined
  const endOnce = (): Promise<void> => (over ??= end())
  return madeStream(thenEnding(body, endOnce), () => {
    body.cancel()
    void endOnce()
  })
}

async function* thenEnding(body: Cancellable<Buffer>, end: () => Promise<void>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield chunk
  } finally {
    await end()
  }
}
