// The kind of an error by the status of HTTP.
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

/** undefined: no status, as within a stream. */
export function kindOfStatus(status: number | undefined): ErrorKind | undefined {
  if (status === undefined) return undefined
  return KINDS.get(status) ?? 'api'
}
