// One conformance case: a sample of config/samples and what a client sees of it. Types only.
import type { SampleGateway } from './gateway.ts'

export interface ConformanceCase {
  /** Unique within its file. */
  readonly shortName: string
  /** One sentence: what must hold. */
  readonly description: string
  /** File of config/samples. */
  readonly sample: string
  /**
   * Makes a broken or different version of the sample. Without it the runner also asks that everything in the sample is
   * accepted, attached and in `/config_dump`.
   */
  readonly change?: (manifests: string) => string
  readonly run: (gateway: SampleGateway) => Promise<void>
}

/** @throws {Error} when the sample no longer holds the text: a case must not pass because its change did nothing. */
export function replacing(from: string, to: string): (manifests: string) => string {
  return (manifests) => {
    if (!manifests.includes(from)) throw new Error(`the sample does not hold ${JSON.stringify(from)}`)
    return manifests.replaceAll(from, () => to)
  }
}
