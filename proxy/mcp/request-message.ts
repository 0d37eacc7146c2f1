// The JSON-RPC message in the body of a request.
import type { Exchange } from '../exchange/exchange.ts'
import { arrivedBody } from '../message/arrived-body.ts'
import { BodyTooLarge } from '../message/body.ts'
import { HttpResponse } from '../message/message.ts'
import { plain, rpcError } from './http-reply.ts'
import { INVALID_REQUEST, type JsonRpcMessage, parseMessage } from './jsonrpc.ts'
import { type Later, whenReady } from './later.ts'
import { takeTrace } from './trace-context.ts'

/** A rejection if the body is not one message (data-plane supplement section 4.1). */
export function requestMessage(exchange: Exchange, bytesMax: number): Later<JsonRpcMessage | HttpResponse> {
  if (exchange.request.headers.get('content-type')?.startsWith('application/json') !== true) {
    return plain(415, 'Content-Type must be application/json')
  }
  return whenReady(readBody(exchange, bytesMax), (body) =>
    typeof body === 'string' ? messageIn(exchange, body) : body,
  )
}

function messageIn(exchange: Exchange, text: string): JsonRpcMessage | HttpResponse {
  const message = parseMessage(text)
  if (message === undefined) {
    return rpcError(400, null, { code: INVALID_REQUEST, message: 'the body is not a single JSON-RPC 2.0 message' })
  }
  takeTrace(exchange, message)
  if (exchange.mcp !== undefined && 'method' in message) exchange.mcp.methodName = message.method
  return message
}

function readBody(exchange: Exchange, bytesMax: number): Later<string | HttpResponse> {
  const { body } = exchange.request
  if (body === undefined || Buffer.isBuffer(body)) return body?.toString('utf8') ?? ''
  const arrived = arrivedBody(body, bytesMax)
  if (arrived !== undefined) return arrived.toString('utf8')
  return body.collect(bytesMax).then(
    (bytes) => bytes.toString('utf8'),
    (error: unknown) => exchange.fail(error instanceof BodyTooLarge ? 'bodyTooLarge' : 'invalidRequest'),
  )
}
