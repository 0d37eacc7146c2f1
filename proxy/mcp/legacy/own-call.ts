// Requests of Streamable HTTP that the gateway handles in the place of a client's request, and that outlive it.
import { derive } from '../../exchange/derive.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HttpRequest } from '../../message/message.ts'
import { emptyMcpFacts } from '../context.ts'
import { EVENT_STREAM, SESSION_FIELDS } from '../http-reply.ts'

export interface OwnCall {
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** Id of the session. */
  readonly session: string | undefined
  /** The end of the call. */
  readonly signal: AbortSignal
}

export function ownCall(exchange: Exchange, { method, session, signal }: OwnCall): Exchange {
  const { host, scheme, path, headers: sent } = exchange.request
  const headers = sent.clone()
  headers.remove('mcp-session-id')
  if (session !== undefined) headers.append('mcp-session-id', session)
  headers.set('accept', method === 'GET' ? EVENT_STREAM : `application/json, ${EVENT_STREAM}`)
  const request = new HttpRequest({ method, path, query: '', host, scheme, version: 'HTTP/1.1', headers })
  request.hideFields(SESSION_FIELDS)
  const own = derive(exchange, { request, signal })
  own.backendName = exchange.backendName
  own.mcp = emptyMcpFacts()
  return own
}
