// How a name is looked up: the seam between the cache and those who ask. Types only.

/** `ttlMs`: undefined if the resolver returns none. */
export type Lookup = (
  host: string,
  done: (error: Error | undefined, addresses: readonly string[], ttlMs?: number) => void,
) => void
