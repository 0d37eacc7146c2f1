// The places of a work queue, shared by namespaces: a namespace gets a further one only while more are free than it
// has. So one whose work takes long has at most half of them, and another one finds a free place.

export class Places {
  readonly #count: number
  readonly #used = new Map<string, number>()
  #total = 0

  constructor(count: number) {
    this.#count = count
  }

  isFull(namespace: string): boolean {
    return this.#of(namespace) >= this.#count - this.#total
  }

  enter(namespace: string): void {
    this.#used.set(namespace, this.#of(namespace) + 1)
    this.#total++
  }

  leave(namespace: string): void {
    const rest = this.#of(namespace) - 1
    if (rest > 0) this.#used.set(namespace, rest)
    else this.#used.delete(namespace)
    this.#total--
  }

  #of(namespace: string): number {
    return this.#used.get(namespace) ?? 0
  }
}
