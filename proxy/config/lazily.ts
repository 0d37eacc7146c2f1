// What is made when it is first asked for, and once.

/** A configuration may hold thousands of routes that nobody calls. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
