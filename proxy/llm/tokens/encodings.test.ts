import { modelToEncodingMap } from 'gpt-tokenizer/mapping'
import { describe, expect, it } from 'vitest'
import { encodingOf } from './encodings.ts'

describe('the encoding of a model', () => {
  it.each([
    ['gpt-4o-mini-2024-07-18', 'o200k_base'],
    ['ft:gpt-4o-2024-08-06:org::id', 'o200k_base'],
    ['gpt-5.2-codex', 'o200k_base'],
    ['gpt-oss:120b', 'o200k_base'],
    ['o3-mini', 'o200k_base'],
    ['gpt-4-turbo', 'cl100k_base'],
    ['gpt-4-0613', 'cl100k_base'],
    ['claude-opus-4-6', 'cl100k_base'],
    ['llama3', 'cl100k_base'],
    ['o3x', 'cl100k_base'],
    ['text-davinci-003', undefined],
    ['davinci', undefined],
    ['davinci-002', 'cl100k_base'],
  ])('%s: %s', (model, encoding) => {
    expect(encodingOf(model)).toBe(encoding)
  })

  it('is that of the library for each model with a known one', () => {
    const differing = Object.entries(modelToEncodingMap).filter(([model, encoding]) => {
      const own = encodingOf(model)
      const known = encoding === 'o200k_harmony' ? 'o200k_base' : encoding
      return own !== (known === 'o200k_base' || known === 'cl100k_base' ? known : undefined)
    })
    expect(differing).toEqual([])
  })
})
