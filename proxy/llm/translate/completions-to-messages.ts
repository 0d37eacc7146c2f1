// Clients with chat completions, and providers with messages.
import { completionsToMessages as toMessagesRequest } from './completions-request.ts'
import { messagesErrorToCompletions, messagesToCompletions } from './completions-response.ts'
import { messagesStreamToCompletions, messageToChunks } from './completions-stream.ts'
import type { Translation } from './translation.ts'

export const completionsToMessages: Translation = {
  to: 'Messages',
  request: toMessagesRequest,
  answer: messagesToCompletions,
  error: messagesErrorToCompletions,
  stream: messagesStreamToCompletions,
  answerAsStream: messageToChunks,
}
