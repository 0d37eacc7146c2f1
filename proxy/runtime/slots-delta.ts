// Slots of shared memory told as their difference: a message that names every endpoint costs each thread more than the
// change itself. Pure.

export type Slots = ReadonlyMap<string, number>

export interface SlotsDelta {
  readonly set: readonly (readonly [string, number])[]
  readonly removed: readonly string[]
}

/** undefined: they are as before. */
export function slotsDelta(before: Slots, after: Slots): SlotsDelta | undefined {
  if (before === after) return undefined
  const set = [...after].filter(([key, slot]) => before.get(key) !== slot)
  const removed = [...before.keys()].filter((key) => !after.has(key))
  return set.length === 0 && removed.length === 0 ? undefined : { set, removed }
}

/** `before` stays as it is: configurations that still run read it. */
export function applySlots(before: Slots, delta: SlotsDelta | undefined): Slots {
  if (delta === undefined) return before
  const after = new Map(before)
  for (const key of delta.removed) after.delete(key)
  for (const [key, slot] of delta.set) after.set(key, slot)
  return after
}
