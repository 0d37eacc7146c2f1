// `/model_prices`: the merged model catalog as rows. Pure.
import type { components } from '#api/admin/types.gen.ts'
import { type ModelRates, RATE_NAMES } from './catalog.ts'
import type { OfferedCatalog } from './offered-catalog.ts'

type Prices = components['schemas']['ModelPrices']
type Price = Prices['models'][number]

/** A published catalog of all vendors has a few thousand. */
const MODELS_MAX = 10_000
/** Rates are in millionths of a USD. */
const MILLION = 1_000_000

export function modelPrices(offered: OfferedCatalog | undefined): Prices {
  const models: Price[] = []
  let omitted = 0
  for (const [provider, named] of offered?.catalog ?? []) {
    for (const [model, { rates, tiers = [] }] of named) {
      if (models.length === MODELS_MAX) omitted++
      else {
        const larger = tiers.map(({ contextOver, rates: own }) => ({ contextOver, rates: dollars(own) }))
        models.push({ provider, model, rates: dollars(rates), ...(larger.length > 0 && { tiers: larger }) })
      }
    }
  }
  return { models, omitted }
}

function dollars(rates: ModelRates): Price['rates'] {
  return Object.fromEntries(
    RATE_NAMES.flatMap((name) => {
      const rate = rates[name]
      return rate === undefined ? [] : [[name, Number(rate) / MILLION] as const]
    }),
  )
}
