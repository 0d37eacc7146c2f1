// The JSON-RPC message in the body of a request.
import type { Exchange } from '../exchange/exchange.ts'
import { BodyTooLarge } from '../message/body.ts'
import { HttpResponse } from '../message/message.ts'
import { plain, rpcError } from './http-reply.ts'
import { INVALID_REQUEST, type JsonRpcMessage, parseMessage } from './jsonrpc.ts'
import { takeTrace } from './trace-context.ts'

/** A rejection if the body is not one message (data-plane supplement section 4.1). */
export async function requestMessage(exchange: Exchange, bytesMax: number): Promise<JsonRpcMessage | HttpResponse> {
  if (exchange.request.headers.get('content-type')?.startsWith('application/json') !== true) {
    return plain(415, 'Content-Type must be application/json')
  }
  const body = await readBody(exchange, bytesMax)
  if (!Buffer.isBuffer(body)) return body
  const message = parseMessage(body.toString('utf8'))
  if (message === undefined) {
    return rpcError(400, null, { code: INVALID_REQUEST, message: 'the body is not a single JSON-RPC 2.0 message' })
  }
  takeTrace(exchange, message)
  if (exchange.mcp !== undefined && 'method' in message) exchange.mcp.methodName = message.method
  return message
}

async function readBody(exchange: Exchange, bytesMax: number): Promise<Buffer | HttpResponse> {
  const { body } = exchange.request
  if (body === undefined || Buffer.isBuffer(body)) return body ?? Buffer.alloc(0)
  try {
    return await body.collect(bytesMax)
  } catch (error) {
    return exchange.fail(error instanceof BodyTooLarge ? 'bodyTooLarge' : 'invalidRequest')
  }
}
