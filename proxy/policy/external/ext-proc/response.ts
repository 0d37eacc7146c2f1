// Sends a response to a processor, for every policy that has one.
import { discardBody } from '../../../http/body-writer.ts'
import type { HttpResponse } from '../../../message/message.ts'
import { type Session, SessionOver } from './session.ts'
import { Side } from './side.ts'
import { responseSubject } from './subject.ts'

/** True: it is forwarded, processed or unchanged. False: the session ended in between, and its body is gone. */
export async function showWhole(session: Session, response: HttpResponse): Promise<boolean> {
  const side = new Side(session, responseSubject(response))
  try {
    await side.run()
    return true
  } catch (error) {
    if (!(error instanceof SessionOver)) throw error
    if (session.isSkipped) {
      side.restore()
      return true
    }
    discardBody(response.body)
    return false
  }
}
