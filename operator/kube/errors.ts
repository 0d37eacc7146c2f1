// All errors between the operator and the API server. Fields, not sentences.
import { Data } from 'effect'

/** No response: the connection failed, or the deadline passed. */
export class KubeUnreachable extends Data.TaggedError('KubeUnreachable')<{
  readonly method: string
  readonly path: string
  readonly cause: unknown
}> {}

/** The server rejected the request. */
export class KubeRefused extends Data.TaggedError('KubeRefused')<{
  readonly method: string
  readonly path: string
  readonly status: number
  readonly reason: string
  readonly message: string
  /** The time to wait that the server requests. */
  readonly retryAfterMs: number | undefined
}> {}

/** Another client has written the object first (409). */
export class KubeConflict extends Data.TaggedError('KubeConflict')<{
  readonly path: string
  readonly reason: string
  readonly message: string
}> {}

/** No such object, or no such kind (404). */
export class KubeNotFound extends Data.TaggedError('KubeNotFound')<{ readonly path: string }> {}

/** The version to watch from is no longer known (410): a new list is needed. */
export class KubeExpired extends Data.TaggedError('KubeExpired')<{ readonly path: string }> {}

export type KubeError = KubeUnreachable | KubeRefused | KubeConflict | KubeNotFound | KubeExpired

/** For log lines: what happened, without bodies, which may hold secrets. */
export function describeKubeError(error: KubeError): string {
  if (error._tag === 'KubeUnreachable') return `${error.method} ${error.path}: ${textOf(error.cause)}`
  if (error._tag === 'KubeRefused') return `${error.method} ${error.path}: ${error.status} ${error.message}`
  if (error._tag === 'KubeConflict') return `${error.path}: ${error.reason}: ${error.message}`
  return `${error.path}: ${error._tag === 'KubeNotFound' ? 'not found' : 'the resource version has expired'}`
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
