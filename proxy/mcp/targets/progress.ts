// To which call a message about progress belongs, for transports on which all messages of a server share one stream.
import type { JsonRpcMessage, JsonRpcRequest } from '../jsonrpc.ts'

/** JSON of the token with which a request asks for progress; undefined: it has none. */
export function askedProgress({ params }: JsonRpcRequest): string | undefined {
  const meta = params?.['_meta']
  const hasToken = typeof meta === 'object' && meta !== null && 'progressToken' in meta
  return hasToken ? JSON.stringify(meta.progressToken) : undefined
}

/** JSON of the token that a message reports on; undefined: it is not about progress. */
export function reportedProgress(message: JsonRpcMessage): string | undefined {
  if (!('method' in message) || message.method !== 'notifications/progress') return undefined
  const token = message.params?.['progressToken']
  return token === undefined ? undefined : JSON.stringify(token)
}
