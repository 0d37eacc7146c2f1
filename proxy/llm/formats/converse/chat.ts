// Converse as a part of translations: only providers use it.
import type { ProviderChat } from '../../canonical/format.ts'
import { decodeAnswer } from './answer.ts'
import { ConverseDecoder } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { decodeError } from './error.ts'
import { validName } from '../valid-name.ts'

export const converseChat: ProviderChat = {
  encodeRequest,
  toolName: validName,
  decodeAnswer,
  decodeStream: () => new ConverseDecoder(),
  decodeError,
}
