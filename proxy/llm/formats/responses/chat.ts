// Responses as a part of translations.
import type { ChatFormat } from '../../canonical/format.ts'
import { decodeError, encodeError } from '../openai-error.ts'
import { decodeAnswer } from './decode-answer.ts'
import { decodeRequest } from './decode-request.ts'
import { ResponsesDecoder } from './decode-stream.ts'
import { encodeAnswer } from './encode-answer.ts'
import { encodeRequest } from './encode-request.ts'
import { ResponsesEncoder } from './encode-stream.ts'

export const responsesChat: ChatFormat = {
  hasImages: true,
  decodeRequest,
  encodeRequest,
  decodeAnswer,
  encodeAnswer,
  decodeStream: () => new ResponsesDecoder(),
  encodeStream: (context) => new ResponsesEncoder(context),
  decodeError,
  encodeError,
}
