// Collects the named types of resolved schemas. A title names a type once; a place that changes what it points at in a
// way that a type can show gets a type of its own.
import { singular, upperFirst } from '../names.ts'
import { isRecord } from '../schema/load.ts'
import type { SchemaNode } from '../schema/node.ts'
import { normalise } from './normalise.ts'

export interface NamedType {
  readonly name: string
  /** References other named types as `$ref: Name`. */
  readonly node: SchemaNode
  /** Names of the types it uses directly. */
  readonly uses: ReadonlySet<string>
}

export class TypeCollection {
  readonly #types = new Map<string, NamedType>()
  readonly #structures = new Map<string, string>()

  types(): NamedType[] {
    return [...this.#types.values()]
  }

  /** Adds `node` and all below it; gives the name that stands for it. */
  add(node: SchemaNode, suggestion: string): string {
    const structure = structureOf(node)
    const name = this.#nameFor(node.title ?? suggestion, suggestion, structure)
    if (this.#types.has(name)) return name
    this.#structures.set(name, structure)
    const uses = new Set<string>()
    // Claimed before its children are visited: they must not take the name.
    this.#types.set(name, { name, node: {}, uses })
    this.#types.set(name, { name, node: this.#shallow(node, name, uses), uses })
    return name
  }

  /** A copy whose named parts are references. */
  #shallow(node: SchemaNode, path: string, uses: Set<string>): SchemaNode {
    const { title: _title, 'x-gw-type-description': typeDescription, ...copy } = node
    if (typeDescription !== undefined && path === node.title) copy.description = typeDescription
    if (node.properties !== undefined) {
      const entries = Object.entries(node.properties).map(([field, child]) => {
        return [field, this.#referenceOrCopy(child, path + upperFirst(field), uses)] as const
      })
      copy.properties = Object.fromEntries(entries)
    }
    if (node.items !== undefined) copy.items = this.#referenceOrCopy(node.items, singular(path), uses)
    if (typeof node.additionalProperties === 'object') {
      copy.additionalProperties = this.#referenceOrCopy(node.additionalProperties, `${path}Value`, uses)
    }
    return copy
  }

  #referenceOrCopy(node: SchemaNode, path: string, uses: Set<string>): SchemaNode {
    if (node.title === undefined && node.properties === undefined) return this.#shallow(node, path, uses)
    const name = this.add(node, path)
    uses.add(name)
    return {
      $ref: name,
      ...(node.description !== undefined && { description: node.description }),
      ...(node.default !== undefined && { default: node.default }),
      // Those of this place, for the type has those of the place that named it first.
      ...(node.properties === undefined && { 'x-kubernetes-validations': node['x-kubernetes-validations'] ?? [] }),
    }
  }

  #nameFor(wanted: string, suggestion: string, structure: string): string {
    for (const name of [wanted, suggestion]) {
      const known = this.#structures.get(name)
      if (known === undefined || known === structure) return name
    }
    for (let number = 2; ; number += 1) {
      const name = `${suggestion}${number}`
      const known = this.#structures.get(name)
      if (known === undefined || known === structure) return name
    }
  }
}

/** Equal for schemas that print equal types. */
function structureOf(node: SchemaNode): string {
  return JSON.stringify(normalise(node), (key, value: unknown) => {
    // A description is text only where it is not the name of a field.
    return key === 'description' && !isRecord(value) ? undefined : value
  })
}
