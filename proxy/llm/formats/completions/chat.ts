// Chat completions as a part of translations.
import type { ChatFormat } from '../../canonical/format.ts'
import { decodeAnswer, encodeAnswer } from './answer.ts'
import { decodeRequest } from './decode-request.ts'
import { CompletionsDecoder } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { CompletionsEncoder } from './encode-stream.ts'
import { decodeError, encodeError } from '../openai-error.ts'

export const completionsChat: ChatFormat = {
  hasImages: true,
  decodeRequest,
  encodeRequest,
  decodeAnswer,
  encodeAnswer,
  decodeStream: () => new CompletionsDecoder(),
  encodeStream: (context) => new CompletionsEncoder(context),
  decodeError,
  encodeError,
}
