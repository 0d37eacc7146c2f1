// A rendered configuration as its difference from an earlier one: lists by steps, items by identity. Between
// threads, copying what stayed costs far more than finding what changed. Pure.
import { type ListChange, listChanges, noteChanges } from '../incremental/list-change.ts'
import { LIST_NAMES, type ListName } from './lists.ts'
import type { RenderedConfig } from './types.gen.ts'

/** So many items of the earlier list from a place on, or new ones. */
type Step = { readonly from: number; readonly count: number } | { readonly items: readonly unknown[] }

/** Lists that are not named are as before. */
export type ConfigDelta = { readonly [K in ListName]?: readonly Step[] } & {
  /** Absent: as before. */
  readonly functions?: { readonly text: string | undefined }
}

/** Items are equal if they are the same objects; `applyDelta` turns `before` into `after` again. */
export function configDelta(before: RenderedConfig, after: RenderedConfig): ConfigDelta {
  const changed = LIST_NAMES.filter((name) => before[name] !== after[name])
  return {
    ...Object.fromEntries(changed.map((name) => [name, stepsOf(before[name], after[name])])),
    ...(before.customFunctions !== after.customFunctions && { functions: { text: after.customFunctions } }),
  }
}

/** Items and lists that stayed are the same objects as in `before`. */
export function applyDelta(before: RenderedConfig, delta: ConfigDelta): RenderedConfig {
  const changed = LIST_NAMES.flatMap((name) => {
    const steps = delta[name]
    return steps === undefined ? [] : [[name, listOf(before[name], steps)]]
  })
  const { customFunctions, ...rest } = before
  const text = delta.functions === undefined ? customFunctions : delta.functions.text
  // Steps hold items of the list that they were derived from.
  const lists = Object.fromEntries(changed) as Partial<RenderedConfig>
  return { ...rest, ...(text !== undefined && { customFunctions: text }), ...lists }
}

function stepsOf(before: readonly unknown[], after: readonly unknown[]): Step[] {
  const changes = listChanges(before, after)
  // What moved was sent before.
  const moved = new Map(changes.flatMap(({ at, removed }) => removed.map((item, place) => [item, at + place])))
  const steps: Step[] = []
  let from = 0
  for (const { at, removed, added } of changes) {
    if (at > from) steps.push({ from, count: at - from })
    for (const step of stepsOfAdded(added, moved)) steps.push(step)
    from = at + removed.length
  }
  if (from < before.length) steps.push({ from, count: before.length - from })
  return steps
}

function stepsOfAdded(added: readonly unknown[], moved: ReadonlyMap<unknown, number>): Step[] {
  const steps: Step[] = []
  let at = 0
  while (at < added.length) {
    const start = at
    const from = moved.get(added[at])
    if (from === undefined) {
      while (at < added.length && !moved.has(added[at])) at++
      steps.push({ items: added.slice(start, at) })
    } else {
      while (at < added.length && moved.get(added[at]) === from + at - start) at++
      steps.push({ from, count: at - start })
    }
  }
  return steps
}

function listOf(before: readonly unknown[], steps: readonly Step[]): unknown[] {
  const list = new Array<unknown>().concat(
    ...steps.map((step) => ('items' in step ? step.items : before.slice(step.from, step.from + step.count))),
  )
  const changes = changesOf(before, steps)
  if (changes !== undefined) noteChanges(before, list, changes)
  return list
}

/** undefined: something moved. */
function changesOf(before: readonly unknown[], steps: readonly Step[]): ListChange<unknown>[] | undefined {
  const changes: ListChange<unknown>[] = []
  let at = 0
  let added: readonly unknown[] = []
  const endGap = (to: number): void => {
    if (to > at || added.length > 0) changes.push({ at, removed: before.slice(at, to), added })
    added = []
  }
  for (const step of steps) {
    if ('items' in step) added = added.length === 0 ? step.items : added.concat(step.items)
    else {
      if (step.from < at) return undefined
      endGap(step.from)
      at = step.from + step.count
    }
  }
  endGap(before.length)
  return changes
}
