// The headers `Mcp-Param-*` of a tool call (MCP 2026-07-28): its input schema names them with `x-mcp-header`. Policies
// may route by them, so they must match the arguments (data-plane supplement section 4.1).
import { isRecord } from '#api/json.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { HeaderList } from '../message/headers.ts'
import { decodeHeader, encodeHeader, PARAM_PREFIX } from './header-values.ts'
import { RememberedLists } from './remembered-lists.ts'

const DEPTH_MAX = 16
/** Of one tool; further ones are not compared. */
const HEADERS_MAX = 64
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const DECIMAL = /^-?\d+(?:\.\d+)?$/

export interface ToolHeader {
  /** Lower case. */
  readonly name: string
  /** From the arguments to the value. */
  readonly path: readonly string[]
}

export interface ToolHeaders {
  /** By tools of the target that have headers; undefined: the list of the target is not remembered. */
  get(exchange: Exchange, target: string): ReadonlyMap<string, readonly ToolHeader[]> | undefined
  /** All tools of the target. */
  set(exchange: Exchange, target: string, tools: Iterable<{ readonly name: string; readonly item: unknown }>): void
}

/** `now`: milliseconds. */
export function rememberedToolHeaders(now: () => number = () => performance.now()): ToolHeaders {
  const lists = new RememberedLists<readonly ToolHeader[]>(now)
  return {
    get: (exchange, target) => lists.get(exchange, target),
    set(exchange, target, tools) {
      const headers = new Map<string, readonly ToolHeader[]>()
      for (const { name, item } of tools) {
        const own = isRecord(item) ? headersIn(item['inputSchema']) : []
        if (own.length > 0) headers.set(name, own)
      }
      lists.set(exchange, target, headers)
    },
  }
}

export function hasParamHeaders({ fields }: HeaderList): boolean {
  for (let i = 0; i < fields.length; i += 2) if (fields[i]?.startsWith(PARAM_PREFIX) === true) return true
  return false
}

/** The difference between headers and arguments, as a text for the client; undefined: they match. */
export function paramMismatch(headers: HeaderList, tool: readonly ToolHeader[], args: unknown): string | undefined {
  for (const { name, path } of tool) {
    const value = valueAt(args, path)
    const given = headers.get(name)
    if (value === undefined && given === undefined) continue
    if (given === undefined) return `the header ${name} is missing`
    if (headers.isRepeated(name)) return `the header ${name} is repeated`
    const decoded = decodeHeader(given)
    if (decoded === undefined) return `the header ${name} is not valid base64`
    if (value === undefined || !isSame(decoded, value)) return `the header ${name} does not match the arguments`
  }
  return undefined
}

/** For arguments that a guardrail has changed. */
export function setParamHeaders(headers: HeaderList, tool: readonly ToolHeader[], args: unknown): void {
  for (const { name, path } of tool) {
    const value = valueAt(args, path)
    if (value === undefined) headers.remove(name)
    else headers.set(name, encodeHeader(value.text))
  }
}

function valueAt(args: unknown, path: readonly string[]): Text | undefined {
  return textOf(path.reduce<unknown>((node, key) => (isRecord(node) ? node[key] : undefined), args))
}

function headersIn(schema: unknown): ToolHeader[] {
  const found: ToolHeader[] = []
  const visit = (node: unknown, path: readonly string[]): void => {
    if (!isRecord(node) || path.length > DEPTH_MAX || found.length >= HEADERS_MAX) return
    const header = node['x-mcp-header']
    if (path.length > 0 && typeof header === 'string' && TOKEN.test(header)) {
      found.push({ name: PARAM_PREFIX + header.toLowerCase(), path })
    }
    const { properties } = node
    if (isRecord(properties)) for (const [key, child] of Object.entries(properties)) visit(child, [...path, key])
  }
  visit(schema, [])
  return found
}

interface Text {
  readonly text: string
  readonly isNumber: boolean
}

/** undefined: no value, or one without a header. A long number is an object that `JSON.stringify` writes unchanged. */
function textOf(value: unknown): Text | undefined {
  if (typeof value === 'string') return { text: value, isNumber: false }
  const text = value === undefined || value === null ? '' : JSON.stringify(value)
  if (typeof value === 'boolean') return { text, isNumber: false }
  return /^-?\d/.test(text) ? { text, isNumber: true } : undefined
}

function isSame(decoded: string, { text, isNumber }: Text): boolean {
  return decoded === text || (isNumber && DECIMAL.test(decoded) && Number(decoded) === Number(text))
}
