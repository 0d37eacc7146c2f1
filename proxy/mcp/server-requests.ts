// Requests of servers to the client (sampling, elicitation, roots) under the rules of the backend. A denied request
// never reaches the client: its server gets an error; a result that asks for denied input becomes an error.
import { isRecord, type JsonRecord } from '#api/json.ts'
import { reportIfBug } from '../exchange/defects.ts'
import { messageOf } from '../exchange/diagnosis.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { McpEndpoint } from './context.ts'
import { notify, type Member } from './fan-out.ts'
import { errorResponse, type JsonRpcError, type JsonRpcRequest } from './jsonrpc.ts'
import { noteDropped } from './server-messages.ts'

/** As of guardrails, for what is not permitted. */
const DENIED: JsonRpcError = { code: -32_001, message: 'the rules of the gateway do not allow this request' }
/** Characters of a method in the log: a server may send any text. */
const METHOD_SHOWN_MAX = 64

interface Asked {
  readonly endpoint: Pick<McpEndpoint, 'isAllowed'>
  readonly exchange: Exchange
}

/** Whether the server may send the request to the client; a server that may not gets an error. */
export async function mayAsk({ endpoint, exchange }: Asked, member: Member, request: JsonRpcRequest): Promise<boolean> {
  const { name: target } = member.target
  if (isPermitted({ endpoint, exchange }, target, request.method)) return true
  noteDropped(exchange, target)
  noteDenied(exchange, target, request.method)
  await refuse(exchange, member, errorResponse(request.id, DENIED))
  return false
}

/** The error in place of a result with denied requests for input (MCP 2026-07-28, also of tasks). */
export function deniedInput(asked: Asked, target: string, { inputRequests }: JsonRecord): JsonRpcError | undefined {
  if (!isRecord(inputRequests)) return undefined
  for (const request of Object.values(inputRequests)) {
    const method = isRecord(request) && typeof request['method'] === 'string' ? request['method'] : ''
    if (isPermitted(asked, target, method)) continue
    noteDropped(asked.exchange, target)
    noteDenied(asked.exchange, target, method)
    return { code: DENIED.code, message: 'the server asks for input that the rules of the gateway do not allow' }
  }
  return undefined
}

/** A server that cannot be reached ends neither the call nor the stream of the client. */
export async function refuse(
  exchange: Exchange,
  member: Member,
  error: ReturnType<typeof errorResponse>,
): Promise<void> {
  try {
    await notify(exchange, member, error)
  } catch (failure) {
    reportIfBug('mcp server request', failure)
    exchange.errorDetail ??= `${member.target.name}: ${messageOf(failure)}`
  }
}

/** Rules see the request as `mcp.serverRequest`, and the item of the call in which the server sent it. */
function isPermitted({ endpoint, exchange }: Asked, target: string, method: string): boolean {
  const { mcp } = exchange
  // The server checks its connection.
  if (method === 'ping' || mcp === undefined) return true
  const { methodName } = mcp
  mcp.methodName = method
  mcp.serverRequest = { target, name: method }
  try {
    return endpoint.isAllowed(exchange)
  } finally {
    mcp.methodName = methodName
    mcp.serverRequest = undefined
  }
}

function noteDenied(exchange: Exchange, target: string, method: string): void {
  exchange.errorDetail ??= `${target}: the rules deny its request ${method.slice(0, METHOD_SHOWN_MAX)}`
}
