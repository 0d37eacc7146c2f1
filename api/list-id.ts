// Numbers for lists, for who remembers which list another one was made of. With a reference each list would keep all
// before it. V8 takes a WeakRef for a reference while it collects young garbage: lists of thousands of items, made for
// every change, grew old before they went.

/** Keys of a WeakMap do not count as references, neither for young garbage nor for old. */
const ids = new WeakMap<readonly unknown[], number>()
let last = 0

/** Another one for each list, and always the same. */
export function listId(list: readonly unknown[]): number {
  const known = ids.get(list)
  if (known !== undefined) return known
  ids.set(list, ++last)
  return last
}
