// Gives every nested object of an inlined schema its own type name, so that a bundled CRD reads like hand-written
// types. The same structure under the same name is one type.
import { singular, upperFirst } from '../names.ts'
import type { SchemaNode } from '../schema/node.ts'

export interface Hoisted {
  readonly root: SchemaNode
  readonly definitions: Readonly<Record<string, SchemaNode>>
}

/** Hoists every object with properties below `root` into definitions named `prefix` + the shortest clear path. */
export function hoist(root: SchemaNode, prefix: string): Hoisted {
  const taken = new Map<string, { structure: string; node: SchemaNode }>([[prefix, { structure: '', node: root }]])
  const queue: { node: SchemaNode; path: string[]; replace: (ref: SchemaNode) => void }[] = []
  const copy = structuredClone(root)
  enqueueChildren(copy, [])

  // Breadth first: types near the root get the short names.
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { node, path, replace } = next
    const structure = structureOf(node)
    const name = freeName(path, structure)
    const ref: SchemaNode = { $ref: `#/definitions/${name}` }
    if (node.description !== undefined) ref.description = node.description
    replace(ref)
    if (taken.has(name)) continue
    taken.set(name, { structure, node })
    enqueueChildren(node, path)
  }

  taken.delete(prefix)
  return { root: copy, definitions: Object.fromEntries([...taken].map(([name, { node }]) => [name, node])) }

  function freeName(path: readonly string[], structure: string): string {
    for (let length = 1; length <= path.length; length += 1) {
      const name = prefix + path.slice(-length).join('')
      const holder = taken.get(name)
      if (holder === undefined || holder.structure === structure) return name
    }
    throw new Error(`${prefix}: no free type name for ${path.join('.')}`)
  }

  function enqueueChildren(node: SchemaNode, path: string[]): void {
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      visit(child, [...path, upperFirst(name)], (ref) => Object.assign(node.properties ?? {}, { [name]: ref }))
    }
    const values = node.additionalProperties
    if (typeof values === 'object') visit(values, [...path, 'Value'], (ref) => (node.additionalProperties = ref))
  }

  function visit(node: SchemaNode, path: string[], replace: (ref: SchemaNode) => void): void {
    if (node.properties !== undefined) queue.push({ node, path, replace })
    else if (node.items !== undefined) visit(node.items, singularPath(path), (ref) => (node.items = ref))
    else enqueueChildren(node, path)
  }
}

function singularPath(path: readonly string[]): string[] {
  return [...path.slice(0, -1), singular(path.at(-1) ?? '')]
}

/** Text that is equal for nodes that give equal types. */
function structureOf(node: SchemaNode): string {
  return JSON.stringify(node, (key, value: unknown) => (key === 'description' ? undefined : value))
}
