// GenerateContent as a part of translations: the side of the provider.
import type { ProviderChat } from '../../canonical/format.ts'
import { decodeAnswer, GeminiDecoder } from './decode-answer.ts'
import { encodeRequest } from './encode-request.ts'
import { decodeError } from './error.ts'

export const geminiChat: ProviderChat = {
  encodeRequest,
  decodeAnswer,
  decodeStream: () => new GeminiDecoder(),
  decodeError,
}
