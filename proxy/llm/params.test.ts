import { describe, expect, it } from 'vitest'
import { paramsOf } from './params.ts'
import { emptyFacts, observe } from './usage.ts'

describe('paramsOf', () => {
  it.each([
    [
      { temperature: 0, top_p: 1, seed: -1 },
      { temperature: 0, top_p: 1, seed: -1 },
    ],
    [
      { frequency_penalty: 0.5, presence_penalty: -2 },
      { frequency_penalty: 0.5, presence_penalty: -2 },
    ],
    [{ max_tokens: 1 }, { max_tokens: 1 }],
    [{ max_completion_tokens: 2 }, { max_tokens: 2 }],
    [{ max_output_tokens: 3 }, { max_tokens: 3 }],
    [
      { encoding_format: 'base64', dimensions: 8 },
      { encoding_format: 'base64', dimensions: 8 },
    ],
    [{ temperature: '1', seed: null, encoding_format: 7, max_tokens: {} }, undefined],
    [{ model: 'm' }, undefined],
  ])('of %j is %j', (body, params) => {
    expect(paramsOf(body)).toEqual(params)
  })
})

describe('usage', () => {
  it('of the completions format is taken apart by kind of content', () => {
    const facts = emptyFacts('openai')
    const input = { cached_tokens: 1, audio_tokens: 2, image_tokens: 3, text_tokens: 4 }
    const output = { reasoning_tokens: 5, audio_tokens: 6, image_tokens: 7, text_tokens: 8 }
    const usage = { prompt_tokens: 10, completion_tokens: 26, prompt_tokens_details: input }
    observe(facts, 'Completions', { service_tier: 'flex', usage: { ...usage, completion_tokens_details: output } })
    expect(facts).toMatchObject({
      serviceTier: 'flex',
      providerInputTokens: 10,
      providerTotalTokens: undefined,
      totalTokens: 36,
      kinds: { inputText: 4, inputImage: 3, inputAudio: 2, outputText: 8, outputImage: 7, outputAudio: 6 },
    })
  })

  it('without kinds has none', () => {
    const facts = emptyFacts('openai')
    observe(facts, 'Embeddings', { usage: { prompt_tokens: 3, total_tokens: 3 } })
    expect(facts).toMatchObject({ kinds: undefined, providerTotalTokens: 3, serviceTier: undefined })
  })

  it('of the messages format keeps what a later event repeats as null', () => {
    const facts = emptyFacts('anthropic')
    observe(facts, 'Messages', { message: { usage: { input_tokens: 3, cache_read_input_tokens: 4 } } })
    observe(facts, 'Messages', { usage: { input_tokens: null, cache_read_input_tokens: null, output_tokens: 2 } })
    expect(facts).toMatchObject({ inputTokens: 7, cachedInputTokens: 4, outputTokens: 2, totalTokens: 9 })
    observe(facts, 'Messages', { usage: { cache_read_input_tokens: 5, output_tokens: 2 } })
    expect(facts).toMatchObject({ inputTokens: 8, providerInputTokens: 3, totalTokens: 10 })
  })

  it('of the messages format: input as the provider counts it, and with the cache', () => {
    const facts = emptyFacts('anthropic')
    const usage = { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 2, service_tier: 'standard' }
    observe(facts, 'Messages', { usage })
    expect(facts).toMatchObject({ inputTokens: 7, providerInputTokens: 3, totalTokens: 9, serviceTier: 'standard' })
  })
})
