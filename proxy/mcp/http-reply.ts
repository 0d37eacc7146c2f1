// HTTP responses of the MCP endpoint: event streams, JSON-RPC errors, and rejections of the transport.
import { sseEventText } from '../http/sse.ts'
import type { Cancellable } from '../message/body.ts'
import { madeStream } from '../message/made-stream.ts'
import { HttpResponse } from '../message/message.ts'
import { type FieldsOrigin, HeaderList } from '../message/headers.ts'
import { errorResponse, type JsonRpcError, type JsonRpcId, type JsonRpcMessage } from './jsonrpc.ts'
import { eventsOf } from './targets/events.ts'
import type { EventStream, MessageStream, TargetHttpError } from './targets/target.ts'

/** The id is a credential for the session: logs do not show it. */
export const SESSION_FIELDS: readonly string[] = ['mcp-session-id']

export const EVENT_STREAM = 'text/event-stream'

const OF_JSON: FieldsOrigin = { fields: ['content-type', 'application/json'], block: undefined }
const OF_STREAM: FieldsOrigin = {
  fields: ['content-type', EVENT_STREAM, 'cache-control', 'no-cache'],
  block: undefined,
}

export function plain(status: number, text: string): HttpResponse {
  return HttpResponse.local(status, text)
}

export function accepted(): HttpResponse {
  return HttpResponse.local(202)
}

/** A JSON-RPC error with the HTTP status of the data-plane supplement section 4.5. */
export function rpcError(status: number, id: JsonRpcId | null, error: JsonRpcError): HttpResponse {
  const body = id === null ? { jsonrpc: '2.0', id: null, error } : errorResponse(id, error)
  return HttpResponse.local(status, JSON.stringify(body), [['content-type', 'application/json']])
}

export function passedThrough(error: TargetHttpError): HttpResponse {
  const headers = new HeaderList()
  if (error.contentType !== undefined) headers.append('content-type', error.contentType)
  for (const [name, value] of error.signIn) headers.append(name, value)
  return new HttpResponse(error.status, headers, error.body, false)
}

/** A response that no other message precedes, as JSON. `text`: the message, if it is written already. */
export function jsonAnswer(
  message: JsonRpcMessage,
  { sessionId, text }: { readonly sessionId?: string | undefined; readonly text?: Buffer | string | undefined } = {},
): HttpResponse {
  const body = text ?? JSON.stringify(message)
  return inSession(new HttpResponse(200, HeaderList.repeated(OF_JSON), body, false), sessionId)
}

export function eventStream(messages: MessageStream): HttpResponse {
  return resumableStream(eventsOf(messages))
}

/** Events with ids of the gateway. */
export function resumableStream(events: EventStream): HttpResponse {
  return streamOf(madeStream(encode(events), () => events.cancel()))
}

/** Of events that are text already. */
export function streamOf(events: Cancellable<Buffer>): HttpResponse {
  return new HttpResponse(200, HeaderList.repeated(OF_STREAM), events, false)
}

function inSession(response: HttpResponse, sessionId: string | undefined): HttpResponse {
  if (sessionId === undefined) return response
  response.headers.append('mcp-session-id', sessionId)
  response.secretFields = SESSION_FIELDS
  return response
}

export function single(message: JsonRpcMessage): MessageStream {
  return madeStream(once(message), () => {})
}

async function* once(message: JsonRpcMessage): AsyncGenerator<JsonRpcMessage> {
  yield message
}

async function* encode(events: EventStream): AsyncGenerator<Buffer> {
  for await (const { message, id, retryMs } of events) {
    if (message !== undefined) {
      yield Buffer.from(sseEventText({ event: 'message', data: JSON.stringify(message), id, retryMs }))
    } else if (id !== undefined || retryMs !== undefined) {
      yield Buffer.from(sseEventText({ event: '', data: '', id, retryMs }))
    }
  }
}

/** `text`: of one message, possibly with several lines. */
export function eventOf(text: string): string {
  return sseEventText({ event: 'message', data: text })
}
