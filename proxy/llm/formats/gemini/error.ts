// Errors of Google (data-plane supplement section 3.9).
import type { FailureText } from '../../../exchange/slots.ts'
import type { ErrorKind, ModelError } from '../../canonical/answer.ts'
import { asObject, asString, type JsonObject } from '../../json.ts'
import { kindOfStatus } from '../error-kind.ts'

const KINDS: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['INVALID_ARGUMENT', 'invalidRequest'],
  ['FAILED_PRECONDITION', 'invalidRequest'],
  ['NOT_FOUND', 'notFound'],
  ['PERMISSION_DENIED', 'authentication'],
  ['UNAUTHENTICATED', 'authentication'],
  ['RESOURCE_EXHAUSTED', 'rateLimit'],
])

/** The name of the status decides, where there is one. */
export function decodeError(body: JsonObject, status: number | undefined): ModelError | undefined {
  const error = asObject(body['error'])
  const message = asString(error['message'])
  if (message === undefined) return undefined
  const name = asString(error['status'])
  const kind = name === undefined ? kindOfStatus(status) : KINDS.get(name)
  return { kind: kind ?? 'api', message, vendorType: undefined, vendorCode: name }
}

const ERRORS: { readonly [K in ErrorKind]: readonly [code: number, name: string] } = {
  invalidRequest: [400, 'INVALID_ARGUMENT'],
  authentication: [401, 'UNAUTHENTICATED'],
  permission: [403, 'PERMISSION_DENIED'],
  notFound: [404, 'NOT_FOUND'],
  requestTooLarge: [413, 'INVALID_ARGUMENT'],
  rateLimit: [429, 'RESOURCE_EXHAUSTED'],
  overloaded: [503, 'UNAVAILABLE'],
  timeout: [504, 'DEADLINE_EXCEEDED'],
  api: [500, 'INTERNAL'],
}

/** `status`: of HTTP; undefined within a stream. */
export function encodeError({ kind, message }: ModelError, status: number | undefined): JsonObject {
  const [code, name] = ERRORS[kind]
  return { error: { code: status ?? code, message, status: name } }
}

export function encodeFailure({ status, text }: FailureText): JsonObject {
  const kind = kindOfStatus(status) ?? 'api'
  return encodeError({ kind, message: text, vendorType: undefined, vendorCode: undefined }, status)
}
