// Results of a server as the client sees them: names of one of several servers, and what the client's era requires.
import { isRecord, type JsonRecord } from '#api/json.ts'
import type { McpCall } from './context.ts'
import { withShownTasks } from './tasks.ts'

/** Separates target and state; names of targets do not contain it. */
const STATE_SEPARATOR = '+'

/** The result of a method for one server. */
export function shownResult(
  call: McpCall,
  options: { method: string; target: string; result: JsonRecord },
): JsonRecord {
  const { method, target, result } = options
  const { naming } = call.endpoint
  const shown = naming.hasUriTargets ? withShownTasks(naming, target, withShownUris(call, target, result)) : result
  if (call.era === 'Legacy') return shown
  return { resultType: 'complete', ...withShownState(call, target, shown), ...cacheHints(method, shown) }
}

/** A result of the gateway itself, or merged from those of several servers. */
export function ownResult({ era }: McpCall, method: string, result: JsonRecord): JsonRecord {
  return era === 'Legacy' ? result : { resultType: 'complete', ...result, ...cacheHints(method, result) }
}

/** Rules may hide items from other clients: no cache may share a result. Lists may change at any time. */
function cacheHints(method: string, result: JsonRecord): JsonRecord {
  const isCacheable = method.endsWith('/list') || method === 'resources/read' || method === 'server/discover'
  if (!isCacheable || isInputRequired(result)) return {}
  const { ttlMs } = result
  return { ttlMs: typeof ttlMs === 'number' ? ttlMs : 0, cacheScope: 'private' }
}

/** In contents, in links and resources that messages and results of tools embed, and in the pages of tools. */
function withShownUris(call: McpCall, target: string, result: JsonRecord): JsonRecord {
  const shown: { [key: string]: unknown } = { ...result }
  const each = (value: unknown, change: (item: Record<string, unknown>) => unknown): unknown =>
    Array.isArray(value) ? value.map((item: unknown) => (isRecord(item) ? change(item) : item)) : value
  const block = (item: Record<string, unknown>): unknown => shownBlock(call, target, item)
  if ('contents' in result) shown['contents'] = each(result['contents'], (item) => withShownUri(call, target, item))
  if ('content' in result) shown['content'] = each(result['content'], block)
  if ('messages' in result) {
    shown['messages'] = each(result['messages'], (message) => ({
      ...message,
      content: isRecord(message['content']) ? block(message['content']) : each(message['content'], block),
    }))
  }
  return shown
}

function shownBlock(call: McpCall, target: string, block: Record<string, unknown>): unknown {
  if (block['type'] === 'resource_link') return withShownUri(call, target, block)
  const { resource } = block
  if (block['type'] !== 'resource' || !isRecord(resource)) return block
  return { ...block, resource: withShownUri(call, target, resource) }
}

function withShownUri({ endpoint }: McpCall, target: string, item: Record<string, unknown>): Record<string, unknown> {
  const { uri } = item
  return typeof uri === 'string' ? { ...item, uri: endpoint.naming.showUri(target, uri) } : item
}

/** The page of a tool (MCP Apps), also under the name of its first version. */
export function withShownPage({ endpoint }: McpCall, target: string, item: JsonRecord): JsonRecord {
  const { _meta: meta } = item
  if (!endpoint.naming.hasUriTargets || !isRecord(meta)) return item
  const shown = (uri: unknown): unknown => (typeof uri === 'string' ? endpoint.naming.showUri(target, uri) : uri)
  const { ui } = meta
  const page = isRecord(ui) && 'resourceUri' in ui ? { ui: { ...ui, resourceUri: shown(ui['resourceUri']) } } : {}
  const former = 'ui/resourceUri' in meta ? { 'ui/resourceUri': shown(meta['ui/resourceUri']) } : {}
  return { ...item, _meta: { ...meta, ...page, ...former } }
}

export function isInputRequired(result: JsonRecord): boolean {
  return result['resultType'] === 'input_required'
}

/** The state of a request that needs input names its server: no other server gets it back. */
function withShownState({ endpoint }: McpCall, target: string, result: JsonRecord): JsonRecord {
  const { requestState: state } = result
  if (!endpoint.naming.isMultiplexing || !isInputRequired(result) || typeof state !== 'string') return result
  return { ...result, requestState: target + STATE_SEPARATOR + state }
}

/** The params with the state that `target` gave; undefined: the state is of another server. */
export function withOwnState({ endpoint }: McpCall, target: string, params: JsonRecord): JsonRecord | undefined {
  const { requestState: state } = params
  if (!endpoint.naming.isMultiplexing || state === undefined) return params
  const prefix = target + STATE_SEPARATOR
  if (typeof state !== 'string' || !state.startsWith(prefix)) return undefined
  return { ...params, requestState: state.slice(prefix.length) }
}
