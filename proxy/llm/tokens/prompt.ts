// The tokens of a prompt (data-plane supplement section 3.5): 4 for each message beside its text, and 3 for the answer.
import type { LlmMessage } from '../../exchange/facts.ts'
import type { TokenCounter } from './count.ts'

const MESSAGE_TOKENS = 4
const ANSWER_TOKENS = 3

/** Tools, images and names are not counted. Ends early, with a lower count, if aborted. */
export async function promptTokens(
  messages: readonly LlmMessage[],
  counter: TokenCounter,
  signal: AbortSignal,
): Promise<number> {
  const texts = messages.map(({ content }) => content)
  return messages.length * MESSAGE_TOKENS + (await counter.count(texts, signal)) + ANSWER_TOKENS
}
