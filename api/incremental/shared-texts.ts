// Equal texts become one in memory: a name that is put together at several places takes its characters each time, and
// memory for each of its parts.

/** Of each of two generations: a text that does not come again is forgotten with the older one. */
const GENERATION_MAX = 32_768

export class SharedTexts {
  #young = new Map<string, string>()
  #old = new Map<string, string>()

  /** The first of equal texts that came lately. */
  of(text: string): string {
    const young = this.#young.get(text)
    if (young !== undefined) return young
    const known = this.#old.get(text) ?? text
    if (this.#young.size === GENERATION_MAX) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(known, known)
    return known
  }
}
