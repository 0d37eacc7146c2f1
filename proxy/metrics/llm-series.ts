// The series of the requests of one place to models: most requests repeat the names of the last ones, and find their
// series without building a key.
import type { LlmFacts } from '../exchange/facts.ts'
import { LABEL_CHARS_MAX, type SeriesTable } from './buffer.ts'
import type { Family } from './family.ts'

const UNKNOWN = 'unknown'
/** Clients choose the names of models: the oldest combination makes room for a new one. */
const COMBINATIONS_MAX = 16

/** Requests of one place with the same provider and models. */
export class LlmSeries {
  readonly provider: string
  readonly requestModel: string | undefined
  readonly responseModel: string | undefined
  readonly #labels: readonly string[]
  readonly #slots = new Map<string | number, number>()

  constructor({ provider, requestModel, responseModel }: LlmFacts, routeLabels: readonly string[]) {
    this.provider = provider
    this.requestModel = requestModel
    this.responseModel = responseModel
    this.#labels = ['chat', provider, requestModel ?? UNKNOWN, responseModel ?? UNKNOWN, ...routeLabels]
  }

  /** The first slot; creates the series. `label`: of a family that has one more in front, unlike those of others. */
  slot(table: SeriesTable, family: Family, label?: string): number {
    const key = label ?? family.id
    const known = this.#slots.get(key)
    if (known !== undefined) return known
    const slot = table.series(family, label === undefined ? this.#labels : [label, ...this.#labels])
    this.#slots.set(key, slot)
    return slot
  }
}

/** Of one place. */
export class LlmSeriesCache {
  readonly #routeLabels: readonly string[]
  readonly #combinations: LlmSeries[] = []
  #next = 0

  constructor(routeLabels: readonly string[]) {
    this.#routeLabels = routeLabels
  }

  of(llm: LlmFacts): LlmSeries {
    const { provider, requestModel, responseModel } = llm
    for (const one of this.#combinations) {
      if (one.requestModel === requestModel && one.responseModel === responseModel && one.provider === provider)
        return one
    }
    const series = new LlmSeries(llm, this.#routeLabels)
    if (isLong(requestModel) || isLong(responseModel)) return series
    this.#combinations[this.#next] = series
    this.#next = (this.#next + 1) % COMBINATIONS_MAX
    return series
  }
}

/** A long string of a client is not kept in memory. */
function isLong(name: string | undefined): boolean {
  return name !== undefined && name.length > LABEL_CHARS_MAX
}
