// JSON-RPC 2.0 messages in MCP: one message in a body, ids are strings or integers.
import { parseJsonExactly } from '#api/json.ts'

export type JsonRpcId = string | number

export interface JsonRpcRequest {
  readonly jsonrpc: '2.0'
  readonly id: JsonRpcId
  readonly method: string
  readonly params?: { readonly [key: string]: unknown }
}

export interface JsonRpcNotification {
  readonly jsonrpc: '2.0'
  readonly method: string
  readonly params?: { readonly [key: string]: unknown }
}

export interface JsonRpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export interface JsonRpcResponse {
  readonly jsonrpc: '2.0'
  readonly id: JsonRpcId
  readonly result?: { readonly [key: string]: unknown }
  readonly error?: JsonRpcError
}

export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse

export const METHOD_NOT_FOUND = -32_601
export const INVALID_PARAMS = -32_602
export const INVALID_REQUEST = -32_600
export const INTERNAL_ERROR = -32_603

/**
 * undefined: not one JSON-RPC message. Batches are not part of MCP since 2025-06-18 and rejected, and so is an id that
 * a double cannot represent. Other numbers are written unchanged.
 */
export function parseMessage(text: string): JsonRpcMessage | undefined {
  const value = parseJsonExactly(text)
  return isMessage(value) ? value : undefined
}

export function isRequest(message: JsonRpcMessage): message is JsonRpcRequest {
  return 'method' in message && 'id' in message
}

export function isResponse(message: JsonRpcMessage): message is JsonRpcResponse {
  return !('method' in message)
}

export function errorResponse(id: JsonRpcId, error: JsonRpcError): JsonRpcResponse {
  return { jsonrpc: '2.0', id, error }
}

function isMessage(value: unknown): value is JsonRpcMessage {
  if (!isPlain(value) || value['jsonrpc'] !== '2.0') return false
  const { id, method, params, result, error } = value
  if (id !== undefined && typeof id !== 'string' && !Number.isInteger(id)) return false
  if (method !== undefined) return typeof method === 'string' && (params === undefined || isPlain(params))
  if (id === undefined) return false
  return isPlain(result) ? error === undefined : isPlain(error) && Number.isInteger(error['code'])
}

function isPlain(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
