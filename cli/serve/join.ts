// Puts a configuration of the process itself before the delivered one. Parts that stay equal from one delivery to the
// next stay the same objects: later steps compare by identity. Pure.
import { LIST_NAMES } from '#api/ir/lists.ts'
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'

export interface Rendered {
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
}

/** Keys of a standalone file differ from those of a cluster, so the lists are joined. */
export function joinTo(first: Rendered): (second: Rendered) => Rendered {
  const lists = LIST_NAMES.map((name) => [name, listJoiner<object>(first.config[name])] as const)
  const { customFunctions } = first.config
  const functions = customFunctions === undefined ? {} : { customFunctions }
  const joinSecrets = listJoiner(first.secrets.secrets)
  let secrets: RenderedSecrets | undefined
  return (second) => {
    const list = joinSecrets(second.secrets.secrets)
    if (secrets?.secrets !== list) secrets = { version: 1, secrets: list }
    const joined = Object.fromEntries(lists.map(([name, join]) => [name, join(second.config[name])]))
    // Each list has items of one kind.
    return { config: { ...second.config, ...joined, ...functions, version: 2 }, secrets }
  }
}

function listJoiner<T>(first: readonly T[]): (second: T[]) => T[] {
  let last: { readonly second: T[]; readonly list: T[] } | undefined
  return (second) => {
    if (last?.second !== second) last = { second, list: first.length === 0 ? second : [...first, ...second] }
    return last.list
  }
}
