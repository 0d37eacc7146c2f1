// Entries of a `conditional` list: a condition, and the policy in the same mapping. Does not depend on a
// policy.
import { defined } from './defined.ts'

interface Entry {
  readonly condition?: string | undefined
}

/** `render` gets the entry without its condition, and its index in the list. */
export function renderEntries<E extends Entry, R>(
  entries: readonly E[],
  render: (policy: Omit<E, 'condition'>, index: number) => R,
): { conditional: { condition?: string; policy: R }[] } {
  return {
    conditional: entries.map(({ condition, ...policy }, index) => ({
      ...defined({ condition }),
      policy: render(policy, index),
    })),
  }
}
