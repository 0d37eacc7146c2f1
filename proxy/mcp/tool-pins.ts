// Definitions of tools compared with those that were reviewed (pins), or seen first. A worker reports each unknown
// definition once; `mode: Refuse` hides the tools of a server with pins whose definition has no pin.
import { toolDigest } from '#api/mcp/tool-digest.ts'
import type { McpToolPinning } from '#api/ir/types.gen.ts'
import type { JsonRecord } from '#api/json.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { RememberedLists } from './remembered-lists.ts'

/** Tools of which a worker remembers definitions; the oldest are forgotten. */
const TOOLS_MAX = 16_384
/** Of one tool: servers may show each client another definition. */
const DEFINITIONS_MAX = 8
/** In a line of the log, and characters of each: servers choose the names. */
const NAMES_SHOWN_MAX = 8
const NAME_CHARS_MAX = 64

interface ListedTool {
  readonly name: string
  readonly item: JsonRecord
}

export interface ToolPins {
  /** Whether only pinned tools of the target may be called. */
  isRefusing(target: string): boolean
  /** The tools of a complete list that clients may see; reports unknown definitions. */
  accepted<T extends ListedTool>(exchange: Exchange, target: string, tools: readonly T[]): readonly T[]
  /** By the last list of the client; undefined: it is not remembered. */
  isAccepted(exchange: Exchange, target: string, tool: string): boolean | undefined
}

/** `now`: milliseconds. */
export function toolPins({ mode, tools }: McpToolPinning, now: () => number = () => performance.now()): ToolPins {
  const pins = new Map(tools.map(({ target, name, digest }) => [keyOf(target, name), digest]))
  const pinned = new Set(tools.map(({ target }) => target))
  const known = new KnownDefinitions(pins, pinned)
  const lists = new RememberedLists<true>(now)
  const isRefusing = (target: string): boolean => mode === 'Refuse' && pinned.has(target)
  return {
    isRefusing,
    accepted(exchange, target, listed) {
      const changed: string[] = []
      const accepted = listed.filter(({ name, item }) => {
        const digest = toolDigest(item)
        if (known.isNew(target, name, digest)) changed.push(name)
        return !isRefusing(target) || pins.get(keyOf(target, name)) === digest
      })
      if (changed.length > 0) noteChanged(exchange, target, changed)
      if (isRefusing(target)) lists.set(exchange, target, new Map(accepted.map(({ name }) => [name, true])))
      return accepted
    },
    isAccepted: (exchange, target, tool) => lists.get(exchange, target)?.has(tool),
  }
}

/** Names of targets have no space. */
function keyOf(target: string, tool: string): string {
  return `${target} ${tool}`
}

class KnownDefinitions {
  readonly #pinned: ReadonlySet<string>
  readonly #pins: ReadonlyMap<string, string>
  /** Reported, or seen first; the oldest first. */
  readonly #seen = new Map<string, string[]>()

  constructor(pins: ReadonlyMap<string, string>, pinned: ReadonlySet<string>) {
    this.#pins = pins
    this.#pinned = pinned
  }

  /** Once for each definition. */
  isNew(target: string, tool: string, digest: string): boolean {
    const key = keyOf(target, tool)
    if (this.#pins.get(key) === digest) return false
    const seen = this.#seen.get(key)
    if (seen?.includes(digest) === true) return false
    this.#seen.set(key, [...(seen ?? []).slice(1 - DEFINITIONS_MAX), digest])
    const [oldest] = this.#seen.size > TOOLS_MAX ? this.#seen.keys() : []
    if (oldest !== undefined) this.#seen.delete(oldest)
    return seen !== undefined || this.#pinned.has(target)
  }
}

function noteChanged(exchange: Exchange, target: string, names: readonly string[]): void {
  const more = names.length > NAMES_SHOWN_MAX ? ` and ${names.length - NAMES_SHOWN_MAX} more` : ''
  const shown = names.slice(0, NAMES_SHOWN_MAX).map((name) => name.slice(0, NAME_CHARS_MAX))
  exchange.errorDetail ??= `${target}: unknown definitions of tools: ${shown.join(', ')}${more}`
  const { mcp } = exchange
  if (mcp === undefined) return
  mcp.changedTools ??= new Map()
  mcp.changedTools.set(target, (mcp.changedTools.get(target) ?? 0) + names.length)
}
