// Weighted random choice among the backends of a rule.

export interface Weighted<T> {
  readonly weight: number
  readonly value: T
}

/** undefined if there is no entry or all weights are 0. `random` returns [0, 1). */
export function weightedPicker<T>(
  entries: readonly Weighted<T>[],
  random: () => number = Math.random,
): () => T | undefined {
  const usable = entries.filter((entry) => entry.weight > 0)
  const [only] = usable
  if (only === undefined) return () => undefined
  if (usable.length === 1) return () => only.value
  const total = usable.reduce((sum, entry) => sum + entry.weight, 0)
  return () => {
    let left = random() * total
    for (const entry of usable) {
      left -= entry.weight
      if (left < 0) return entry.value
    }
    return only.value
  }
}
