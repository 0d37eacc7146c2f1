// Which parts of a text a mask has replaced. Guards that call services return only the new text.

/** UTF-16 offsets in the text before, end exclusive. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Equal characters that end a replaced part: fewer may be equal by chance. */
const ANCHOR_CHARS = 16
/** Behind a longer replaced part, the rest of the text counts as replaced. */
const DISTANCE_MAX = 1024

/** In their order. Neighbours with fewer than `ANCHOR_CHARS` between them are one edit. */
export function editsBetween(before: string, after: string): readonly Edit[] {
  const edits: Edit[] = []
  let at = 0
  let to = 0
  while (at < before.length || to < after.length) {
    if (at < before.length && before[at] === after[to]) {
      at++
      to++
      continue
    }
    const next = anchorBehind(before, after, { at, to })
    edits.push({ start: at, end: next.at, text: after.slice(to, next.to) })
    at = next.at
    to = next.to
  }
  return edits
}

interface Position {
  readonly at: number
  readonly to: number
}

/** The closest places from which both texts are equal, for the length of an anchor or to their ends. */
function anchorBehind(before: string, after: string, { at, to }: Position): Position {
  const ends = { at: before.length, to: after.length }
  const distanceMax = Math.min(DISTANCE_MAX, ends.at - at + ends.to - to)
  for (let distance = 1; distance < distanceMax; distance++) {
    const first = Math.max(0, distance - (ends.to - to))
    const last = Math.min(distance, ends.at - at)
    for (let skipped = first; skipped <= last; skipped++) {
      const place = { at: at + skipped, to: to + distance - skipped }
      if (isAnchor(before, after, place)) return place
    }
  }
  return ends
}

function isAnchor(before: string, after: string, { at, to }: Position): boolean {
  if (before[at] !== after[to]) return false
  const chars = Math.min(ANCHOR_CHARS, Math.max(before.length - at, after.length - to))
  return chars > 0 && before.slice(at, at + chars) === after.slice(to, to + chars)
}
