// Exceptions that only a bug of the proxy can cause. Only the affected request fails; the cause is counted, and logged
// with its stack. Clients get an internal failure without the cause.
import { BodyAborted } from '../message/body.ts'
import type { Exchange } from './exchange.ts'
import type { HttpResponse } from '../message/message.ts'

/** For one thread. */
class Defects {
  count = 0
  /** Set by a thread that has a log. Must not throw. */
  onReport: ((place: string, error: unknown) => void) | undefined = undefined

  report(place: string, error: unknown): void {
    this.count++
    this.onReport?.(place, error)
  }
}

export const defects = new Defects()

/**
 * Rejects the request because of the bug. `place`: the policy or the part of the proxy. A body that ends early because
 * its peer closed or a deadline passed is not a defect.
 */
export function failByDefect(exchange: Exchange, place: string, error: unknown): HttpResponse {
  if (!(error instanceof BodyAborted)) defects.report(place, error)
  return exchange.fail('internal', `${place}: ${String(error)}`)
}

/** For code that reads responses of peers: invalid responses are not defects, errors of the language are. */
export function reportIfBug(place: string, error: unknown): void {
  if (BUGS.some((bug) => error instanceof bug)) defects.report(place, error)
}

const BUGS = [TypeError, ReferenceError, RangeError]

/** Calls a function that must not throw and whose result is not needed. */
export function callSafely<T>(place: string, call: (argument: T) => void, argument: T): void {
  try {
    call(argument)
  } catch (error) {
    defects.report(place, error)
  }
}
