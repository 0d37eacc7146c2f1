// States of a request and its response for the trace: what expressions see of them, without bodies and credentials.
import { jsonText } from '#api/cel/values/json.ts'
import { recordOf } from '#api/json.ts'
import { variablesOf } from '../cel/variables.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { SentRequest } from '../exchange/request-trace.ts'
import type { HeaderList } from '../message/headers.ts'
import { microsAt } from '../log/timestamp.ts'
import type { Redactor } from './redactor.ts'

/** Variables that policies and backends fill in; shown once they are there. */
const LEARNED = [
  'jwt',
  'apiKey',
  'basicAuth',
  'extauthz',
  'extproc',
  'mcpGuardrails',
  'metadata',
  'llm',
  'mcp',
] as const

export function requestState(exchange: Exchange, redactor: Redactor, sent: SentRequest = {}): Record<string, unknown> {
  const { request } = exchange
  const host = sent.host ?? request.host
  const headers = redactor.headers(sent.headers ?? request.headers)
  const mark = sent.pathAndQuery?.indexOf('?') ?? -1
  const [path, rawQuery] =
    sent.pathAndQuery === undefined
      ? [request.path, request.query]
      : mark < 0
        ? [sent.pathAndQuery, '']
        : [sent.pathAndQuery.slice(0, mark), sent.pathAndQuery.slice(mark + 1)]
  const query = redactor.query(rawQuery)
  return {
    request: {
      method: sent.method ?? request.method,
      uri: `${request.scheme}://${host}${path}${query === '' ? '' : `?${query}`}`,
      path,
      host,
      scheme: request.scheme,
      version: request.version,
      headers,
      startTime: new Date(microsAt(exchange.startMs) / 1000).toISOString(),
    },
    ...surroundings(exchange),
  }
}

export function responseState(exchange: Exchange, redactor: Redactor): Record<string, unknown> {
  const { response } = exchange
  return {
    ...(response && { response: { code: response.status, headers: redactor.headers(response.headers) } }),
    proxy: durations(exchange),
    ...surroundings(exchange),
  }
}

/** Response of a call that is not (yet) the response of the exchange. */
export function upstreamState(
  exchange: Exchange,
  redactor: Redactor,
  upstream: { readonly status: number; readonly headers: HeaderList },
): Record<string, unknown> {
  return {
    response: { code: upstream.status, headers: redactor.headers(upstream.headers) },
    proxy: durations(exchange),
    ...surroundings(exchange),
  }
}

/** Seconds, as text. Times of expressions come from the same marks. */
function durations({ startMs, upstreamStartMs, upstreamHeadMs }: Exchange): Record<string, string> {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(6)}s`
  return {
    ...(upstreamStartMs !== undefined && { requestProcessingDuration: seconds(upstreamStartMs - startMs) }),
    ...(upstreamStartMs !== undefined &&
      upstreamHeadMs !== undefined && { upstreamDuration: seconds(upstreamHeadMs - upstreamStartMs) }),
  }
}

function surroundings(exchange: Exchange): Record<string, unknown> {
  const { connection, backendName } = exchange
  const variables = variablesOf(exchange)
  const state: Record<string, unknown> = {
    env: shown(variables['env']) ?? {},
    source: { address: connection.sourceAddress, port: connection.sourcePort },
  }
  if (backendName !== undefined) state['backend'] = shown(variables['backend'])
  for (const name of LEARNED) {
    const value = variables[name]
    if (value !== undefined) state[name] = name === 'mcp' ? withoutToolData(shown(value)) : shown(value)
  }
  return state
}

/** Arguments and results of tools are contents of messages. */
function withoutToolData(mcp: unknown): unknown {
  const { tool, ...rest } = recordOf(mcp)
  if (tool === undefined) return mcp
  const { arguments: _arguments, result: _result, ...shownTool } = recordOf(tool)
  return { ...rest, tool: shownTool }
}

/** As JSON data; undefined for what has no such form. */
export function shown(value: unknown): unknown {
  if (value === undefined) return undefined
  try {
    return JSON.parse(jsonText(value))
  } catch {
    return undefined
  }
}
