// The kind of an error by the status of HTTP, and the status by the kind.
import type { ErrorKind } from '../canonical/answer.ts'

const KINDS: ReadonlyMap<number, ErrorKind> = new Map<number, ErrorKind>([
  [400, 'invalidRequest'],
  [401, 'authentication'],
  [403, 'permission'],
  [404, 'notFound'],
  [408, 'timeout'],
  [413, 'requestTooLarge'],
  [415, 'invalidRequest'],
  [422, 'invalidRequest'],
  [429, 'rateLimit'],
  [504, 'timeout'],
  [529, 'overloaded'],
])

const STATUSES: { readonly [K in ErrorKind]: number } = {
  invalidRequest: 400,
  authentication: 401,
  permission: 403,
  notFound: 404,
  requestTooLarge: 413,
  rateLimit: 429,
  overloaded: 529,
  timeout: 504,
  api: 500,
}

/** For an error within a stream, whose status is 200. */
export function statusOfKind(kind: ErrorKind): number {
  return STATUSES[kind]
}

/** undefined: no status, as within a stream. */
export function kindOfStatus(status: number | undefined): ErrorKind | undefined {
  if (status === undefined) return undefined
  return KINDS.get(status) ?? 'api'
}
