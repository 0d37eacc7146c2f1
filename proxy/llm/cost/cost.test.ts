import { describe, expect, it } from 'vitest'
import type { LlmFacts, LlmTokenKinds } from '../../exchange/facts.ts'
import { emptyFacts } from '../usage.ts'
import type { CatalogModel, ModelCatalog, ModelRates, RateName } from './catalog.ts'
import { pricingOf } from './cost.ts'

const NO_KINDS: LlmTokenKinds = {
  inputText: undefined,
  inputImage: undefined,
  inputAudio: undefined,
  outputText: undefined,
  outputImage: undefined,
  outputAudio: undefined,
}

/** USD per million tokens, with at most six decimals. */
function rates(given: { readonly [N in RateName]?: number }): ModelRates {
  return Object.fromEntries(Object.entries(given).map(([name, rate]) => [name, BigInt(Math.round(rate * 1e6))]))
}

function catalogOf(models: Readonly<Record<string, Partial<CatalogModel>>>): ModelCatalog {
  const entries = Object.entries(models).map(
    ([name, model]) => [name, { rates: {}, tiers: undefined, tags: [], ...model }] as const,
  )
  return new Map([['openai', new Map(entries)]])
}

function facts(more: Partial<LlmFacts>): LlmFacts {
  return { ...emptyFacts('openai'), requestModel: 'm', ...more }
}

const TEXT = rates({ input: 2, output: 8 })
const ALL = rates({
  input: 2,
  output: 8,
  cacheRead: 0.5,
  cacheWrite: 2.5,
  reasoning: 10,
  inputAudio: 40,
  outputAudio: 80,
})

describe('worked examples', () => {
  it.each<[name: string, model: Partial<CatalogModel>, counts: Partial<LlmFacts>, usd: object | undefined]>([
    [
      'text',
      { rates: TEXT },
      { inputTokens: 1000, outputTokens: 500 },
      { total: 0.006, input: 0.002, output: 0.004, reasoning: 0, inputAudio: 0, outputAudio: 0 },
    ],
    [
      'the cheapest token is not lost',
      { rates: rates({ input: 0.000001 }) },
      { inputTokens: 1, outputTokens: 7 },
      { total: 1e-12, input: 1e-12, inputAudio: 0 },
    ],
    [
      'cache tokens have their own rates',
      { rates: ALL },
      { inputTokens: 1000, cachedInputTokens: 600, cacheCreationInputTokens: 100, outputTokens: 0 },
      {
        total: 0.00115,
        input: 0.0006,
        cacheRead: 0.0003,
        cacheWrite: 0.00025,
        output: 0,
        reasoning: 0,
        inputAudio: 0,
        outputAudio: 0,
      },
    ],
    [
      'cache tokens without a rate are input tokens',
      { rates: TEXT },
      { inputTokens: 1000, cachedInputTokens: 600, cacheCreationInputTokens: 100 },
      { total: 0.002, input: 0.002, output: 0, reasoning: 0, inputAudio: 0, outputAudio: 0 },
    ],
    [
      'reasoning and audio have their own rates',
      { rates: ALL },
      {
        inputTokens: 1000,
        outputTokens: 1000,
        reasoningTokens: 300,
        kinds: { ...NO_KINDS, inputAudio: 250, outputAudio: 200 },
      },
      {
        total: 0.0345,
        input: 0.0015,
        inputAudio: 0.01,
        output: 0.004,
        reasoning: 0.003,
        outputAudio: 0.016,
        cacheRead: 0,
        cacheWrite: 0,
      },
    ],
    [
      'reasoning and audio without a rate cost as much as text',
      { rates: TEXT },
      {
        inputTokens: 1000,
        outputTokens: 1000,
        reasoningTokens: 300,
        kinds: { ...NO_KINDS, inputAudio: 250, outputAudio: 200 },
      },
      { total: 0.01, input: 0.0015, inputAudio: 0.0005, output: 0.004, reasoning: 0.0024, outputAudio: 0.0016 },
    ],
    [
      'a provider that reports more cached tokens than input tokens',
      { rates: ALL },
      { inputTokens: 100, cachedInputTokens: 600, cacheCreationInputTokens: 100, outputTokens: 0 },
      {
        total: 0.00005,
        input: 0,
        cacheRead: 0.00005,
        cacheWrite: 0,
        output: 0,
        reasoning: 0,
        inputAudio: 0,
        outputAudio: 0,
      },
    ],
  ])('%s', (_name, model, counts, usd) => {
    const cost = pricingOf(catalogOf({ m: model })).costOf(facts(counts))
    expect(cost).toMatchObject({ status: 'Exact', usd })
    expect(cost?.usd).toEqual(usd)
  })
})

it.each<[name: string, change: Partial<LlmFacts>, total: number]>([
  ['input', { inputTokens: 1000 }, 0.002],
  ['output', { outputTokens: 10 }, 0.00028],
  ['reads of the cache', { cachedInputTokens: 100 }, 0.00005],
  ['writes to the cache', { cacheCreationInputTokens: 100 }, 0.00025],
  ['audio', { kinds: { ...NO_KINDS, inputAudio: 100 } }, 0.004],
  ['the model that answered', { responseModel: 'other' }, 0.0001],
])('prices the tokens of the moment: %s', (_name, change, total) => {
  const pricing = pricingOf(catalogOf({ m: { rates: ALL }, other: { rates: rates({ input: 1 }) } }))
  const call = facts({ inputTokens: 100 })
  expect(pricing.costOf(call)?.usd?.total).toBe(0.0002)
  Object.assign(call, change)
  expect(pricing.costOf(call)?.usd?.total).toBe(total)
  expect(pricing.costOf(facts({ inputTokens: 1 }))?.usd?.total).toBe(0.000002)
})

describe('tiers', () => {
  const tiers = [
    { contextOver: 1000, rates: rates({ input: 4 }) },
    { contextOver: 2000, rates: rates({ input: 6, output: 20 }) },
  ]
  it.each([
    [1000, { input: 2, output: 8 }],
    [1001, { input: 4, output: 8 }],
    [2000, { input: 4, output: 8 }],
    [2001, { input: 6, output: 20 }],
  ])('%i input tokens', (inputTokens, expected) => {
    const cost = pricingOf(catalogOf({ m: { rates: TEXT, tiers } })).costOf(facts({ inputTokens }))
    expect(cost?.rates).toEqual(expected)
  })
})

describe('transcriptions', () => {
  const catalog = catalogOf({ m: { rates: TEXT }, asr: { rates: rates({ input: 2.1, inputAudio: 6, output: 10 }) } })
  const transcription = (model: string) => ({
    facts: facts({ requestModel: model, inputTokens: 30, outputTokens: 5, kinds: { ...NO_KINDS, inputAudio: 20 } }),
    seconds: undefined,
  })

  it('have the rates of their own model, and add to the total without a rounding error', () => {
    const call = facts({ inputTokens: 100, outputTokens: 10, transcription: transcription('asr') })
    expect(pricingOf(catalog).costOf(call)?.usd?.total).toBe(0.00028)
    expect(pricingOf(catalog).totalOf(call)).toEqual({
      status: 'Exact',
      usd: { total: 0.000471, input: 0.000221, output: 0.00013, reasoning: 0, inputAudio: 0.00012, outputAudio: 0 },
      rates: { input: 2, output: 8 },
    })
  })

  it('are the whole cost of a session without answers', () => {
    const call = facts({ requestModel: undefined, transcription: transcription('asr') })
    expect(pricingOf(catalog).totalOf(call)?.usd?.total).toBe(0.000191)
    expect(pricingOf(undefined).totalOf(call)?.status).toBe('NoCatalog')
  })

  it('leave the cost of the answers if their own price is unknown', () => {
    const call = facts({ inputTokens: 100, transcription: transcription('unknown') })
    expect(pricingOf(catalog).totalOf(call)).toMatchObject({ status: 'Exact', usd: { total: 0.0002 } })
  })
})

describe('lookup', () => {
  const catalog = catalogOf({
    m: { rates: TEXT },
    answer: { rates: ALL },
    free: { rates: rates({ input: 0 }) },
    none: {},
  })
  it.each<[name: string, counts: Partial<LlmFacts>, status: string, total: number | undefined]>([
    ['the model that answered comes first', { responseModel: 'answer' }, 'Exact', 0.000002],
    ['the requested model is next', { responseModel: 'other' }, 'Exact', 0.000002],
    ['a model without the price is not found by its prefix', { requestModel: 'm-2025' }, 'Missing', undefined],
    ['a provider that the catalog lacks', { provider: 'anthropic' }, 'Missing', undefined],
    ['an entry without rates', { requestModel: 'none' }, 'Unpriced', undefined],
    ['a rate of zero is a price', { requestModel: 'free' }, 'Exact', 0],
  ])('%s', (_name, more, status, total) => {
    const cost = pricingOf(catalog).costOf(facts({ inputTokens: 1, ...more }))
    expect(cost?.status).toBe(status)
    expect(cost?.usd?.total).toBe(total)
    if (more.responseModel === 'answer') expect(cost?.rates).toHaveProperty('cacheRead')
  })

  it('reports that there is no catalog', () => {
    expect(pricingOf(undefined).costOf(facts({ inputTokens: 1 }))?.status).toBe('NoCatalog')
  })

  it('prices no call whose tokens are unknown', () => {
    expect(pricingOf(catalog).costOf(facts({}))).toBeUndefined()
  })
})
