// The headers that repeat parts of a request of MCP 2026-07-28: `Mcp-Method`, `Mcp-Name`, and `Mcp-Param-*`. Policies
// route and authorize by them, so they must match the body (data-plane supplement section 4.1).
import type { HeaderList } from '../message/headers.ts'
import { decodeHeader, encodeHeader, PARAM_PREFIX } from './header-values.ts'
import type { JsonRpcRequest } from './jsonrpc.ts'
import { METHODS } from './methods.ts'

/** The difference between headers and body, as a text for the client; undefined: they match. */
export function headerMismatch(headers: HeaderList, request: JsonRpcRequest): string | undefined {
  const { method } = request
  const difference = differenceIn(headers, 'Mcp-Method', method)
  if (difference !== undefined) return difference
  const name = headerName(request)
  return name === undefined ? undefined : differenceIn(headers, 'Mcp-Name', name)
}

function differenceIn(headers: HeaderList, name: string, expected: string): string | undefined {
  const field = name.toLowerCase()
  const value = headers.get(field)
  if (value === undefined) return `the header ${name} is missing`
  if (headers.isRepeated(field)) return `the header ${name} is repeated`
  const decoded = decodeHeader(value)
  if (decoded === undefined) return `the header ${name} is not valid base64`
  return decoded === expected ? undefined : `the header ${name} does not match the body`
}

/** Replaces those of the client: names of one server differ from those that the client sees. */
export function setRoutingHeaders(headers: HeaderList, request: JsonRpcRequest): void {
  headers.set('mcp-method', encodeHeader(request.method))
  const name = headerName(request)
  if (name !== undefined) headers.set('mcp-name', encodeHeader(name))
}

/** For servers of former versions. */
export function removeRoutingHeaders(headers: HeaderList): void {
  if (!hasRoutingHeaders(headers)) return
  headers.remove('mcp-method')
  headers.remove('mcp-name')
  const params = headers.fields.filter((field, index) => index % 2 === 0 && field.startsWith(PARAM_PREFIX))
  for (const field of params) headers.remove(field)
}

function hasRoutingHeaders({ fields }: HeaderList): boolean {
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]
    if (name === 'mcp-method' || name === 'mcp-name' || name?.startsWith(PARAM_PREFIX) === true) return true
  }
  return false
}

/** undefined: the method has no such header, or the params lack the name. */
function headerName({ method, params }: JsonRpcRequest): string | undefined {
  const row = METHODS.get(method)
  if (row?.route !== 'item' || row.headerName !== true) return undefined
  const name = params?.[row.param]
  return typeof name === 'string' ? name : undefined
}
