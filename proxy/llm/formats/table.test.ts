// The values read from responses in each format.
import { describe, expect, it } from 'vitest'
import type { FormatName } from '#api/llm/formats.ts'
import { HeaderList } from '../../message/headers.ts'
import type { CredentialKind } from '../credential-kind.ts'
import { emptyFacts } from '../usage.ts'
import { FORMATS } from './table.ts'

describe('usage', () => {
  it('of the completions format is counted by kind of content', () => {
    const facts = emptyFacts('openai')
    const input = { cached_tokens: 1, audio_tokens: 2, image_tokens: 3, text_tokens: 4 }
    const output = { reasoning_tokens: 5, audio_tokens: 6, image_tokens: 7, text_tokens: 8 }
    const usage = { prompt_tokens: 10, completion_tokens: 26, prompt_tokens_details: input }
    FORMATS.Completions.observe(facts, { service_tier: 'flex', usage: { ...usage, completion_tokens_details: output } })
    expect(facts).toMatchObject({
      serviceTier: 'flex',
      providerInputTokens: 10,
      providerTotalTokens: undefined,
      totalTokens: 36,
      kinds: { inputText: 4, inputImage: 3, inputAudio: 2, outputText: 8, outputImage: 7, outputAudio: 6 },
    })
  })

  it('without kinds has no such counts', () => {
    const facts = emptyFacts('openai')
    FORMATS.Embeddings.observe(facts, { usage: { prompt_tokens: 3, total_tokens: 3 } })
    expect(facts).toMatchObject({ kinds: undefined, providerTotalTokens: 3, serviceTier: undefined })
  })

  it('of the messages format keeps values that a later event repeats as null', () => {
    const facts = emptyFacts('anthropic')
    FORMATS.Messages.observe(facts, { message: { usage: { input_tokens: 3, cache_read_input_tokens: 4 } } })
    FORMATS.Messages.observe(facts, { usage: { input_tokens: null, cache_read_input_tokens: null, output_tokens: 2 } })
    expect(facts).toMatchObject({ inputTokens: 7, cachedInputTokens: 4, outputTokens: 2, totalTokens: 9 })
    FORMATS.Messages.observe(facts, { usage: { cache_read_input_tokens: 5, output_tokens: 2 } })
    expect(facts).toMatchObject({ inputTokens: 8, providerInputTokens: 3, totalTokens: 10 })
  })

  it('of the messages format: input as counted by the provider, and with the cache', () => {
    const facts = emptyFacts('anthropic')
    const usage = { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 2, service_tier: 'standard' }
    FORMATS.Messages.observe(facts, { usage })
    expect(facts).toMatchObject({ inputTokens: 7, providerInputTokens: 3, totalTokens: 9, serviceTier: 'standard' })
  })
})

describe('usage that few providers report', () => {
  it.each<[FormatName, Record<string, unknown>, Record<string, unknown>]>([
    [
      'Completions',
      { prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 } },
      { inputTokens: 9, cachedInputTokens: 1, cacheCreationInputTokens: 2 },
    ],
    [
      'Responses',
      {
        input_tokens: 9,
        input_tokens_details: { cache_write_tokens: 2 },
        output_tokens_details: { reasoning_tokens: 3 },
      },
      { inputTokens: 9, cacheCreationInputTokens: 2, reasoningTokens: 3 },
    ],
    [
      'Messages',
      { output_tokens: 5, output_tokens_details: { thinking_tokens: 3 } },
      { outputTokens: 5, reasoningTokens: 3 },
    ],
  ])('of %s', (format, usage, expected) => {
    const facts = emptyFacts('p')
    FORMATS[format].observe(facts, { usage })
    FORMATS[format].observe(facts, { usage: { output_tokens_details: null } })
    expect(facts).toMatchObject(expected)
  })
})

describe('header fields of a client whose request is translated', () => {
  it.each<[FormatName, CredentialKind, [string, string][], [string, string][]]>([
    [
      'Messages',
      'Key',
      [
        ['x-api-key', 'k'],
        ['anthropic-version', '1'],
        ['anthropic-beta', 'b'],
        ['x-own', '1'],
      ],
      [
        ['x-own', '1'],
        ['authorization', 'Bearer k'],
      ],
    ],
    [
      'Messages',
      'Key',
      [
        ['x-api-key', 'of the client'],
        ['authorization', 'Bearer p'],
      ],
      [['authorization', 'Bearer p']],
    ],
    ['Messages', 'Placed', [['x-api-key', 'k']], [['x-api-key', 'k']]],
    [
      'Messages',
      'Token',
      [
        ['x-api-key', 'of the client'],
        ['authorization', 'Bearer t'],
      ],
      [['authorization', 'Bearer t']],
    ],
    [
      'GenerateContent',
      'Key',
      [
        ['x-goog-api-key', 'k'],
        ['x-goog-api-client', 'c'],
        ['x-goog-user-project', 'p'],
        ['x-own', '1'],
      ],
      [
        ['x-own', '1'],
        ['authorization', 'Bearer k'],
      ],
    ],
    [
      'GenerateContent',
      'Token',
      [
        ['x-goog-api-key', 'of the client'],
        ['authorization', 'Bearer t'],
      ],
      [['authorization', 'Bearer t']],
    ],
    ['GenerateContent', 'Placed', [['x-goog-api-key', 'k']], [['x-goog-api-key', 'k']]],
    [
      'Completions',
      'Key',
      [
        ['openai-organization', 'o'],
        ['authorization', 'Bearer k'],
      ],
      [['authorization', 'Bearer k']],
    ],
    [
      'Responses',
      'Key',
      [
        ['openai-beta', 'b'],
        ['x-own', '1'],
      ],
      [['x-own', '1']],
    ],
  ])('%s, with a credential of the kind %s', (format, credential, given, expected) => {
    const headers = HeaderList.of(given)
    FORMATS[format].leave(headers, credential)
    expect(headers.fields).toEqual(expected.flat())
  })
})

describe('an event of a stream', () => {
  it.each<[FormatName, Record<string, unknown>, boolean]>([
    ['Completions', { choices: [{ delta: { content: 'a' } }] }, true],
    ['Completions', { choices: [{ delta: { tool_calls: [{}] } }] }, true],
    ['Completions', { choices: [{ delta: { role: 'assistant', content: '' } }] }, false],
    ['Messages', { type: 'content_block_delta' }, true],
    ['Messages', { type: 'message_start' }, false],
    ['Responses', { type: 'response.output_text.delta' }, true],
    ['Responses', { type: 'response.created' }, false],
    ['GenerateContent', { candidates: [{ content: { parts: [{ text: 'a' }] } }] }, true],
    ['GenerateContent', { candidates: [{ content: { parts: [{ text: '' }] } }] }, false],
  ])('of %s %j has content: %s', (format, event, expected) => {
    expect(FORMATS[format].hasContent(event)).toBe(expected)
  })

  it('reports an error in the form of its format', () => {
    expect(FORMATS.Messages.errorEvent('m')).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"m"}}\n\n',
    )
    const openai = 'data: {"error":{"message":"m","type":"api_error","param":null,"code":null}}\n\n'
    expect(FORMATS.Completions.errorEvent('m')).toBe(openai)
    expect(FORMATS.Responses.errorEvent('m')).toBe(openai)
    const google = 'data: {"error":{"code":500,"message":"m","status":"INTERNAL"}}\n\n'
    expect(FORMATS.GenerateContent.errorEvent('m')).toBe(google)
  })
})
