// The rows of the model catalog for pages.
import { expect, it } from 'vitest'
import type { CatalogModel } from './catalog.ts'
import { offeredCatalog } from './offered-catalog.ts'
import { modelPrices } from './model-prices.ts'

function catalogOf(models: ReadonlyMap<string, CatalogModel>) {
  return offeredCatalog([{ name: 'a.json', catalog: new Map([['openai', models]]) }])
}

it('has prices in USD for a million tokens, with those of long contexts', () => {
  const model: CatalogModel = {
    rates: { input: 2_500_000n, output: 10_000_000n, cacheRead: 1n },
    tiers: [{ contextOver: 200_000, rates: { input: 5_000_000n } }],
    tags: [],
  }
  expect(modelPrices(catalogOf(new Map([['m', model]])))).toEqual({
    models: [
      {
        provider: 'openai',
        model: 'm',
        rates: { input: 2.5, output: 10, cacheRead: 0.000001 },
        tiers: [{ contextOver: 200_000, rates: { input: 5 } }],
      },
    ],
    omitted: 0,
  })
})

it('has no more than 10,000 models, and counts the others', () => {
  const model: CatalogModel = { rates: {}, tiers: undefined, tags: [] }
  const many = new Map(Array.from({ length: 10_002 }, (_, index) => [`m${index}`, model] as const))
  const { models, omitted } = modelPrices(catalogOf(many))
  expect([models.length, omitted]).toEqual([10_000, 2])
})

it('is empty without a catalog', () => expect(modelPrices(undefined)).toEqual({ models: [], omitted: 0 }))
