// Pseudorandom numbers, equal for equal seeds. For tests only.

export type RandomNumbers = () => number

/** Mulberry32: at least 0, less than 1. */
export function randomOf(seed: number): RandomNumbers {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function pick<T>(random: RandomNumbers, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0]
}
