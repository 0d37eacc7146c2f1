import { expect, it } from 'vitest'
import { COUNTERS, NEVER } from './counters.testing.ts'
import { promptTokens } from './prompt.ts'

/** The example of the cookbook of OpenAI, "Counting tokens for chat completions API calls". */
const EXAMPLE = [
  'You are a helpful, pattern-following assistant that translates corporate jargon into plain English.',
  'New synergies will help drive top-line growth.',
  'Things working well together will increase revenue.',
  "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
  "Let's talk later when we're less busy about how to do better.",
  "This late pivot means we don't have time to boil the ocean for the client deliverable.",
].map((content) => ({ role: 'system', content }))
/** Names of some messages: they have one token more than their text, and are not counted here. */
const NAMES = ['example_user', 'example_assistant', 'example_user', 'example_assistant']

it.each([
  ['cl100k_base', 129],
  ['o200k_base', 124],
] as const)('the example of OpenAI has its published count in %s, less its names', async (name, published) => {
  const counter = COUNTERS[name]
  const nameTokens = NAMES.length + (await counter.count(NAMES, NEVER))
  expect(await promptTokens(EXAMPLE, counter, NEVER)).toBe(published - nameTokens)
})

it('a prompt without messages has the tokens of the answer', async () => {
  expect(await promptTokens([], COUNTERS.cl100k_base, NEVER)).toBe(3)
})
