// Waits for the whole body of a request from a processor.
import type { Exchange } from '../../../exchange/exchange.ts'
import { SessionOver } from './session.ts'

/** A body over the listener's limit is streamed. @throws {SessionOver} if the processor failed in between. */
export async function makeWhole({ request, flow }: Exchange): Promise<void> {
  const { body } = request
  if (body === undefined || Buffer.isBuffer(body)) return
  try {
    const whole = await body.tryCollect(flow?.bodyBytesMax ?? 0)
    if (whole !== undefined) request.body = whole
  } catch {
    // The session has the reason, and is read next.
    throw new SessionOver()
  }
}
