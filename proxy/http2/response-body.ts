// How the body of a response goes out on a stream: not at all, in one piece, or as it comes.
import type { OutgoingBody } from '../message/body.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import type { HttpResponse } from '../message/message.ts'
import { RelayedStream } from '../message/relayed-stream.ts'
import { isStreamed, lengthOf } from './body-sender.ts'

/** One DATA frame. */
const WHOLE_BYTES_MAX = 16_384

/** For HEAD, 204, 205 and 304: what they may say about the body that is not sent. */
export function bodilessFraming({ status, body }: HttpResponse): { length: number | undefined; keepsLength: boolean } {
  if (status === 204 || status === 205) return { length: undefined, keepsLength: false }
  const length = isStreamed(body) ? undefined : lengthOf(body)
  return { length, keepsLength: length === undefined }
}

/** A small body that is all here goes out in one piece. */
export function wholeOrStream(sent: OutgoingBody): OutgoingBody {
  if (sent === '') return undefined
  const body = sent instanceof RelayedStream ? sent.body : sent
  if (!(body instanceof IncomingBody) || body.mayHaveTrailers) return body
  const text = body.takeWhole(WHOLE_BYTES_MAX)
  if (text === undefined) return body
  return text === '' ? undefined : Buffer.from(text, 'latin1')
}
