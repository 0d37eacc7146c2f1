// The model catalog in use on this thread: the main thread sends a new one while requests run.
import type { LlmPricing } from '../../exchange/facts.ts'
import type { ModelCatalog } from './catalog.ts'
import { pricingOf } from './cost.ts'

/** For the next calls; a call keeps the prices of its start. */
let pricing = pricingOf(undefined)

/** undefined: none is configured. */
export function useCatalog(catalog: ModelCatalog | undefined): void {
  pricing = pricingOf(catalog)
}

export function currentPricing(): LlmPricing {
  return pricing
}
