// A part of the program that not every process needs. It is loaded before its first use, and stays loaded.

export class LatePart<T> {
  readonly #name: string
  readonly #import: () => Promise<T>
  #loaded: T | undefined

  /** `name`: for the error of a use before `load`. */
  constructor(name: string, load: () => Promise<T>) {
    this.#name = name
    this.#import = load
  }

  async load(): Promise<void> {
    if (this.#loaded === undefined) this.#loaded = await this.#import()
  }

  /** @throws {Error} before `load` has ended */
  get(): T {
    if (this.#loaded === undefined) throw new Error(`${this.#name} is not loaded`)
    return this.#loaded
  }
}
