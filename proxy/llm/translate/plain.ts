// Translations of requests that are not chats. They never stream.
import type { Format } from '../formats/format.ts'
import { plainError } from '../formats/plain-error.ts'
import { PLAIN, type PlainTarget } from '../formats/plain/table.ts'
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
      const error = format.decodeError(body, status) ?? plainError(body, status)
      return error && client.error(error, status)
    },
    stream: () => ({ event: () => '', end: () => client.errorEvent(NO_STREAM), isFailed: true, isComplete: false }),
    answerAsStream: () => client.errorEvent(NO_STREAM),
  }
}

const NO_STREAM = 'the provider returned a stream in place of a response'
