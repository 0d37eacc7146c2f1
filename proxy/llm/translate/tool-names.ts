// Names of tools that a provider rejects, or has no groups for: another name is sent, and the answer gets the name of
// the client again.
import type { CalledName } from '../canonical/answer.ts'
import type { ChatRequest, NamespacedName, Part, ToolChoice } from '../canonical/request.ts'

/** The names of one call. */
export class ToolNames {
  #originals: Map<string, string> | undefined
  #namespaces: ReadonlyMap<string, NamespacedName> | undefined

  /** Keeps the client's name of a tool that is sent with another. */
  sent(name: string, sent: string): string {
    if (sent !== name) (this.#originals ??= new Map()).set(sent, name)
    return sent
  }

  /** Keeps the groups of the client's tools. */
  group(namespaces: ReadonlyMap<string, NamespacedName> | undefined): void {
    this.#namespaces = namespaces
  }

  restored(sent: string): CalledName {
    const name = this.#originals?.get(sent) ?? sent
    return this.#namespaces?.get(name) ?? { name }
  }
}

export function renamed(request: ChatRequest, rename: (name: string) => string): ChatRequest {
  const { tools, turns, toolChoice } = request
  return {
    ...request,
    tools: tools.map((tool) => ({ ...tool, name: rename(tool.name) })),
    turns: turns.map((turn) => ({ ...turn, parts: turn.parts.map((part) => renamedPart(part, rename)) })),
    toolChoice: toolChoice && { ...toolChoice, value: renamedChoice(toolChoice.value, rename) },
  }
}

function renamedPart(part: Part, rename: (name: string) => string): Part {
  return part.kind === 'toolCall' ? { ...part, name: rename(part.name) } : part
}

function renamedChoice(choice: ToolChoice, rename: (name: string) => string): ToolChoice {
  if (choice.mode === 'tool') return { mode: 'tool', name: rename(choice.name) }
  return { ...choice, allowed: choice.allowed && new Set([...choice.allowed].map(rename)) }
}
