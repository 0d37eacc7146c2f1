// Bodies that have arrived as a whole, as most small ones: read at once, without a promise.
import type { StreamBody } from './body.ts'
import { IncomingBody } from './incoming-body.ts'

/** A string has no characters beyond ASCII. undefined: it has not arrived, or is too large; it can still be read. */
export function arrivedBody(body: StreamBody, bytesMax: number): Buffer | string | undefined {
  return body instanceof IncomingBody ? body.takeArrived(bytesMax) : undefined
}

/** Longer texts are sent as bytes, in parts: a slow reader then holds little of them in memory. */
export const TEXT_BYTES_MAX = 65_536

/** Text to send. A short one stays a string, which leaves in one write together with its head. */
export function textBody(text: string): Buffer | string {
  return text.length > TEXT_BYTES_MAX ? Buffer.from(text) : text
}
