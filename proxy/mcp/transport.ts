// Streamable HTTP towards the client: the checks that all protocol versions share, in the order of the data-plane
// supplement section 4.1. Then the era of the request decides: legacy/ or modern/.
import { BodyTooLarge } from '../message/body.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { HttpResponse } from '../message/message.ts'
import { emptyMcpFacts, type McpEndpoint } from './context.ts'
import { unsupportedVersion, withFailures } from './failures.ts'
import { EVENT_STREAM, plain, rpcError, SESSION_FIELDS } from './http-reply.ts'
import { INVALID_REQUEST, isRequest, parseMessage, type JsonRpcMessage } from './jsonrpc.ts'
import { answerDelete, answerGet, answerLegacy } from './legacy/transport.ts'
import { answerModern, isModern } from './modern/transport.ts'
import { SUPPORTED_VERSIONS } from './versions.ts'

export async function answerMcp(exchange: Exchange, endpoint: McpEndpoint): Promise<HttpResponse> {
  const isStateful = endpoint.settings.sessionRouting === 'Stateful'
  const { method } = exchange.request
  exchange.mcp = emptyMcpFacts()
  exchange.request.hideFields(SESSION_FIELDS)
  if (method === 'POST') return withFailures(exchange, null, () => answerPost(exchange, endpoint))
  if (method === 'GET' && isStateful) return withFailures(exchange, null, () => answerGet(exchange, endpoint))
  if (method === 'DELETE' && isStateful) return withFailures(exchange, null, () => answerDelete(exchange, endpoint))
  return exchange.fail('methodNotAllowed')
}

async function answerPost(exchange: Exchange, endpoint: McpEndpoint): Promise<HttpResponse> {
  const refusal = checkHeaders(exchange)
  if (refusal !== undefined) return refusal
  const body = await readBody(exchange, endpoint.bodyBytesMax)
  if (!Buffer.isBuffer(body)) return body
  const message = parseMessage(body.toString('utf8'))
  if (message === undefined) {
    return rpcError(400, null, { code: INVALID_REQUEST, message: 'the body is not a single JSON-RPC 2.0 message' })
  }
  const version = checkVersion(exchange, message)
  if (version !== undefined) return version
  if (exchange.mcp !== undefined && 'method' in message) exchange.mcp.methodName = message.method
  const id = isRequest(message) ? message.id : null
  return withFailures(exchange, id, () =>
    isModern(exchange, message) ? answerModern(exchange, endpoint, message) : answerLegacy(exchange, endpoint, message),
  )
}

function checkHeaders({ request }: Exchange): HttpResponse | undefined {
  const accept = request.headers.getAll('accept').join(',')
  if (!accept.includes('application/json') || !accept.includes(EVENT_STREAM)) {
    return plain(406, 'Accept must list application/json and text/event-stream')
  }
  if (request.headers.get('content-type')?.startsWith('application/json') !== true) {
    return plain(415, 'Content-Type must be application/json')
  }
  return undefined
}

function checkVersion(exchange: Exchange, message: JsonRpcMessage): HttpResponse | undefined {
  const requested = exchange.request.headers.get('mcp-protocol-version')
  if (requested === undefined || SUPPORTED_VERSIONS.includes(requested)) return undefined
  return unsupportedVersion(exchange, isRequest(message) ? message.id : null, {
    supported: SUPPORTED_VERSIONS,
    requested,
  })
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
