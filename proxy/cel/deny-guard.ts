// Keeps expressions of Deny rules from reading a body that they cannot read as the backend does: such a read fails.
import { CelError } from '#api/cel/expression.ts'
import type { DenyGuard } from '../exchange/slots.ts'
import type { HttpRequest } from '../message/message.ts'

/** The error of reading a body that a Deny rule cannot see as the backend does. */
export class UnreadableBody extends CelError {}

const UNREADABLE = unreadable('the body is larger than maxBufferSize')
const ENCODED = unreadable('the body is compressed')

/** Called when an expression of a Deny rule reads the body. @throws when it cannot be read */
export function readBody(guard: DenyGuard, request: HttpRequest): void {
  guard.hasReadBody = true
  if (request.body === undefined) return
  if (isEncoded(request)) throw ENCODED
  if (!Buffer.isBuffer(request.body)) throw UNREADABLE
}

/** Like `readBody`, for the beginning of a body of any length. */
export function readBodyPrefix(guard: DenyGuard, request: HttpRequest): void {
  guard.hasReadBody = true
  if (request.body !== undefined && isEncoded(request)) throw ENCODED
}

/** Expressions see the body as it was sent: it is not decoded for them. */
function isEncoded({ headers, body }: HttpRequest): boolean {
  if (Buffer.isBuffer(body) && body.length === 0) return false
  // A backend may use any one of several fields.
  return ['content-encoding', 'grpc-encoding'].some((name) =>
    headers.getAll(name).some((coding) => coding !== '' && coding.toLowerCase() !== 'identity'),
  )
}

function unreadable(message: string): UnreadableBody {
  const error = new UnreadableBody(message)
  error.stack = message
  return error
}
