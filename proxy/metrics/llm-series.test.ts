import { describe, expect, it } from 'vitest'
import type { LlmFacts } from '../exchange/facts.ts'
import { emptyFacts } from '../llm/usage.ts'
import { createMetricsBuffer, SeriesTable } from './buffer.ts'
import * as families from './families.ts'
import { LlmSeriesCache } from './llm-series.ts'

const table = (): SeriesTable => new SeriesTable(createMetricsBuffer())
const facts = (requestModel: string, responseModel?: string, provider = 'p'): LlmFacts => ({
  ...emptyFacts(provider),
  requestModel,
  responseModel,
})

describe('LlmSeriesCache', () => {
  it('finds the series of the same names', () => {
    const cache = new LlmSeriesCache(['route'])
    expect(cache.of(facts('a', 'b'))).toBe(cache.of(facts('a', 'b')))
  })

  it.each([
    ['requested model', facts('x', 'b')],
    ['model of the response', facts('a', 'x')],
    ['missing model of the response', facts('a')],
    ['provider', facts('a', 'b', 'x')],
  ])('separates another %s', (_, other) => {
    const to = table()
    const cache = new LlmSeriesCache(['route'])
    const slot = cache.of(facts('a', 'b')).slot(to, families.GEN_AI_DURATION)
    expect(cache.of(other).slot(to, families.GEN_AI_DURATION)).not.toBe(slot)
  })

  it('separates families, and the first labels of one family', () => {
    const to = table()
    const series = new LlmSeriesCache(['route']).of(facts('a'))
    const slots = [
      series.slot(to, families.GEN_AI_DURATION),
      series.slot(to, families.GEN_AI_COST),
      series.slot(to, families.GEN_AI_TOKENS, 'input'),
      series.slot(to, families.GEN_AI_TOKENS, 'output'),
    ]
    expect(new Set(slots).size).toBe(4)
    expect(series.slot(to, families.GEN_AI_TOKENS, 'input')).toBe(slots[2])
  })

  it('keeps the last 16 combinations, and counts the others in the same series as before', () => {
    const to = table()
    const cache = new LlmSeriesCache(['route'])
    const first = cache.of(facts('model 0'))
    const slot = first.slot(to, families.GEN_AI_DURATION)
    for (let i = 1; i < 16; i++) cache.of(facts(`model ${i}`))
    expect(cache.of(facts('model 0'))).toBe(first)
    cache.of(facts('model 16'))
    const again = cache.of(facts('model 0'))
    expect(again).not.toBe(first)
    expect(again.slot(to, families.GEN_AI_DURATION)).toBe(slot)
  })

  it('keeps no long names', () => {
    const cache = new LlmSeriesCache(['route'])
    const long = 'x'.repeat(129)
    expect(cache.of(facts(long))).not.toBe(cache.of(facts(long)))
    expect(cache.of(facts('a', long))).not.toBe(cache.of(facts('a', long)))
  })
})
