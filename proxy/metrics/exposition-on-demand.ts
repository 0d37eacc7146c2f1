// The response to a scrape, for a process that may never be scraped: the libraries of the formats take memory and
// time of the start. The first scrape loads them.
import type { MetricsAggregate } from './aggregate.ts'
import type { Exposition, PlainMetric } from './exposed.ts'

export function expositionOnDemand(aggregate: MetricsAggregate, plain: readonly PlainMetric[]): Exposition {
  let loading: Promise<Exposition> | undefined
  return {
    async scrape(accept) {
      loading ??= import('./exposition.ts').then(({ createExposition }) => createExposition(aggregate, plain))
      return (await loading).scrape(accept)
    },
  }
}
