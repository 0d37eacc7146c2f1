import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import { notesIn, translationOf } from '../translate/translate.testing.ts'
import { traitsOf } from './table.ts'

describe('the traits of', () => {
  it.each([
    ['claude-instant-1.2', 'Claude', 'None', 4096],
    ['anthropic.claude-v2:1', 'Claude', 'None', 4096],
    ['claude-3-haiku-20240307', 'Claude', 'None', 4096],
    ['claude-3-5-sonnet-20241022', 'Claude', 'None', 8192],
    ['us.anthropic.claude-3-7-sonnet-20250219-v1:0', 'Claude', 'Budget', 64_000],
    ['claude-opus-4-20250514', 'Claude', 'Budget', 32_000],
    ['claude-opus-4-1@20250805', 'Claude', 'Budget', 32_000],
    ['claude-sonnet-4@20250514', 'Claude', 'Budget', 64_000],
    ['claude-haiku-4-5-20251001', 'Claude', 'Budget', 64_000],
    ['anthropic/claude-sonnet-4.6', 'Claude', 'Budget', 64_000],
    ['global.anthropic.claude-opus-4-7-v1:0', 'Claude', 'Adaptive', 128_000],
    ['claude-opus-4-8', 'Claude', 'Adaptive', 128_000],
    ['claude-mythos-preview', 'Claude', 'Adaptive', 128_000],
    ['claude-fable-5-2', 'Claude', 'Adaptive', 128_000],
    ['claude-sonnet-5', 'Claude', 'Adaptive', 128_000],
    ['claude-latest', 'Claude', 'Budget', undefined],
    ['gemini-1.5-pro', 'Gemini', 'None', undefined],
    ['gemma-3-27b-it', 'Gemini', 'None', undefined],
    ['publishers/google/models/gemini-2.5-pro', 'Gemini', 'Budget', undefined],
    ['models/gemini-3.1-pro', 'Gemini', 'Level', undefined],
    ['gemini-10-flash', 'Gemini', 'Level', undefined],
    ['eu.amazon.nova-pro-v1:0', 'Nova', 'None', undefined],
    ['arn:aws:bedrock:us-east-1:1:application-inference-profile/abc', 'Other', 'None', undefined],
    ['notclaude-opus-5', 'Other', 'Budget', undefined],
  ] as const)('%s', (model, family, thinking, maxOutputTokens) => {
    expect(traitsOf(model)).toMatchObject({ family, thinking, maxOutputTokens })
  })
})

const CHAT = { messages: [{ role: 'user', content: 'hi' }] }

describe('a chat completion for a model that decides how much it thinks', () => {
  const sent = (fields: JsonObject) => {
    const dropped: string[] = []
    const body = { model: 'claude-opus-5', ...CHAT, ...fields }
    return { request: translationOf('Completions', 'Messages').request(body, notesIn(dropped)), dropped }
  }

  it.each([
    ['minimal', 'low'],
    ['medium', 'medium'],
    ['xhigh', 'xhigh'],
  ])('has the effort %s as %s, and room for thoughts', (effort, expected) => {
    expect(sent({ reasoning_effort: effort }).request).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: expected },
      max_tokens: 4096 + 16_384,
    })
  })

  it('has a budget as the effort that is nearest below', () => {
    const { request } = sent({ thinking_budget_tokens: 5000 })
    expect(request['output_config']).toEqual({ effort: 'high' })
  })

  it('has no sampling parameters, with a note', () => {
    const { request, dropped } = sent({ temperature: 0.3, top_p: 0.5 })
    expect(request).not.toHaveProperty('temperature')
    expect(dropped).toEqual(['temperature: the model rejects it', 'top_p: the model rejects it'])
  })

  it('does not exceed the limit of the model', () => {
    expect(sent({ max_tokens: 200_000 })).toMatchObject({
      request: { max_tokens: 128_000 },
      dropped: ['max_tokens: the part over 128000, the maximum of the model'],
    })
  })
})

it('a schema is rejected for a model without structured output', () => {
  const schema = { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } }
  const body = { model: 'claude-3-5-haiku-latest', ...CHAT, response_format: schema }
  expect(() => translationOf('Completions', 'Messages').request(body, notesIn([]))).toThrow(
    'response_format json_schema with this model is not supported by this provider',
  )
})

it('the Converse API gets thinking and effort of Claude in their fields', () => {
  const body = { model: 'us.anthropic.claude-opus-4-7-v1:0', ...CHAT, reasoning_effort: 'low' }
  expect(translationOf('Completions', 'Converse').request(body, notesIn([]))).toMatchObject({
    additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'summarized' } },
    outputConfig: { effort: 'low' },
  })
})
