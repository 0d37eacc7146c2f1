// Errors of the formats of OpenAI (data-plane supplement section 3.9).
import type { FailureText } from '../../exchange/slots.ts'
import type { ErrorKind, ModelError } from '../canonical/answer.ts'
import { asNumber, asObject, asString, type JsonObject } from '../json.ts'
import { kindOfStatus } from './error-kind.ts'

const TYPES: { readonly [K in ErrorKind]: string } = {
  invalidRequest: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  notFound: 'not_found_error',
  requestTooLarge: 'invalid_request_error',
  rateLimit: 'rate_limit_error',
  overloaded: 'server_error',
  timeout: 'timeout_error',
  api: 'api_error',
}

const KINDS: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['invalid_request_error', 'invalidRequest'],
  ['authentication_error', 'authentication'],
  ['permission_error', 'permission'],
  ['not_found_error', 'notFound'],
  ['rate_limit_error', 'rateLimit'],
  ['rate_limit_exceeded', 'rateLimit'],
  ['insufficient_quota', 'rateLimit'],
  ['tokens', 'rateLimit'],
  ['requests', 'rateLimit'],
  ['timeout_error', 'timeout'],
])

/**
 * The status decides, where there is one: providers with this format spell types in many ways. Within a stream some of
 * them have it as the code.
 */
export function decodeError(body: JsonObject, status: number | undefined): ModelError | undefined {
  const { error } = body
  const { message, type, code } = asObject(error)
  const text = asString(message) ?? asString(error)
  if (text === undefined) return undefined
  const vendorType = asString(type)
  const vendorCode = typeof code === 'number' ? String(code) : asString(code)
  const kind = KINDS.get(vendorType ?? '') ?? KINDS.get(vendorCode ?? '') ?? kindOfStatus(asNumber(code))
  return { kind: kindOfStatus(status) ?? kind ?? 'api', message: text, vendorType, vendorCode }
}

/** Errors of models that the gateway reports have one type and a code (data-plane supplement section 3.10). */
export function encodeFailure({ status, text, apiCode }: FailureText): JsonObject {
  const vendorType = apiCode === undefined ? undefined : TYPES.invalidRequest
  return encodeError({ kind: kindOfStatus(status) ?? 'api', message: text, vendorType, vendorCode: apiCode })
}

export function encodeError({ kind, message, vendorType, vendorCode }: ModelError): JsonObject {
  return { error: { message, type: vendorType ?? TYPES[kind], param: null, code: vendorCode ?? null } }
}
