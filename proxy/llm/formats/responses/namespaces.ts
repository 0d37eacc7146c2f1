// Groups of tools (`namespace`), which only this format has: their tools have one name with both parts in the canonical
// form.
import type { NamespacedName, Tool } from '../../canonical/request.ts'

/** Two tools of different groups may have the same name. */
export function flatName({ namespace, name }: NamespacedName): string {
  return `${namespace}__${name}`
}

/** A tool of a group; its own name is in `names`, by the name that it gets. */
export function inNamespace(tool: Tool, namespace: string, names: Map<string, NamespacedName>): Tool {
  const original = { namespace, name: tool.name }
  const name = flatName(original)
  names.set(name, original)
  return { ...tool, name }
}
