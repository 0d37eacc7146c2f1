// Copies of the start of bodies for expressions that run after the bodies were forwarded, up to a limit. Only for
// listeners and routes with an expression that reads a body.
import type { RecordedBodies } from '../exchange/slots.ts'
import type { OutgoingBody } from '../message/body.ts'
import { BodyRecorder, recordBody } from './recorded-body.ts'

export class BodyCopies implements RecordedBodies {
  request: Buffer | undefined = undefined
  response: Buffer | undefined = undefined
  readonly #recorders: BodyRecorder[] = []

  /** Copies the body while it is forwarded. @returns the body to use in its place. */
  record(side: 'request' | 'response', body: OutgoingBody, bytesMax: number): OutgoingBody {
    const recorder = new BodyRecorder(bytesMax, ({ bytes }) => {
      this[side] = bytes
    })
    this.#recorders.push(recorder)
    return recordBody(body, recorder)
  }

  /** No bytes follow. */
  over(): void {
    for (const recorder of this.#recorders) recorder.over()
  }
}
