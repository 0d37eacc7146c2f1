// Messages as a part of translations.
import type { ChatFormat } from '../../canonical/format.ts'
import { decodeAnswer, encodeAnswer } from './answer.ts'
import { decodeRequest } from './decode-request.ts'
import { MessagesDecoder } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { MessagesEncoder } from './encode-stream.ts'
import { decodeError, encodeError } from './error.ts'

export const messagesChat: ChatFormat = {
  hasImages: false,
  decodeRequest,
  encodeRequest,
  decodeAnswer,
  encodeAnswer,
  decodeStream: () => new MessagesDecoder(),
  encodeStream: () => new MessagesEncoder(),
  decodeError,
  encodeError,
}
