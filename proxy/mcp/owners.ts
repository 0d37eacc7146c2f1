// Which server has an item, without prefixes: remembered from lists for a short while in each worker, so that a call
// does not list all servers. Never an authority: rules and servers decide on each call, and a name that is not
// remembered is looked up.
import { hash } from 'node:crypto'
import type { Exchange } from '../exchange/exchange.ts'
import type { McpFacts } from '../exchange/facts.ts'
import { isRequest, isResponse, type JsonRpcMessage } from './jsonrpc.ts'
import type { Located } from './names.ts'
import { principalOf } from './principal.ts'

type ItemKind = NonNullable<McpFacts['kind']>

const OWNERS_MS = 30_000
/** Of all clients of one backend in one worker; the oldest lists are dropped. */
const OWNERS_MAX = 65_536
const CHANGED = new Map<string, ItemKind>([
  ['notifications/tools/list_changed', 'tool'],
  ['notifications/prompts/list_changed', 'prompt'],
])

export interface Owners {
  /** undefined: not remembered. */
  get(exchange: Exchange, kind: ItemKind, name: string): Located | 'several' | undefined
  /** The complete list of a kind. */
  set(exchange: Exchange, kind: ItemKind, items: readonly Located[]): void
  /** A server rejected what was remembered for this client. */
  forget(exchange: Exchange, kind: ItemKind): void
  /** A server reports that its list has changed. */
  note(message: JsonRpcMessage): void
}

interface Remembered {
  readonly kind: ItemKind
  readonly targets: ReadonlyMap<string, string | undefined>
  readonly untilMs: number
}

/** `now`: milliseconds. */
export function rememberedOwners(now: () => number = () => performance.now()): Owners {
  /** The oldest first. */
  const lists = new Map<string, Remembered>()
  let count = 0
  const drop = (key: string): void => {
    count -= lists.get(key)?.targets.size ?? 0
    lists.delete(key)
  }
  return {
    get(exchange, kind, name) {
      const key = keyOf(exchange, kind)
      const list = lists.get(key)
      if (list === undefined) return undefined
      if (now() >= list.untilMs) {
        drop(key)
        return undefined
      }
      if (!list.targets.has(name)) return undefined
      const target = list.targets.get(name)
      return target === undefined ? 'several' : { target, name }
    },
    set(exchange, kind, items) {
      const targets = new Map<string, string | undefined>()
      for (const { target, name } of items) targets.set(name, targets.has(name) ? undefined : target)
      const key = keyOf(exchange, kind)
      drop(key)
      lists.set(key, { kind, targets, untilMs: now() + OWNERS_MS })
      count += targets.size
      for (const oldest of lists.keys()) {
        if (count <= OWNERS_MAX) break
        drop(oldest)
      }
    },
    forget: (exchange, kind) => drop(keyOf(exchange, kind)),
    note(message) {
      const kind = isRequest(message) || isResponse(message) ? undefined : CHANGED.get(message.method)
      if (kind !== undefined) for (const [key, list] of lists) if (list.kind === kind) drop(key)
    },
  }
}

/** Servers may show each client other items: by its identity, and by a token that only they verify. */
function keyOf(exchange: Exchange, kind: ItemKind): string {
  const token = hash('sha256', exchange.request.headers.getAll('authorization').join(), 'base64url')
  return `${kind} ${principalOf(exchange)} ${token}`
}
