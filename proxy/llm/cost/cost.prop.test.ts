// Laws of the catalog and of costs: the merge of sources is associative, and each token is counted in one bucket.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { emptyFacts } from '../usage.ts'
import { type CatalogModel, mergeCatalogs, type ModelCatalog, type ModelRates, RATE_NAMES } from './catalog.ts'
import { pricingOf } from './cost.ts'

const RUNS = { numRuns: runs(500) }

const rate = fc.bigInt({ min: 0n, max: 100_000_000n })
const rates: fc.Arbitrary<ModelRates> = fc.record(Object.fromEntries(RATE_NAMES.map((name) => [name, rate])), {
  requiredKeys: [],
})
const tiers = fc
  .uniqueArray(fc.record({ contextOver: fc.nat({ max: 2000 }), rates }), { selector: (tier) => tier.contextOver })
  .map((list) => list.toSorted((a, b) => a.contextOver - b.contextOver))
const model: fc.Arbitrary<CatalogModel> = fc.record({
  rates,
  tiers: fc.option(tiers, { nil: undefined }),
  tags: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
})
const models = fc.array(fc.tuple(fc.constantFrom('m', 'n'), model)).map((list) => new Map(list))
const catalog: fc.Arbitrary<ModelCatalog> = fc
  .array(fc.tuple(fc.constantFrom('openai', 'anthropic'), models))
  .map((list) => new Map(list))

it('merges sources in any grouping to the same catalog', () => {
  fc.assert(
    fc.property(catalog, catalog, catalog, (a, b, c) => {
      const all = mergeCatalogs([a, b, c])
      expect(mergeCatalogs([mergeCatalogs([a, b]), c])).toEqual(all)
      expect(mergeCatalogs([a, mergeCatalogs([b, c])])).toEqual(all)
    }),
    RUNS,
  )
})

it('changes no source', () => {
  fc.assert(
    fc.property(catalog, catalog, (a, b) => {
      const copy = structuredClone(a)
      mergeCatalogs([a, b])
      expect(a).toEqual(copy)
    }),
    RUNS,
  )
})

const tokens = fc.option(fc.nat({ max: 100_000 }), { nil: undefined })

it('splits the cost of a call into parts whose sum is the total', () => {
  const counts = fc.record({
    input: tokens,
    read: tokens,
    write: tokens,
    audio: tokens,
    output: tokens,
    thought: tokens,
  })
  fc.assert(
    fc.property(model, counts, (priced, { input, read, write, audio, output, thought }) => {
      const cost = pricingOf(new Map([['openai', new Map([['m', priced]])]])).costOf({
        ...emptyFacts('openai'),
        requestModel: 'm',
        inputTokens: input,
        cachedInputTokens: read,
        cacheCreationInputTokens: write,
        outputTokens: output,
        reasoningTokens: thought,
        kinds: {
          inputText: undefined,
          inputImage: undefined,
          inputAudio: audio,
          outputText: undefined,
          outputImage: undefined,
          outputAudio: audio,
        },
      })
      if (cost?.usd === undefined) return
      const { total, ...parts } = cost.usd
      expect(Object.values(parts).reduce((sum, part) => sum + units(part), 0n)).toBe(units(total))
    }),
    RUNS,
  )
})

it('has the same cost whatever is split off if all rates are equal', () => {
  fc.assert(
    fc.property(rate, tokens, tokens, tokens, (same, input = 0, read, thought) => {
      const equal = Object.fromEntries(RATE_NAMES.map((name) => [name, same]))
      const pricing = pricingOf(new Map([['openai', new Map([['m', { rates: equal, tiers: undefined, tags: [] }]])]]))
      const facts = { ...emptyFacts('openai'), requestModel: 'm', inputTokens: input, outputTokens: 10 }
      const split = { ...facts, cachedInputTokens: read, reasoningTokens: thought }
      expect(pricing.costOf(split)?.usd?.total).toBe(pricing.costOf(facts)?.usd?.total)
    }),
    RUNS,
  )
})

/** 10⁻¹² USD; exact for less than 9,000 USD. */
function units(usd: number): bigint {
  return BigInt(Math.round(usd * 1e12))
}
