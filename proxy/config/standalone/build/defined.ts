// Removes undefined members: optional fields of the contract are absent, never undefined.

type OptionalKeys<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]

export type Defined<T> = { [K in Exclude<keyof T, OptionalKeys<T>>]: T[K] } & {
  [K in OptionalKeys<T>]?: Exclude<T[K], undefined>
}

export function defined<T extends object>(value: T): Defined<T> {
  // Only the keys with undefined values are removed.
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>
}

export function ifSet<T, R>(value: T | undefined, render: (value: T) => R): R | undefined {
  return value === undefined ? undefined : render(value)
}
