// Errors of Google (data-plane supplement section 3.9).
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
