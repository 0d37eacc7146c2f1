// A value that is computed on first use, and once.

/** A configuration may have thousands of unused routes. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
