// Counts configurations that proxies rejected, each once.
import type { Acknowledgement } from '#api/delivery/acknowledgement.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'

/** Rejections that are remembered. */
const KNOWN_MAX = 10_000

export class Rejections {
  readonly #known = new Set<string>()

  /** How many are new. */
  count({ metadata: { uid } }: Gateway, acknowledgements: ReadonlyMap<string, Acknowledgement>): number {
    let count = 0
    for (const [pod, { rejected }] of acknowledgements) {
      if (rejected === undefined) continue
      const id = `${uid} ${pod} ${rejected.generation} ${rejected.message}`
      if (this.#known.has(id)) continue
      if (this.#known.size >= KNOWN_MAX) this.#known.clear()
      this.#known.add(id)
      count++
    }
    return count
  }
}
