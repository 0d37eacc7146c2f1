// Names of tools, prompts, resources and ids if several servers share one endpoint (data-plane section 4.4).
import type { MCPBackend } from '#api/ir/types.gen.ts'
import type { JsonRpcId } from './jsonrpc.ts'

export interface Located {
  readonly target: string
  /** The server's own name, URI or id. */
  readonly name: string
}

export interface Naming {
  readonly isMultiplexing: boolean
  /** Tool and prompt names contain the target. */
  readonly hasPrefixes: boolean
  /** URIs contain the target. */
  readonly hasUriTargets: boolean
  /** Name shown to the client. */
  show(target: string, name: string): string
  /** undefined: no target of that name. With `prefixMode: Never` only a lookup in the lists finds the target. */
  locate(shown: string): Located | undefined
  showUri(target: string, uri: string): string
  locateUri(shown: string): Located | undefined
  /** As URIs: ids of tasks contain the target whenever those do. */
  showTask(target: string, id: string): string
  locateTask(shown: string): Located | undefined
}

const NAME_SEPARATOR = '_'
const URI_SEPARATOR = '+'
const PAGE = 'ui://'
/** RFC 3986 section 3.1. */
const SCHEME = /^[a-z][a-z0-9+.-]*:/i

export function namingOf({ targets, prefixMode }: MCPBackend): Naming {
  const names = new Set(targets.map(({ name }) => name))
  const isMultiplexing = targets.length !== 1
  const only = targets.length === 1 ? targets[0]?.name : undefined
  const hasPrefixes = prefixMode === 'Always' || (prefixMode === 'Conditional' && isMultiplexing)
  const hasUriTargets = isMultiplexing || prefixMode === 'Always'
  const split = (shown: string, separator: string): Located | undefined => {
    const at = shown.indexOf(separator)
    const target = shown.slice(0, Math.max(at, 0))
    return at > 0 && names.has(target) ? { target, name: shown.slice(at + 1) } : undefined
  }
  return {
    isMultiplexing,
    hasPrefixes,
    hasUriTargets,
    show: (target, name) => (hasPrefixes ? target + NAME_SEPARATOR + name : name),
    locate: (shown) => {
      if (hasPrefixes) return split(shown, NAME_SEPARATOR)
      return only === undefined ? undefined : { target: only, name: shown }
    },
    showUri: (target, uri) => (hasUriTargets ? showUri(target, uri) : uri),
    locateUri: (shown) => {
      if (!hasUriTargets) return only === undefined ? undefined : { target: only, name: shown }
      if (!shown.startsWith(PAGE)) {
        const located = split(shown, URI_SEPARATOR)
        return located !== undefined && SCHEME.test(located.name) ? located : undefined
      }
      const page = split(shown.slice(PAGE.length), URI_SEPARATOR)
      return page && { target: page.target, name: PAGE + page.name }
    },
    showTask: (target, id) => (hasUriTargets ? target + URI_SEPARATOR + id : id),
    locateTask: (shown) => {
      if (hasUriTargets) return split(shown, URI_SEPARATOR)
      return only === undefined ? undefined : { target: only, name: shown }
    },
  }
}

/** Pages of tools stay in their scheme (MCP Apps); a text without a scheme is not a URI, and stays as it is. */
function showUri(target: string, uri: string): string {
  if (uri.startsWith(PAGE)) return `${PAGE}${target}${URI_SEPARATOR}${uri.slice(PAGE.length)}`
  return SCHEME.test(uri) ? target + URI_SEPARATOR + uri : uri
}

/** Request ids of servers are only unique for one server: the client sees `gw_{target}_{n or s}_{id}`. */
export function showServerId(target: string, id: JsonRpcId): string {
  return `gw_${target}_${typeof id === 'number' ? 'n' : 's'}_${id}`
}

export function locateServerId(shown: JsonRpcId): { target: string; id: JsonRpcId } | undefined {
  const parts = /^gw_([^_]+)_([ns])_(.*)$/s.exec(String(shown))
  if (parts === null) return undefined
  const [, target = '', kind, raw = ''] = parts
  return { target, id: kind === 'n' ? Number(raw) : raw }
}
