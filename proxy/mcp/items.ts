// The item that a request names, and the params with the server's own name in its place.
import { isRecord } from '#api/json.ts'
import type { ItemKind } from './context.ts'
import type { JsonRpcRequest } from './jsonrpc.ts'
import type { ItemMethod } from './methods.ts'

export interface NamedItem {
  readonly kind: ItemKind
  readonly name: string
}

/** undefined: the params name no item; see `invalidItem`. */
export function itemOf({ params }: JsonRpcRequest, { param, kind }: ItemMethod): NamedItem | undefined {
  const given = params?.[param]
  if (param !== 'ref') return typeof given === 'string' ? { kind, name: given } : undefined
  if (!isRecord(given)) return undefined
  const isUri = 'uri' in given
  // A server might use the one of the two about which no rule has decided.
  if (isUri && 'name' in given) return undefined
  const name = isUri ? given['uri'] : given['name']
  return typeof name === 'string' ? { kind: isUri ? 'resource' : kind, name } : undefined
}

export function invalidItem({ params }: JsonRpcRequest, { param }: ItemMethod): string {
  if (param !== 'ref') return `params.${param} must be a string`
  return isRecord(params?.['ref']) ? 'params.ref must have either a name or a uri' : 'params.ref must be an object'
}

export function withItemName(request: JsonRpcRequest, { param }: ItemMethod, name: string): JsonRpcRequest {
  const { params } = request
  const ref = params?.['ref']
  const value = param === 'ref' && isRecord(ref) ? { ...ref, ['uri' in ref ? 'uri' : 'name']: name } : name
  return { ...request, params: { ...params, [param]: value } }
}
