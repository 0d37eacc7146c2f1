import { describe, expect, it } from 'vitest'
import { paramsOf } from './params.ts'

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
