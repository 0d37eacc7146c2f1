import { describe, expect, it } from 'vitest'
import { parseCatalog } from './model-catalog.ts'

function problemsOf(text: string): string[] {
  const parsed = parseCatalog(text)
  return 'problems' in parsed ? parsed.problems.map(({ path, message }) => `${path}: ${message}`) : []
}

function withModel(model: unknown): string {
  return JSON.stringify({ providers: { openai: { models: { 'gpt-5.1': model } } } })
}

it('reads rates as millionths of a USD, with tiers and tags', () => {
  const rates = {
    input: '1.25',
    output: '10',
    cacheRead: '0.125',
    cacheWrite: '0',
    reasoning: '0.000001',
    inputAudio: '32.5',
    outputAudio: '999999999999.999999',
  }
  const tiers = [
    { contextOver: 0, rates: { input: '2' } },
    { contextOver: 200_000, rates: {} },
  ]
  const parsed = parseCatalog(withModel({ rates, tiers, tags: ['openai_responses'] }))
  expect('catalog' in parsed && parsed.catalog.get('openai')?.get('gpt-5.1')).toEqual({
    rates: {
      input: 1_250_000n,
      output: 10_000_000n,
      cacheRead: 125_000n,
      cacheWrite: 0n,
      reasoning: 1n,
      inputAudio: 32_500_000n,
      outputAudio: 999_999_999_999_999_999n,
    },
    tiers: [
      { contextOver: 0, rates: { input: 2_000_000n } },
      { contextOver: 200_000, rates: {} },
    ],
    tags: ['openai_responses'],
  })
})

it('reads a model without any field, and a provider with the name of an object member', () => {
  const parsed = parseCatalog('{"providers": {"toString": {"models": {"constructor": {}}}}}')
  expect('catalog' in parsed && parsed.catalog.get('toString')?.get('constructor')).toEqual({
    rates: {},
    tiers: undefined,
    tags: [],
  })
})

const AT = 'providers.openai.models["gpt-5.1"]'
const NOT_DECIMAL = 'must be a decimal number in USD per million tokens with at most 6 decimals, for example "2.50"'

describe('reports', () => {
  it.each<[text: string, problem: string]>([
    ['{', ': is not valid JSON'],
    ['[]', ': must be a mapping, not a list'],
    ['{}', 'providers: is required'],
    ['{"providers": {}, "version": 1}', 'version: unknown field "version"; valid fields: providers'],
    ['{"providers": {"": {"models": {}}}}', 'providers[""]: must be at least 1 characters long'],
    ['{"providers": {"openai": {}}}', 'providers.openai.models: is required'],
    [withModel({ rate: {} }), `${AT}.rate: unknown field "rate"; did you mean rates?`],
    [withModel({ rates: { input: 1.25 } }), `${AT}.rates.input: must be a string, not a number`],
    [withModel({ rates: { input: '-1' } }), `${AT}.rates.input: ${NOT_DECIMAL}`],
    [withModel({ rates: { input: '1e3' } }), `${AT}.rates.input: ${NOT_DECIMAL}`],
    [withModel({ rates: { input: '1.' } }), `${AT}.rates.input: ${NOT_DECIMAL}`],
    [withModel({ rates: { input: '0.0000001' } }), `${AT}.rates.input: ${NOT_DECIMAL}`],
    [withModel({ rates: { input: '1000000000000' } }), `${AT}.rates.input: ${NOT_DECIMAL}`],
    [
      withModel({ rates: { cacheread: '1' } }),
      `${AT}.rates.cacheread: unknown field "cacheread"; did you mean cacheRead?`,
    ],
    [withModel({ tiers: [{ rates: {} }] }), `${AT}.tiers[0].contextOver: is required`],
    [withModel({ tags: [''] }), `${AT}.tags[0]: must be at least 1 characters long`],
  ])('%s', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem])
  })

  it('tiers whose thresholds do not rise', () => {
    const tiers = [10, 20, 20].map((contextOver) => ({ contextOver, rates: {} }))
    expect(problemsOf(withModel({ tiers }))).toEqual([
      `${AT}.tiers[2].contextOver: must be larger than contextOver of the previous tier`,
    ])
  })

  it('at most ten mistakes', () => {
    const models = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`m${index}`, { rates: { input: 1 } }]))
    expect(problemsOf(JSON.stringify({ providers: { openai: { models } } }))).toHaveLength(10)
  })

  it('more providers than 256', () => {
    const providers = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`p${index}`, { models: {} }]))
    expect(problemsOf(JSON.stringify({ providers }))).toEqual(['providers: must have at most 256 entries'])
  })
})
