// One conformance case: a sample of config/samples and the results of a client; and changes of samples. `make test`
// runs the first case of each feature, `make test-full` all of them.
import { parseAllDocuments, stringify } from 'yaml'
import type { SampleGateway } from './gateway.ts'

export interface ConformanceCase {
  /** Unique within its file. */
  readonly shortName: string
  /** One sentence: the expected behaviour. */
  readonly description: string
  /** File of config/samples. */
  readonly sample: string
  /**
   * Returns a broken or different version of the sample. Without it the runner also checks that every object of the
   * sample is accepted, attached and in `/config_dump`.
   */
  readonly change?: (manifests: string) => string
  readonly run: (gateway: SampleGateway) => Promise<void>
}

/** @throws {Error} if the sample does not contain the text: a case must not pass because its change has no effect */
export function replacing(from: string, to: string): (manifests: string) => string {
  return (manifests) => {
    if (!manifests.includes(from)) throw new Error(`the sample does not hold ${JSON.stringify(from)}`)
    return manifests.replaceAll(from, () => to)
  }
}

/** Part of a spec: maps are merged, other values replace the previous ones, and null removes them. */
export interface SpecChange {
  readonly [field: string]: unknown
}

/** Changes the spec of one object, named `Kind/name`. @throws {Error} if the sample has no such object */
export function changing(object: string, change: SpecChange): (manifests: string) => string {
  return (manifests) => {
    let isFound = false
    const documents = parseAllDocuments(manifests).map((document) => {
      const name = `${String(document.getIn(['kind']))}/${String(document.getIn(['metadata', 'name']))}`
      const value: unknown = document.toJS()
      if (name !== object || !isMap(value)) return value
      isFound = true
      return merged(value, { spec: change })
    })
    if (!isFound) throw new Error(`the sample has no ${object}`)
    return documents.map((document) => stringify(document)).join('---\n')
  }
}

/** Applies one change after the other. */
export function all(...changes: readonly ((manifests: string) => string)[]): (manifests: string) => string {
  return (manifests) => changes.reduce((text, change) => change(text), manifests)
}

function merged(base: unknown, change: SpecChange): unknown {
  const result: Record<string, unknown> = isMap(base) ? { ...base } : {}
  for (const [field, value] of Object.entries(change)) {
    if (value === null) delete result[field]
    else result[field] = isMap(value) ? merged(result[field], value) : value
  }
  return result
}

function isMap(value: unknown): value is SpecChange {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
