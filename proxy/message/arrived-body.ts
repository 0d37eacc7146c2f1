// Bodies that have arrived as a whole, as most small ones: read at once, without a promise.
import type { StreamBody } from './body.ts'
import { IncomingBody } from './incoming-body.ts'

// oxlint-disable-next-line no-control-regex -- the characters of ASCII
const ASCII = /^[\x00-\x7f]*$/

/** A string has no characters beyond ASCII. undefined: it has not arrived, or is too large; it can still be read. */
export function arrivedBody(body: StreamBody, bytesMax: number): Buffer | string | undefined {
  const latin1 = body instanceof IncomingBody ? body.takeWhole(bytesMax) : undefined
  return latin1 === undefined || ASCII.test(latin1) ? latin1 : Buffer.from(latin1, 'latin1')
}
