// A rendered configuration told as its difference from an earlier one: lists by steps, items by identity. Between
// threads, copying what stayed costs far more than finding what changed. Pure.
import { LIST_NAMES, type ListName } from './lists.ts'
import type { RenderedConfig } from './types.gen.ts'

/** So many items of the earlier list from a place on, or new ones. */
type Step = { readonly from: number; readonly count: number } | { readonly items: readonly unknown[] }

/** Lists that are not named are as before. */
export type ConfigDelta = { readonly [K in ListName]?: readonly Step[] }

/** Takes items that are the same objects for the same; `applyDelta` makes `after` of `before` again. */
export function configDelta(before: RenderedConfig, after: RenderedConfig): ConfigDelta {
  const changed = LIST_NAMES.filter((name) => before[name] !== after[name])
  return Object.fromEntries(changed.map((name) => [name, stepsOf(before[name], after[name])]))
}

/** Items and lists that stayed are the same objects as in `before`. */
export function applyDelta(before: RenderedConfig, delta: ConfigDelta): RenderedConfig {
  const changed = LIST_NAMES.flatMap((name) => {
    const steps = delta[name]
    return steps === undefined ? [] : [[name, listOf(before[name], steps)]]
  })
  // Steps hold items of the list that they were made of.
  return { ...before, ...(Object.fromEntries(changed) as Partial<RenderedConfig>) }
}

/** Most of a list stays at both ends: only what is between is looked up. */
function stepsOf(before: readonly unknown[], after: readonly unknown[]): Step[] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let rest = 0
  while (rest < shorter - start && before[before.length - 1 - rest] === after[after.length - 1 - rest]) rest++
  return [
    ...(start > 0 ? [{ from: 0, count: start }] : []),
    ...stepsBetween(before.slice(start, before.length - rest), after.slice(start, after.length - rest), start),
    ...(rest > 0 ? [{ from: before.length - rest, count: rest }] : []),
  ]
}

/** `offset`: of `before` in its list. */
function stepsBetween(before: readonly unknown[], after: readonly unknown[], offset: number): Step[] {
  const places = new Map(before.map((item, place) => [item, place + offset]))
  const steps: Step[] = []
  let at = 0
  while (at < after.length) {
    const start = at
    const from = places.get(after[at])
    if (from === undefined) {
      while (at < after.length && !places.has(after[at])) at++
      steps.push({ items: after.slice(start, at) })
    } else {
      while (at < after.length && places.get(after[at]) === from + at - start) at++
      steps.push({ from, count: at - start })
    }
  }
  return steps
}

function listOf(before: readonly unknown[], steps: readonly Step[]): unknown[] {
  return steps.flatMap((step) => ('items' in step ? step.items : before.slice(step.from, step.from + step.count)))
}
