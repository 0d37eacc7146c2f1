// Errors of Amazon Bedrock: before a stream with a status, within a stream with the name of an exception.
import type { ErrorKind, ModelError } from '../../canonical/answer.ts'
import { asString, type JsonObject } from '../../json.ts'
import { kindOfStatus } from '../error-kind.ts'

const KINDS: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['validationexception', 'invalidRequest'],
  ['accessdeniedexception', 'permission'],
  ['resourcenotfoundexception', 'notFound'],
  ['throttlingexception', 'rateLimit'],
  ['servicequotaexceededexception', 'rateLimit'],
  ['modelnotreadyexception', 'rateLimit'],
  ['serviceunavailableexception', 'overloaded'],
  ['modeltimeoutexception', 'timeout'],
  ['modelerrorexception', 'api'],
  ['modelstreamerrorexception', 'api'],
  ['internalserverexception', 'api'],
])

/** `Message` is the form of services in front of the model. */
export function decodeError(body: JsonObject, status: number | undefined): ModelError | undefined {
  const message = asString(body['message']) ?? asString(body['Message'])
  if (message === undefined) return undefined
  return exception(asString(body['__type']), message, status)
}

/** @param type: such as `throttlingException`, or with a namespace in front. */
export function exception(type: string | undefined, message: string, status: number | undefined): ModelError {
  const name = type?.slice(type.lastIndexOf('#') + 1)
  const kind = KINDS.get(name?.toLowerCase() ?? '') ?? (status === 503 ? 'overloaded' : kindOfStatus(status)) ?? 'api'
  return { kind, message, vendorType: undefined, vendorCode: name }
}
