// The lines that differ between two texts, with some lines around them. Pure.

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'left out'
  readonly text: string
}

/** Lines around a change. */
const CONTEXT = 3
/** Of the table of a comparison; larger ones are split at lines that both texts have once. */
const CELLS_MAX = 4_000_000

export function lineDiff(before: string, after: string): DiffLine[] {
  const [one, other] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < one.length && start < other.length && one[start] === other[start]) start++
  let end = 0
  const rest = Math.min(one.length, other.length) - start
  while (end < rest && one[one.length - 1 - end] === other[other.length - 1 - end]) end++
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }))
  return shortened([
    ...same(one.slice(0, start)),
    ...changed(one.slice(start, one.length - end), other.slice(start, other.length - end)),
    ...same(one.slice(one.length - end)),
  ])
}

function changed(one: readonly string[], other: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text })
  const added = (text: string): DiffLine => ({ kind: 'added', text })
  if (one.length * other.length > CELLS_MAX) {
    const pairs = commonLines(one, other)
    if (pairs.length === 0) return [...one.map(removed), ...other.map(added)]
    return betweenPairs(one, other, pairs)
  }
  const common = commonLengths(one, other)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < one.length || j < other.length) {
    const [text, next] = [one[i], other[j]]
    if (text !== undefined && text === next) {
      lines.push({ kind: 'same', text })
      i++
      j++
    } else if (text !== undefined && (next === undefined || at(common, i + 1, j) >= at(common, i, j + 1))) {
      lines.push(removed(text))
      i++
    } else {
      lines.push(added(next ?? ''))
      j++
    }
  }
  return lines
}

type Pair = readonly [one: number, other: number]

/** Each part before, between and after the pairs by itself. */
function betweenPairs(one: readonly string[], other: readonly string[], pairs: readonly Pair[]): DiffLine[] {
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  for (const [at, otherAt] of pairs) {
    for (const line of changed(one.slice(i, at), other.slice(j, otherAt))) lines.push(line)
    lines.push({ kind: 'same', text: one[at] ?? '' })
    ;[i, j] = [at + 1, otherAt + 1]
  }
  return [...lines, ...changed(one.slice(i), other.slice(j))]
}

/** Positions of lines that both have exactly once: the longest list in the order of both. */
function commonLines(one: readonly string[], other: readonly string[]): Pair[] {
  const positions = onlyOnce(other)
  const pairs = [...onlyOnce(one)].flatMap(([text, at]): Pair[] => {
    const otherAt = positions.get(text)
    return otherAt === undefined ? [] : [[at, otherAt]]
  })
  /** By length: the last pair of the list of this length that ends first, and the pair before each. */
  const ends: number[] = []
  const before = new Int32Array(pairs.length).fill(-1)
  for (const [index, [, position]] of pairs.entries()) {
    const length = lowerBound(ends, (end) => (pairs[end]?.[1] ?? 0) < position)
    if (length > 0) before[index] = ends[length - 1] ?? -1
    ends[length] = index
  }
  const found: Pair[] = []
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) {
    const pair = pairs[index]
    if (pair !== undefined) found.push(pair)
  }
  return found.toReversed()
}

/** How many items at the start are before a place. */
function lowerBound(items: readonly number[], isBefore: (item: number) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(items[middle] ?? 0)) low = middle + 1
    else high = middle
  }
  return low
}

/** Lines that stand in the text once, with their positions. */
function onlyOnce(lines: readonly string[]): Map<string, number> {
  const positions = new Map<string, number>()
  const repeated = new Set<string>()
  for (const [index, line] of lines.entries()) {
    if (positions.has(line)) repeated.add(line)
    else positions.set(line, index)
  }
  for (const line of repeated) positions.delete(line)
  return positions
}

/** The length of the longest common part of what follows each pair of positions. */
function commonLengths(one: readonly string[], other: readonly string[]): readonly Uint32Array[] {
  const rows = Array.from({ length: one.length + 1 }, () => new Uint32Array(other.length + 1))
  for (let i = one.length - 1; i >= 0; i--) {
    const [row, below] = [rows[i], rows[i + 1]]
    if (row === undefined || below === undefined) continue
    for (let j = other.length - 1; j >= 0; j--) {
      const isSame = one[i] === other[j]
      row[j] = isSame ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0)
    }
  }
  return rows
}

function at(rows: readonly Uint32Array[], i: number, j: number): number {
  return rows[i]?.[j] ?? 0
}

/** Without lines that are far from each change. */
function shortened(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = new Uint8Array(lines.length)
  for (const [index, { kind }] of lines.entries()) {
    if (kind !== 'same') isNear.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1)
  }
  const shown: DiffLine[] = []
  let leftOut = 0
  const flush = (): void => {
    if (leftOut > 0) shown.push({ kind: 'left out', text: `${leftOut} lines without a change` })
    leftOut = 0
  }
  for (const [index, line] of lines.entries()) {
    if (isNear[index] === 0) leftOut++
    else {
      flush()
      shown.push(line)
    }
  }
  flush()
  return shown
}
