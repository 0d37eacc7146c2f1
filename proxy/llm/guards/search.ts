// The contract of searches for patterns in a text.

/** UTF-16 offsets, end exclusive. */
export interface Match {
  readonly start: number
  readonly end: number
}

/** Matches of one pattern in their order. undefined: no match so far; the caller may let other work run. */
export type Search = (text: string) => Iterable<Match | undefined>
