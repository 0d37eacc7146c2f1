// Errors of the messages format (data-plane supplement section 3.9).
import type { FailureText } from '../../../exchange/slots.ts'
import type { ErrorKind, ModelError } from '../../canonical/answer.ts'
import { asObject, asString, type JsonObject } from '../../json.ts'
import { kindOfStatus } from '../error-kind.ts'

const TYPES: { readonly [K in ErrorKind]: string } = {
  invalidRequest: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'authentication_error',
  notFound: 'not_found_error',
  requestTooLarge: 'request_too_large',
  rateLimit: 'rate_limit_error',
  overloaded: 'overloaded_error',
  timeout: 'api_error',
  api: 'api_error',
}

const KINDS: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['invalid_request_error', 'invalidRequest'],
  ['authentication_error', 'authentication'],
  ['permission_error', 'permission'],
  ['not_found_error', 'notFound'],
  ['request_too_large', 'requestTooLarge'],
  ['rate_limit_error', 'rateLimit'],
  ['overloaded_error', 'overloaded'],
  ['timeout_error', 'timeout'],
  ['api_error', 'api'],
])

export function decodeError(body: JsonObject, status: number | undefined): ModelError | undefined {
  const { message, type } = asObject(body['error'])
  if (typeof message !== 'string') return undefined
  const vendorType = asString(type)
  const kind = KINDS.get(vendorType ?? '') ?? kindOfStatus(status) ?? 'api'
  return { kind, message, vendorType, vendorCode: undefined }
}

export function encodeFailure({ status, text }: FailureText): JsonObject {
  const kind = kindOfStatus(status) ?? 'api'
  return encodeError({ kind, message: text, vendorType: undefined, vendorCode: undefined })
}

/** A type of another vendor stays if this format has it too. */
export function encodeError({ kind, message, vendorType }: ModelError): JsonObject {
  const type = vendorType !== undefined && KINDS.has(vendorType) ? vendorType : TYPES[kind]
  return { type: 'error', error: { type, message } }
}
