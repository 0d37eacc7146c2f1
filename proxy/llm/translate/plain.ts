// Translations of requests that are not chats. They never stream.
import type { ModelError } from '../canonical/answer.ts'
import type { Format } from '../formats/format.ts'
import { encodeError as encodeAnthropicError } from '../formats/messages/error.ts'
import { encodeError as encodeOpenAiError } from '../formats/openai-error.ts'
import { PLAIN, type PlainTarget } from '../formats/plain/table.ts'
import type { JsonObject } from '../json.ts'
import type { Translation } from './translation.ts'

export function plainTranslation(to: PlainTarget, client: Format): Translation {
  const format = PLAIN[to]
  return {
    to,
    keepsRequest: true,
    request: (body, notes) => format.request(body, notes),
    answer: (body, _createdSeconds, source) =>
      format.answer(body, {
        id: source?.id,
        model: source?.model ?? '',
        asked: source?.asked ?? {},
        inputTokens: source?.inputTokens,
      }),
    error(body, status) {
      const error = format.decodeError(body, status)
      return error && encodeErrorFor(client, error)
    },
    stream: () => ({ event: () => '', end: () => client.errorEvent(NO_STREAM), isFailed: true }),
    answerAsStream: () => client.errorEvent(NO_STREAM),
  }
}

const NO_STREAM = 'the provider returned a stream in place of a response'

function encodeErrorFor({ name }: Format, error: ModelError): JsonObject {
  return name === 'AnthropicTokenCount' ? encodeAnthropicError(error) : encodeOpenAiError(error)
}
