// The first place of a sorted list where something is, or belongs. Pure.

/** Of the places 0 to `length`, the first that is not before what is looked for; `isBefore` must say so in order. */
export function lowerBound(length: number, isBefore: (place: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}
