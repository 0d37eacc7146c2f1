// Aliases of models, and messages that a policy adds.
import { describe, expect, it } from 'vitest'
import type { AIPolicy } from '#api/ir/types.gen.ts'
import type { FormatName } from '#api/llm/formats.ts'
import { expression } from '../policy/exchange.testing.ts'
import { compileEdits } from './edits.ts'
import { FORMATS } from './formats/table.ts'

describe('model aliases', () => {
  const aliases = {
    'gpt-4': 'exact',
    'gpt-*': 'prefix',
    '*-latest': 'suffix',
    '*turbo*': 'two',
    'a*b*c': 'three',
    '*': 'any',
  }
  it.each([
    ['gpt-4', 'exact'],
    ['gpt-5', 'prefix'],
    ['x-latest', 'suffix'],
    ['gpt-latest', 'suffix'],
    ['my-turbo-16k', 'two'],
    ['turbo', 'two'],
    ['abc', 'three'],
    ['a-b-b-c', 'three'],
    ['ac', 'any'],
    ['acb', 'any'],
    ['', 'any'],
  ])('%s is %s', (model, expected) => {
    expect(compileEdits({ modelAliases: aliases }, expression).alias(model)).toBe(expected)
  })

  it.each([
    [{ 'ab*ba': 'x' }, 'aba'],
    [{ '*a*a': 'x' }, 'a'],
    [{ 'b*': 'x' }, 'a'],
  ])('%j does not match %s', (modelAliases, model) => {
    expect(compileEdits({ modelAliases }, expression).alias(model)).toBe(model)
  })

  it('matches patterns like a regular expression', () => {
    // As a regular expression reads it; short texts of two letters meet every case.
    const words = ['', 'a', 'b', 'ab', 'ba', 'aab', 'aba', 'abab', 'bbaa']
    for (const pattern of ['*', 'a*', '*a', 'a*a', '*a*', 'a**b', '*a*b*', 'a*b*a', '**']) {
      const regex = new RegExp(`^${pattern.replaceAll('*', '.*')}$`)
      for (const word of words) {
        const alias = compileEdits({ modelAliases: { [pattern]: 'yes' } }, expression).alias(word)
        expect(alias === 'yes', `${pattern} and ${word}`).toBe(regex.test(word))
      }
    }
  })
})

describe('prompts', () => {
  const prompt: AIPolicy['prompt'] = {
    prepend: [{ role: 'system', content: 'first' }],
    append: [{ role: 'user', content: 'last' }],
  }
  const first = { role: 'system', content: 'first' }
  const last = { role: 'user', content: 'last' }
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }

  it.each<[FormatName, Record<string, unknown>, Record<string, unknown>]>([
    ['Completions', { messages: [item] }, { messages: [first, item, last] }],
    ['Responses', { input: 'hi' }, { input: [first, { role: 'user', content: 'hi' }, last] }],
    ['Responses', { input: [item], instructions: 'x' }, { input: [first, item, last], instructions: 'x' }],
    ['Responses', {}, { input: [first, last] }],
    ['Messages', { messages: [item] }, { system: 'first', messages: [item, last] }],
    [
      'GenerateContent',
      { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
      {
        systemInstruction: { parts: [{ text: 'first' }] },
        contents: [
          { role: 'user', parts: [{ text: 'hi' }] },
          { role: 'user', parts: [{ text: 'last' }] },
        ],
      },
    ],
    [
      'GenerateContent',
      { system_instruction: { parts: { text: 'own' } }, contents: { parts: [{ text: 'hi' }] } },
      {
        system_instruction: { parts: [{ text: 'first' }, { text: 'own' }] },
        contents: [{ parts: [{ text: 'hi' }] }, { role: 'user', parts: [{ text: 'last' }] }],
      },
    ],
    ['GeminiCountTokens', { contents: [] }, { contents: [] }],
    ['Embeddings', { input: 'hi' }, { input: 'hi' }],
    ['AnthropicTokenCount', { messages: [item] }, { messages: [item] }],
  ])('are added to %s %j', (format, body, expected) => {
    compileEdits({ prompt }, expression).enrich(body, FORMATS[format])
    expect(body).toEqual(expected)
  })
})
