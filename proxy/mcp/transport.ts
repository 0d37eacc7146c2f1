// Streamable HTTP towards the client: the checks that all protocol versions share, in the order of the data-plane
// supplement section 4.1. Then the era of the request decides: legacy/ or modern/.
import type { Exchange } from '../exchange/exchange.ts'
import { HttpResponse } from '../message/message.ts'
import { emptyMcpFacts, type McpEndpoint } from './context.ts'
import { unsupportedVersion, withFailures } from './failures.ts'
import { EVENT_STREAM, plain, SESSION_FIELDS } from './http-reply.ts'
import { isRequest, type JsonRpcMessage } from './jsonrpc.ts'
import { answerSse } from './legacy/sse-transport.ts'
import { answerDelete, answerGet, answerLegacy } from './legacy/transport.ts'
import { type Later, whenReady } from './later.ts'
import { answerModern, isModern } from './modern/transport.ts'
import { requestMessage } from './request-message.ts'
import { SUPPORTED_VERSIONS } from './versions.ts'

export function answerMcp(exchange: Exchange, endpoint: McpEndpoint): Later<HttpResponse> {
  const isStateful = endpoint.settings.sessionRouting === 'Stateful'
  const { method } = exchange.request
  exchange.mcp = emptyMcpFacts()
  exchange.request.hideFields(SESSION_FIELDS)
  const sse = answerSse(exchange, endpoint)
  if (sse !== undefined) return sse
  if (method === 'POST') return answerPost(exchange, endpoint)
  if (method === 'GET' && isStateful) return withFailures(exchange, null, () => answerGet(exchange, endpoint))
  if (method === 'DELETE' && isStateful) return withFailures(exchange, null, () => answerDelete(exchange, endpoint))
  return exchange.fail('methodNotAllowed')
}

function answerPost(exchange: Exchange, endpoint: McpEndpoint): Later<HttpResponse> {
  const refusal = checkHeaders(exchange)
  if (refusal !== undefined) return refusal
  return whenReady(requestMessage(exchange, endpoint.bodyBytesMax), (message) =>
    message instanceof HttpResponse ? message : answerMessage(exchange, endpoint, message),
  )
}

function answerMessage(exchange: Exchange, endpoint: McpEndpoint, message: JsonRpcMessage): Later<HttpResponse> {
  const version = checkVersion(exchange, message)
  if (version !== undefined) return version
  const id = isRequest(message) ? message.id : null
  return withFailures(exchange, id, () =>
    isModern(exchange, message) ? answerModern(exchange, endpoint, message) : answerLegacy(exchange, endpoint, message),
  )
}

function checkHeaders({ request }: Exchange): HttpResponse | undefined {
  const { headers } = request
  const accept = headers.isRepeated('accept') ? headers.getAll('accept').join(',') : (headers.get('accept') ?? '')
  if (!accept.includes('application/json') || !accept.includes(EVENT_STREAM)) {
    return plain(406, 'Accept must list application/json and text/event-stream')
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
