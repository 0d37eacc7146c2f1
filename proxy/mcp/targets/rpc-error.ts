// JSON-RPC errors that servers send with an HTTP status.
import { isRecord, parseJson } from '#api/json.ts'
import type { JsonRpcError } from '../jsonrpc.ts'
import type { TargetHttpError } from './target.ts'

/** undefined: the body is not a JSON-RPC error. */
export function rpcErrorIn({ body }: TargetHttpError): JsonRpcError | undefined {
  const value = parseJson(body.toString('utf8'))
  const error = isRecord(value) ? value['error'] : undefined
  if (!isRecord(error)) return undefined
  const { code, message, data } = error
  return typeof code === 'number' ? { code, message: typeof message === 'string' ? message : '', data } : undefined
}
