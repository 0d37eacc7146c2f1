// The messages in the HTTP response of a server: one as JSON, or a stream of events.
import { SseParser } from '../../http/sse.ts'
import { BodyAborted, BodyTooLarge, type StreamBody } from '../../message/body.ts'
import { arrivedBody } from '../../message/arrived-body.ts'
import { madeStream } from '../../message/made-stream.ts'
import type { UpstreamResponse } from '../../upstream/target.ts'
import { EVENT_STREAM } from '../http-reply.ts'
import { parseMessage, type JsonRpcMessage } from '../jsonrpc.ts'
import type { Later } from '../later.ts'
import { MESSAGE_BYTES_MAX, type MessageStream, TargetError, type WholeMessage } from './target.ts'

/** The response to a notification has no content: it is read only if it is a stream. */
export function messagesOf(name: string, response: UpstreamResponse): MessageStream {
  return madeStream(messagesIn(name, response), () => response.body.cancel())
}

export function isStream({ headers }: UpstreamResponse): boolean {
  return headers.get('content-type')?.startsWith(EVENT_STREAM) === true
}

/** undefined: no content. */
export function wholeOf(name: string, { body }: UpstreamResponse): Later<WholeMessage | undefined> {
  const arrived = arrivedBody(body, MESSAGE_BYTES_MAX)
  return arrived === undefined ? collected(name, body) : wholeIn(name, arrived)
}

function wholeIn(name: string, text: Buffer | string): WholeMessage | undefined {
  return text.length === 0 ? undefined : { message: messageOf(name, text.toString('utf8')), text }
}

async function collected(name: string, body: StreamBody): Promise<WholeMessage | undefined> {
  try {
    return wholeIn(name, await body.collect(MESSAGE_BYTES_MAX))
  } catch (error) {
    body.cancel()
    if (error instanceof BodyTooLarge || error instanceof BodyAborted)
      throw new TargetError(`${name}: ${error.message}`)
    throw error
  }
}

async function* messagesIn(name: string, response: UpstreamResponse): AsyncGenerator<JsonRpcMessage> {
  const parser = new SseParser(MESSAGE_BYTES_MAX)
  for await (const chunk of response.body) {
    for (const { data } of parser.push(chunk)) if (data !== '') yield messageOf(name, data)
  }
}

function messageOf(name: string, text: string): JsonRpcMessage {
  const message = parseMessage(text)
  if (message === undefined) throw new TargetError(`${name}: the server sent something that is not a JSON-RPC message`)
  return message
}
