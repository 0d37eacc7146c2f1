// Where a text has one of many known values. Reads the text once, however many values there are. Pure.

export interface KnownPlace {
  readonly start: number
  readonly end: number
}

/** Shorter ones are parts of other words. */
const LENGTH_MIN = 6

/** Sorted by their start; the longest value at each. Places may overlap. */
export function knownPlaces(text: string, values: readonly string[]): KnownPlace[] {
  const known = new Set(values.filter(({ length }) => length >= LENGTH_MIN))
  const lengths = lengthsByBeginning(known)
  const places: KnownPlace[] = []
  if (known.size === 0) return places
  for (let start = 0; start + LENGTH_MIN <= text.length; start++) {
    const length = lengths
      .get(text.slice(start, start + LENGTH_MIN))
      ?.find((one) => known.has(text.slice(start, start + one)))
    if (length !== undefined) places.push({ start, end: start + length })
  }
  return places
}

/** The lengths of the values with the same beginning, the longest first. */
function lengthsByBeginning(values: ReadonlySet<string>): ReadonlyMap<string, readonly number[]> {
  const lengths = new Map<string, Set<number>>()
  for (const value of values) {
    const beginning = value.slice(0, LENGTH_MIN)
    const known = lengths.get(beginning)
    if (known === undefined) lengths.set(beginning, new Set([value.length]))
    else known.add(value.length)
  }
  return new Map([...lengths].map(([beginning, found]) => [beginning, [...found].toSorted((a, b) => b - a)]))
}
