// The Gateway API header filter in rendered form, shared by route filters and the headerModifiers policy.
import type { HeaderModifier } from '#api/ir/types.gen.ts'

export interface HeaderFilter {
  readonly set?: readonly HeaderEntry[]
  readonly add?: readonly HeaderEntry[]
  readonly remove?: readonly string[]
}

export interface HeaderEntry {
  readonly name: string
  readonly value: string
}

/** Names become lower case, as everywhere in the rendered configuration. */
export function headerModifier({ set, add, remove }: HeaderFilter): HeaderModifier {
  return {
    ...(set !== undefined && set.length > 0 && { set: set.map(lowerName) }),
    ...(add !== undefined && add.length > 0 && { add: add.map(lowerName) }),
    ...(remove !== undefined && remove.length > 0 && { remove: remove.map((name) => name.toLowerCase()) }),
  }
}

function lowerName({ name, value }: HeaderEntry): HeaderEntry {
  return { name: name.toLowerCase(), value }
}
