// One usage record: what a response reports, in any split over events and with counts repeated as null, has one meaning
// in the facts of a call and in the canonical form.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SentFormatName } from '#api/llm/formats.ts'
import { runs } from '#test/run/runs.ts'
import { SENT_FORMATS } from './formats/table.ts'
import type { JsonObject } from './json.ts'
import { addReport, canonicalUsage, emptyFacts, noUsage, reportedUsage, type UsageReport } from './usage.ts'

/** The same call in each format: 100 input tokens, 30 of them cached, 10 written; 50 output tokens, 20 thoughts. */
const REPORTS: readonly (readonly [SentFormatName, JsonObject, Partial<Record<string, number>>])[] = [
  [
    'Completions',
    {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
    },
    { providerInputTokens: 100, providerTotalTokens: 150 },
  ],
  [
    'Responses',
    {
      response: {
        usage: {
          input_tokens: 100,
          output_tokens: 50,
          total_tokens: 150,
          input_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 },
          output_tokens_details: { reasoning_tokens: 20 },
        },
      },
    },
    { providerInputTokens: 100, providerTotalTokens: 150 },
  ],
  [
    'Messages',
    {
      usage: {
        input_tokens: 60,
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 10,
        output_tokens: 50,
        output_tokens_details: { thinking_tokens: 20 },
      },
    },
    { providerInputTokens: 60 },
  ],
  [
    'Converse',
    {
      usage: {
        inputTokens: 60,
        cacheReadInputTokens: 30,
        cacheWriteInputTokens: 10,
        outputTokens: 50,
        totalTokens: 110,
      },
    },
    { providerInputTokens: 60, providerTotalTokens: 110 },
  ],
  [
    'GenerateContent',
    {
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 30,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 20,
        totalTokenCount: 150,
      },
    },
    { providerInputTokens: 100, providerTotalTokens: 150 },
  ],
]

/** Formats that have no such count. */
const WITHOUT: Partial<Record<SentFormatName, readonly string[]>> = {
  Converse: ['reasoningTokens'],
  GenerateContent: ['cacheCreationInputTokens'],
}

const MEANING = {
  inputTokens: 100,
  cachedInputTokens: 30,
  cacheCreationInputTokens: 10,
  outputTokens: 50,
  reasoningTokens: 20,
  totalTokens: 150,
}

describe.each(REPORTS)('usage of %s', (name, answer, own) => {
  const expected: Readonly<Record<string, number | undefined>> = {
    ...MEANING,
    ...Object.fromEntries((WITHOUT[name] ?? []).map((count) => [count, undefined])),
    ...own,
  }

  it('has the same meaning as that of other formats', () => {
    const facts = emptyFacts('p')
    SENT_FORMATS[name].observe(facts, answer)
    expect(facts).toMatchObject(expected)
  })

  it('stays as it is when a later event repeats its counts as null or has none', () => {
    const facts = emptyFacts('p')
    SENT_FORMATS[name].observe(facts, answer)
    SENT_FORMATS[name].observe(facts, withNulls(answer))
    SENT_FORMATS[name].observe(facts, {})
    expect(facts).toMatchObject(expected)
  })

  it.each([-5, 1.5, 2 ** 60, '7', true, [], {}])('ignores counts that are %j', (count) => {
    const facts = emptyFacts('p')
    SENT_FORMATS[name].observe(facts, withCounts(answer, count))
    expect(Object.values({ ...facts, kinds: undefined }).filter((one) => typeof one === 'number')).toEqual([])
    expect(Object.values(facts.kinds ?? {}).filter((one) => one !== undefined)).toEqual([])
    SENT_FORMATS[name].observe(facts, answer)
    SENT_FORMATS[name].observe(facts, withCounts(answer, count))
    expect(facts).toMatchObject(expected)
  })
})

function withCounts(value: JsonObject, count: unknown): JsonObject {
  const entries = Object.entries(value).map(([key, one]) => [
    key,
    typeof one === 'object' ? withCounts(Object(one), count) : count,
  ])
  return Object.fromEntries(entries)
}

function withNulls(value: JsonObject): JsonObject {
  const entries = Object.entries(value).map(([key, one]) => [
    key,
    typeof one === 'object' ? withNulls(Object(one)) : null,
  ])
  return Object.fromEntries(entries)
}

const count = fc.option(fc.nat({ max: 1000 }), { nil: undefined })
const kinds = fc.record({
  inputText: count,
  inputImage: count,
  inputAudio: count,
  outputText: count,
  outputImage: count,
  outputAudio: count,
})
const report: fc.Arbitrary<UsageReport> = fc.record({
  input: count,
  isCacheApart: fc.constant(true),
  cacheRead: count,
  cacheWrite: count,
  output: count,
  reasoning: count,
  total: count,
  kinds: fc.option(kinds, { nil: undefined }),
})

it('never forgets a count, and is the same for one report and for its parts', () => {
  fc.assert(
    fc.property(report, report, (first, second) => {
      const usage = noUsage()
      addReport(usage, first)
      const known = present(canonicalUsage(usage))
      addReport(usage, second)
      expect(Object.keys(present(canonicalUsage(usage)))).toEqual(expect.arrayContaining(Object.keys(known)))
      const whole = { ...first, ...present(second), kinds: { ...first.kinds, ...present(second.kinds ?? {}) } }
      expect(canonicalUsage(usage)).toEqual(reportedUsage(whole as UsageReport))
    }),
    { numRuns: runs(500) },
  )
})

function present(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
}
