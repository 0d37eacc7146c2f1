// The table of methods: how each is routed, merged, authorized and guarded (data-plane supplement section 4.4). A new
// method is a line. Methods outside the table go to the only server of a backend; several servers do not share them.
import type { ItemKind } from './context.ts'

/**
 * For the server of one item. Authorization checks the item; a guardrail sees the params with the server's own name;
 * the facts are those of the item.
 */
export interface ItemMethod {
  readonly route: 'item'
  /** The param that names the item. `ref`: an object with a name or a URI. */
  readonly param: 'name' | 'uri' | 'taskId' | 'ref'
  /** Of `ref`: the kind of items with a name; those with a URI are resources. */
  readonly kind: ItemKind
  /** The header `Mcp-Name` repeats the param (MCP 2026-07-28). */
  readonly headerName?: true
}

/**
 * For all servers: their items in one list, without those that authorization hides. A guardrail sees the servers
 * without params, and the merged result. No item is in the facts.
 */
export interface ListMethod {
  readonly route: 'list'
  /** The field of the result. */
  readonly key: string
  readonly kind: ItemKind
  /** The field of an item that names it. */
  readonly nameField: 'name' | 'uri' | 'uriTemplate' | 'taskId'
}

/** For all servers: the result is empty. Not authorized by item; a guardrail sees the servers without params. */
interface AllMethod {
  readonly route: 'all'
}

export type Method = ItemMethod | ListMethod | AllMethod

export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['tools/list', { route: 'list', key: 'tools', kind: 'tool', nameField: 'name' }],
  ['prompts/list', { route: 'list', key: 'prompts', kind: 'prompt', nameField: 'name' }],
  ['resources/list', { route: 'list', key: 'resources', kind: 'resource', nameField: 'uri' }],
  ['resources/templates/list', { route: 'list', key: 'resourceTemplates', kind: 'resource', nameField: 'uriTemplate' }],
  ['tools/call', { route: 'item', param: 'name', kind: 'tool', headerName: true }],
  ['prompts/get', { route: 'item', param: 'name', kind: 'prompt', headerName: true }],
  ['resources/read', { route: 'item', param: 'uri', kind: 'resource', headerName: true }],
  ['resources/subscribe', { route: 'item', param: 'uri', kind: 'resource' }],
  ['resources/unsubscribe', { route: 'item', param: 'uri', kind: 'resource' }],
  ['completion/complete', { route: 'item', param: 'ref', kind: 'prompt' }],
  ['tasks/list', { route: 'list', key: 'tasks', kind: 'task', nameField: 'taskId' }],
  ['tasks/get', { route: 'item', param: 'taskId', kind: 'task', headerName: true }],
  ['tasks/result', { route: 'item', param: 'taskId', kind: 'task' }],
  ['tasks/update', { route: 'item', param: 'taskId', kind: 'task', headerName: true }],
  ['tasks/cancel', { route: 'item', param: 'taskId', kind: 'task', headerName: true }],
  ['ping', { route: 'all' }],
  ['logging/setLevel', { route: 'all' }],
])

/** Removed by MCP 2026-07-28. */
export const LEGACY_ONLY: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
])

/** The method that lists the items of a kind by name; undefined: none does. */
export function listOf(kind: ItemKind): { readonly name: string; readonly method: ListMethod } | undefined {
  for (const [name, method] of METHODS) if (method.route === 'list' && method.kind === kind) return { name, method }
  return undefined
}
