// Token counts of clients of Anthropic for Gemini and for Claude on Amazon Bedrock: the request is translated as a chat
// and counted instead of answered.
import type { TranslationNotes } from '../../canonical/format.ts'
import { asCount, type JsonObject } from '../../json.ts'
import { converseChat } from '../converse/chat.ts'
import { decodeError as decodeAwsError } from '../converse/error.ts'
import { observeCount } from '../count.ts'
import { defined } from '../fields.ts'
import { geminiChat } from '../gemini/chat.ts'
import { decodeError as decodeGoogleError } from '../gemini/error.ts'
import { messagesChat } from '../messages/chat.ts'
import { type PlainFormat, plainFormat, type PlainTranslator } from './plain.ts'

/** Of the API of Gemini; that of Vertex AI has the same fields on the first level. */
export const geminiCountTokens: PlainTranslator = {
  request(body, notes) {
    const { contents, systemInstruction, tools } = geminiChat.encodeRequest(chatOf(body, notes), notes)
    return defined({ contents, systemInstruction, tools })
  },
  answer: ({ totalTokens }) => counted(totalTokens),
  decodeError: decodeGoogleError,
}

export const bedrockCountTokens: PlainFormat = {
  sent: { ...plainFormat('BedrockCountTokens', { path: '/count-tokens' }), observe: observeCount('inputTokens') },
  request(body, notes) {
    const { messages, system, toolConfig } = converseChat.encodeRequest(chatOf(body, notes), notes)
    return { input: { converse: defined({ messages, system, toolConfig }) } }
  },
  answer: ({ inputTokens }) => counted(inputTokens),
  decodeError: decodeAwsError,
}

const chatOf = (body: JsonObject, notes: TranslationNotes) => messagesChat.decodeRequest(body, notes)

function counted(count: unknown): JsonObject | undefined {
  const tokens = asCount(count)
  return tokens === undefined ? undefined : { input_tokens: tokens }
}
