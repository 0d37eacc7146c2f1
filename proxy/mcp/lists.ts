// tools/list, prompts/list, resources/list, resources/templates/list: all pages of all servers, filtered by
// authorization, renamed, as one list.
import { listAll, onEach } from './fan-out.ts'
import { mayUse, type ItemKind, type McpCall } from './context.ts'
import { eventStream, single } from './http-reply.ts'
import type { HttpResponse } from '../message/message.ts'
import type { JsonRpcRequest } from './jsonrpc.ts'

interface ListMethod {
  readonly key: string
  readonly kind: ItemKind
  /** Field of an item that names it. */
  readonly nameField: 'name' | 'uri' | 'uriTemplate'
}

export const LIST_METHODS: ReadonlyMap<string, ListMethod> = new Map<string, ListMethod>([
  ['tools/list', { key: 'tools', kind: 'tool', nameField: 'name' }],
  ['prompts/list', { key: 'prompts', kind: 'prompt', nameField: 'name' }],
  ['resources/list', { key: 'resources', kind: 'resource', nameField: 'uri' }],
  ['resources/templates/list', { key: 'resourceTemplates', kind: 'resource', nameField: 'uriTemplate' }],
])

type Item = { readonly [key: string]: unknown }

export interface ListedItem {
  readonly target: string
  /** The server's own name. */
  readonly name: string
  readonly item: Item
}

export async function answerList(call: McpCall, request: JsonRpcRequest, method: ListMethod): Promise<HttpResponse> {
  const listed = await listItems(call, request, method)
  const visible = listed.filter(({ target, name }) => mayUse(call, method.kind, target, name))
  call.facts.target = undefined
  call.facts.name = undefined
  const { naming } = call.endpoint
  const shownName = (target: string, name: string): string =>
    method.nameField === 'name' ? naming.show(target, name) : naming.showUri(target, name)
  const items = visible.map(({ target, name, item }) =>
    Object.assign({}, item, { [method.nameField]: shownName(target, name) }),
  )
  return eventStream(
    single({ jsonrpc: '2.0', id: request.id, result: { [method.key]: withoutDuplicates(items, method) } }),
  )
}

/** Every item of every server of the session, before authorization. */
export async function listItems(call: McpCall, request: JsonRpcRequest, method: ListMethod): Promise<ListedItem[]> {
  const { exchange, endpoint, members } = call
  // The client's cursor would be a different page for each server; lists are always complete.
  const { cursor: _, ...params } = request.params ?? {}
  const whole: JsonRpcRequest = { ...request, params }
  const answers = await onEach(exchange, members, endpoint.settings.failureMode, (member) =>
    listAll(exchange, member, whole, method.key),
  )
  return answers.flatMap(({ member, value }) =>
    value.filter(isItem).flatMap((item) => {
      const name = item[method.nameField]
      return typeof name === 'string' ? [{ target: member.target.name, name, item }] : []
    }),
  )
}

/**
 * With `prefixMode: Never` two servers may have the same name; a call would be ambiguous, so neither is listed.
 */
function withoutDuplicates(items: readonly Item[], { nameField }: ListMethod): Item[] {
  const counts = new Map<unknown, number>()
  for (const item of items) counts.set(item[nameField], (counts.get(item[nameField]) ?? 0) + 1)
  return items.filter((item) => counts.get(item[nameField]) === 1)
}

function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
