// Values that exist or come later. The usual call waits only for its server: promises and async functions on its way
// cost as much as its work.

export type Later<T> = T | Promise<T>

/** Calls `next` at once if the value exists. */
export function whenReady<T, R>(value: Later<T>, next: (value: T) => Later<R>): Later<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
