// Notes about a list that was derived from another one. The note names the earlier list by a number: with a reference
// each list would keep all earlier ones in memory. V8 treats a WeakRef as a reference while it collects young garbage:
// lists of thousands of items, made for every change, became old before they were collected.

/** Keys of a WeakMap do not count as references, neither for young garbage nor for old. */
const ids = new WeakMap<readonly unknown[], number>()
let last = 0

/** Another one for each list, and always the same. */
function listId(list: readonly unknown[]): number {
  const known = ids.get(list)
  if (known !== undefined) return known
  ids.set(list, ++last)
  return last
}

/** One note for each list: the last one counts. */
export class ListNotes<N> {
  readonly #notes = new WeakMap<readonly unknown[], { readonly before: number; readonly note: N }>()

  /** undefined: there is no note about exactly these lists. */
  of(before: readonly unknown[], now: readonly unknown[]): { readonly note: N } | undefined {
    const known = this.#notes.get(now)
    return known !== undefined && known.before === listId(before) ? known : undefined
  }

  set(before: readonly unknown[], now: readonly unknown[], note: N): void {
    this.#notes.set(now, { before: listId(before), note })
  }
}
