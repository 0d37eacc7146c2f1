// The trace of a message: MCP has the fields of W3C Trace Context and Baggage in `_meta` as well (SEP-414), because not
// all transports have headers.
import { isRecord, type JsonRecord } from '#api/json.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { fieldValue } from '../message/header-field.ts'
import type { HeaderList } from '../message/headers.ts'
import { parseTraceparent } from '../message/trace-context.ts'
import { isResponse, type JsonRpcMessage } from './jsonrpc.ts'
import type { McpTarget } from './targets/target.ts'

const PARENT = 'traceparent'
const STATE = 'tracestate'
const BAGGAGE = 'baggage'
export const TRACE_FIELDS = [PARENT, STATE, BAGGAGE] as const
/** Characters of a field: W3C Baggage section 3.3. */
const FIELD_CHARS_MAX = 8192

/** The trace that the client names in the message, if its request has no trace headers. */
export function takeTrace({ request, span }: Exchange, message: JsonRpcMessage): void {
  const meta = metaOf(message)
  if (meta === undefined) return
  const { headers } = request
  const baggage = fieldOf(meta, BAGGAGE)
  if (baggage !== undefined && !headers.has(BAGGAGE)) headers.set(BAGGAGE, baggage)
  const parent = fieldOf(meta, PARENT)
  if (parent === undefined || parseTraceparent(parent) === undefined) return
  const state = fieldOf(meta, STATE)
  if (span !== undefined) {
    if (!span.join(request, parent, state)) return
  } else if (headers.has(PARENT)) return
  else headers.set(PARENT, parent)
  if (state === undefined) headers.remove(STATE)
  else headers.set(STATE, state)
}

/** The target gets the trace of the call in each request and notification. */
export function traced(target: McpTarget): McpTarget {
  return {
    ...target,
    send: (exchange, message, session, deadlineMs) =>
      target.send(exchange, withTrace(exchange, message), session, deadlineMs),
  }
}

/** The same object if there is nothing to change. */
export function withTrace({ request: { headers } }: Exchange, message: JsonRpcMessage): JsonRpcMessage {
  if (isResponse(message)) return message
  const meta = metaOf(message)
  if (!hasTrace(headers, meta)) return message
  const shown: Record<string, unknown> = { ...meta }
  for (const field of TRACE_FIELDS) {
    const values = headers.getAll(field)
    if (values.length === 0) delete shown[field]
    else shown[field] = values.join(',')
  }
  return { ...message, params: { ...message.params, _meta: shown } }
}

function hasTrace(headers: HeaderList, meta: JsonRecord | undefined): boolean {
  for (const field of TRACE_FIELDS) {
    if (headers.has(field) || (meta !== undefined && field in meta)) return true
  }
  return false
}

function metaOf(message: JsonRpcMessage): JsonRecord | undefined {
  const meta = isResponse(message) ? undefined : message.params?.['_meta']
  return isRecord(meta) ? meta : undefined
}

function fieldOf(meta: JsonRecord, name: string): string | undefined {
  const value = Object.hasOwn(meta, name) ? meta[name] : undefined
  return typeof value === 'string' && value !== '' && value.length <= FIELD_CHARS_MAX ? fieldValue(value) : undefined
}
