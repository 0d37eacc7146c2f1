// Processor time and heap of steps that follow each other in this process.
import { fullCollection } from '#api/full-collection.ts'

interface Step {
  readonly 'processor time ms': string
  readonly 'heap MiB': string
}

const MIB = 1024 * 1024

export class MeasuredSteps {
  readonly #collect = fullCollection('regular')
  readonly #rows: Record<string, Step> = {}
  readonly #base = this.#heapAfterCollection()
  #heap = this.#base

  run<T>(name: string, work: () => T): T {
    const started = process.cpuUsage()
    const result = work()
    const { user, system } = process.cpuUsage(started)
    const now = this.#heapAfterCollection()
    const ms = ((user + system) / 1000).toFixed(0)
    this.#rows[name] = { 'processor time ms': ms, 'heap MiB': ((now - this.#heap) / MIB).toFixed(1) }
    this.#heap = now
    return result
  }

  /** By the names of the steps, and the heap of all of them. */
  rows(): Readonly<Record<string, Step>> {
    return { ...this.#rows, all: { 'processor time ms': '', 'heap MiB': ((this.#heap - this.#base) / MIB).toFixed(1) } }
  }

  #heapAfterCollection(): number {
    this.#collect()
    this.#collect()
    return process.memoryUsage().heapUsed
  }
}
