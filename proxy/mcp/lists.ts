// tools/list, prompts/list, resources/list, resources/templates/list: all pages of all servers, filtered by
// authorization, renamed, as one list.
import { isRecord } from '#api/json.ts'
import { listAll, onEach, type Member } from './fan-out.ts'
import { mayUse, type McpCall } from './context.ts'
import type { JsonRpcRequest } from './jsonrpc.ts'
import type { ListMethod } from './methods.ts'
import { withShownPage } from './results.ts'

type Item = { readonly [key: string]: unknown }

export interface ListedItem {
  readonly target: string
  /** The server's own name. */
  readonly name: string
  readonly item: Item
}

/** The result of a list method. */
export async function listAnswer(
  call: McpCall,
  request: JsonRpcRequest,
  method: ListMethod,
): Promise<{ readonly [key: string]: unknown }> {
  const listed = await listItems(call, request, method)
  const visible = listed.filter(({ target, name }) => mayUse(call, method.kind, target, name))
  call.facts.target = undefined
  call.facts.name = undefined
  const { naming } = call.endpoint
  const shownName = (target: string, name: string): string => {
    if (method.kind === 'task') return naming.showTask(target, name)
    return method.nameField === 'name' ? naming.show(target, name) : naming.showUri(target, name)
  }
  const items = visible.map(({ target, name, item }) =>
    Object.assign({}, withShownPage(call, target, item), { [method.nameField]: shownName(target, name) }),
  )
  return { [method.key]: withoutDuplicates(items, method) }
}

/** Every item of every server of the session, before authorization. */
export async function listItems(call: McpCall, request: JsonRpcRequest, method: ListMethod): Promise<ListedItem[]> {
  const { exchange, endpoint, members } = call
  // The client's cursor would be a different page for each server; lists are always complete.
  const { cursor: _, ...params } = request.params ?? {}
  const answers = await onEach(exchange, members, endpoint.settings.failureMode, (member) =>
    listOne(call, member, { request: { ...request, params }, method }),
  )
  const items = answers.flatMap(({ value }) => value)
  const { isMultiplexing, hasPrefixes } = endpoint.naming
  if (isMultiplexing && !hasPrefixes && method.nameField === 'name') endpoint.owners.set(exchange, method.kind, items)
  return items
}

/** Every item of one server. */
export async function listOne(
  call: McpCall,
  member: Member,
  { request, method }: { readonly request: JsonRpcRequest; readonly method: ListMethod },
): Promise<readonly ListedItem[]> {
  const { exchange, endpoint, era } = call
  const values = await listAll(exchange, member, request, method.key)
  const { name: target } = member.target
  const listed = [...itemsByName(call, target, values, method).values()]
  if (method.kind !== 'tool') return listed
  const items = endpoint.pins?.accepted(exchange, target, listed) ?? listed
  if (era === 'Modern') endpoint.toolHeaders.set(exchange, target, items)
  return items
}

/** The first of several items of one server with a name; the log names it. */
function itemsByName(
  { exchange }: McpCall,
  target: string,
  values: readonly unknown[],
  { nameField }: ListMethod,
): Map<string, ListedItem> {
  const byName = new Map<string, ListedItem>()
  for (const item of values) {
    const name = isRecord(item) ? item[nameField] : undefined
    if (!isRecord(item) || typeof name !== 'string') continue
    if (byName.has(name)) exchange.errorDetail ??= `${target}: the server lists ${name} more than once`
    else byName.set(name, { target, name, item })
  }
  return byName
}

/**
 * With `prefixMode: Never` two servers may have the same name; a call would be ambiguous, so neither is listed.
 */
function withoutDuplicates(items: readonly Item[], { nameField }: ListMethod): Item[] {
  const counts = new Map<unknown, number>()
  for (const item of items) counts.set(item[nameField], (counts.get(item[nameField]) ?? 0) + 1)
  return items.filter((item) => counts.get(item[nameField]) === 1)
}
