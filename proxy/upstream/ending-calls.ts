// Calls that end with a signal. Requests of a connection share its signal, so it has one listener for all its calls.
import type { SendCall } from './call.ts'

const bySignal = new WeakMap<AbortSignal, Set<SendCall>>()

/** The running calls of a signal that is not aborted: each adds and removes itself. */
export function callsEndingWith(signal: AbortSignal): Set<SendCall> {
  const known = bySignal.get(signal)
  if (known !== undefined) return known
  const calls = new Set<SendCall>()
  bySignal.set(signal, calls)
  signal.addEventListener('abort', () => calls.forEach((call) => call.abort()), { once: true })
  return calls
}
