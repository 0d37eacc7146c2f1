// The waiting keys of a work queue, fair by namespace: namespaces take turns, so that the thousand keys of one do not
// delay the single key of another. Within a namespace the first key in is the first one out.

/** `namespace/name`, or `Kind namespace/name`. Objects without a namespace share one turn. */
export function namespaceOfKey(key: string): string {
  const from = key.indexOf(' ') + 1
  const slash = key.indexOf('/', from)
  return slash === -1 ? '' : key.slice(from, slash)
}

export class FairKeys {
  /** In the order of their turns; none is empty. */
  readonly #byNamespace = new Map<string, Set<string>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** False: the key is already in the queue, and keeps its place. */
  add(key: string): boolean {
    const namespace = namespaceOfKey(key)
    const keys = this.#byNamespace.get(namespace)
    if (keys === undefined) this.#byNamespace.set(namespace, new Set([key]))
    else if (keys.has(key)) return false
    else keys.add(key)
    this.#size++
    return true
  }

  /**
   * Takes the oldest key of the namespace whose turn it is, and sends that namespace to the end. Namespaces for which
   * `isFull` returns true keep their turns. undefined: all of them are full, or no key waits.
   */
  take(isFull: (namespace: string) => boolean = () => false): string | undefined {
    for (const [namespace, keys] of this.#byNamespace) {
      if (isFull(namespace)) continue
      this.#byNamespace.delete(namespace)
      for (const key of keys) {
        keys.delete(key)
        if (keys.size > 0) this.#byNamespace.set(namespace, keys)
        this.#size--
        return key
      }
    }
    return undefined
  }
}
