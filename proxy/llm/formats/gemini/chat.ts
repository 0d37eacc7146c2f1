// GenerateContent as a part of translations.
import type { ChatFormat } from '../../canonical/format.ts'
import { decodeAnswer, GeminiDecoder } from './decode-answer.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeAnswer, GeminiEncoder } from './encode-answer.ts'
import { encodeRequest } from './encode-request.ts'
import { decodeError, encodeError } from './error.ts'

export const geminiChat: ChatFormat = {
  hasImages: true,
  decodeRequest,
  encodeRequest,
  decodeAnswer,
  encodeAnswer,
  decodeStream: () => new GeminiDecoder(),
  encodeStream: () => new GeminiEncoder(),
  decodeError,
  encodeError,
}
