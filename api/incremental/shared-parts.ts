// Equal values become one object in memory: thousands of routes have the same matches, filters, labels and statuses.
// For JSON values that no code changes in place.

/** Of each of two generations: a value that does not come again is forgotten with the older one. */
const GENERATION_MAX = 8192
/** Of the texts of a generation. */
const GENERATION_CHARS_MAX = 1024 * 1024
/** Of its text. Longer values are seldom equal. */
const CHARS_MAX = 2048

export class SharedParts {
  #young = new Map<string, object>()
  #old = new Map<string, object>()
  /** Of the young ones. */
  #chars = 0

  /** The first of equal objects or lists that came lately. Fields in another order are another object. */
  of<T extends object | undefined>(value: T): T {
    if (value === undefined) return value
    const text = JSON.stringify(value)
    if (text.length > CHARS_MAX) return value
    const young = this.#young.get(text)
    // Equal text: an equal value.
    if (young !== undefined) return young as T
    const known = this.#old.get(text) ?? value
    if (this.#young.size === GENERATION_MAX || this.#chars + text.length > GENERATION_CHARS_MAX) {
      this.#old = this.#young
      this.#young = new Map()
      this.#chars = 0
    }
    this.#young.set(text, known)
    this.#chars += text.length
    return known as T
  }
}
