// Waits for all of a request's body that comes back from a processor.
import type { Exchange } from '../../../exchange/exchange.ts'
import { SessionOver } from './session.ts'

/** A body over the listener's limit streams on. @throws {SessionOver} when the processor failed on the way. */
export async function makeWhole({ request, flow }: Exchange): Promise<void> {
  const { body } = request
  if (body === undefined || Buffer.isBuffer(body)) return
  try {
    const whole = await body.tryCollect(flow?.bodyBytesMax ?? 0)
    if (whole !== undefined) request.body = whole
  } catch {
    // The session knows why, and is asked next.
    throw new SessionOver()
  }
}
