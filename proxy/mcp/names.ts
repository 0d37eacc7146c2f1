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
  /** Name shown to the client. */
  show(target: string, name: string): string
  /** undefined: no target of that name. With `prefixMode: Never` only a lookup in the lists finds the target. */
  locate(shown: string): Located | undefined
  showUri(target: string, uri: string): string
  locateUri(shown: string): Located | undefined
}

const NAME_SEPARATOR = '_'
const URI_SEPARATOR = '+'

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
    show: (target, name) => (hasPrefixes ? target + NAME_SEPARATOR + name : name),
    locate: (shown) => {
      if (hasPrefixes) return split(shown, NAME_SEPARATOR)
      return only === undefined ? undefined : { target: only, name: shown }
    },
    showUri: (target, uri) => (hasUriTargets ? target + URI_SEPARATOR + uri : uri),
    locateUri: (shown) => {
      if (hasUriTargets) return split(shown, URI_SEPARATOR)
      return only === undefined ? undefined : { target: only, name: shown }
    },
  }
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
