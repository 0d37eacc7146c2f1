// The count of a prompt before its call, for providers with `tokenize`, and its charge to the token limits of the
// request (data-plane supplement sections 3.4, 3.5, 7.5 and 7.6).
import type { SentFormatName } from '#api/llm/formats.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { HttpResponse } from '../../message/message.ts'
import type { JsonObject } from '../json.ts'
import { messagesIn } from '../texts.ts'
import { tokenCounter } from './counters.ts'
import { encodingOf } from './encodings.ts'
import { promptTokens } from './prompt.ts'

export interface Prompt {
  readonly body: JsonObject
  readonly format: SentFormatName
  /** The model that the provider gets. */
  readonly model: string
}

/**
 * Once for a request: a prompt that goes to a second provider is not charged again.
 *
 * @returns the response if a limit has too few tokens left
 */
export async function chargePrompt(
  exchange: Exchange,
  { body, format, model }: Prompt,
): Promise<HttpResponse | undefined> {
  const { llm, tokenLimits = [], connection, trace } = exchange
  if (llm === undefined || llm.promptTokens !== undefined) return undefined
  const messages = messagesIn(body, format)
  if (messages === undefined) return undefined
  const encoding = encodingOf(model)
  if (encoding === undefined) {
    return exchange.failVisibly('llmRequestInvalid', 'the tokens of this model cannot be counted before the request')
  }
  const tokens = await promptTokens(messages, tokenCounter(encoding), connection.signal)
  llm.promptTokens = tokens
  trace?.write({ type: 'policyEvent', kind: 'tokenize', details: `${tokens} tokens of the prompt, in ${encoding}` })
  for (const limit of tokenLimits) {
    const refused = await limit.chargePrompt(exchange, tokens)
    if (refused !== undefined) return refused
  }
  return undefined
}
