// Which server has an item, without prefixes: remembered from lists, so that a call does not list all servers. Rules
// and servers decide on each call, and a name that is not remembered is looked up.
import type { Exchange } from '../exchange/exchange.ts'
import type { McpFacts } from '../exchange/facts.ts'
import { isRequest, isResponse, type JsonRpcMessage } from './jsonrpc.ts'
import type { Located } from './names.ts'
import { RememberedLists } from './remembered-lists.ts'

type ItemKind = NonNullable<McpFacts['kind']>

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

/** `now`: milliseconds. */
export function rememberedOwners(now: () => number = () => performance.now()): Owners {
  const lists = new RememberedLists<string>(now)
  return {
    get(exchange, kind, name) {
      const target = lists.get(exchange, kind)?.get(name)
      if (target === undefined) return undefined
      return target === SEVERAL ? 'several' : { target, name }
    },
    set(exchange, kind, items) {
      const targets = new Map<string, string>()
      for (const { target, name } of items) targets.set(name, targets.has(name) ? SEVERAL : target)
      lists.set(exchange, kind, targets)
    },
    forget: (exchange, kind) => lists.forget(exchange, kind),
    note(message) {
      const kind = isRequest(message) || isResponse(message) ? undefined : CHANGED.get(message.method)
      if (kind !== undefined) lists.forgetAll(kind)
    },
  }
}

/** Not the name of a target. */
const SEVERAL = '+'
