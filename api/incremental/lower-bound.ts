// The first index of a sorted list where something is, or belongs. Pure.

/** The first index of 0 to `length` for which `isBefore` returns false; all indexes before it must return true. */
export function lowerBound(length: number, isBefore: (place: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}
