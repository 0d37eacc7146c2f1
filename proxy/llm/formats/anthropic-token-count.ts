// Counting the tokens of a messages request of Anthropic. No policy changes what is counted (data-plane supplement
// section 3.9).
import { observeCount } from './count.ts'
import type { Format } from './format.ts'
import { encodeError, encodeFailure } from './messages/error.ts'
import { OPENAI } from './openai.ts'

/** The answer never streams. */
export const anthropicTokenCount: Format = {
  ...OPENAI,
  name: 'AnthropicTokenCount',
  path: '/messages/count_tokens',
  observe: observeCount('input_tokens'),
  ownCount: { of: 'Messages', answer: (tokens) => ({ input_tokens: tokens }) },
  failure: encodeFailure,
  error: encodeError,
  recognises: ({ input_tokens: count }) => typeof count === 'number',
}
