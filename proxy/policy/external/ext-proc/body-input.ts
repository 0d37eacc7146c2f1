// Reads a body chunk by chunk, for a processor that may fail before it gets any: unread chunks remain available for
// another reader. Does not depend on a processor.
import { messageOf } from '../../../exchange/diagnosis.ts'
import type { OutgoingBody } from '../../../message/body.ts'
import { discardBody } from '../../../http/body-writer.ts'
import { IncomingBody } from '../../../message/incoming-body.ts'

/** Limit of one message to the processor. */
const PIECE_BYTES_MAX = 65_536

/** The sender of the body disconnected or broke the framing. */
export class SourceBroken extends Error {}

export class BodyInput {
  readonly #body: NonNullable<OutgoingBody>
  #iterator: AsyncIterator<Buffer> | undefined = undefined
  #ahead: Buffer | undefined = undefined
  #pending: Promise<boolean> | undefined = undefined
  #giveUp: (() => void) | undefined = undefined
  #isEnded = false
  #isStarted = false

  constructor(body: NonNullable<OutgoingBody>) {
    this.#body = body
  }

  /** False: the body can be forwarded unchanged. */
  get isStarted(): boolean {
    return this.#isStarted
  }

  /** Nothing more will arrive; false may mean that it is unknown yet. */
  get isAtEnd(): boolean {
    return this.#isEnded && this.#ahead === undefined
  }

  /**
   * True: there may be something to `take`. False: the body has ended.
   * @throws {SourceBroken}
   */
  ready(): Promise<boolean> {
    if (!this.#isStarted) this.#start()
    if (this.#ahead !== undefined) return Promise.resolve(true)
    if (this.#isEnded) return Promise.resolve(false)
    return (this.#pending ??= this.#pull())
  }

  /** undefined: another reader was faster. */
  take(): Buffer | undefined {
    const ahead = this.#ahead
    if (ahead === undefined) return undefined
    this.#ahead = ahead.length > PIECE_BYTES_MAX ? ahead.subarray(PIECE_BYTES_MAX) : undefined
    return ahead.subarray(0, PIECE_BYTES_MAX)
  }

  /** Returns bytes that were taken. */
  unread(bytes: Buffer): void {
    if (bytes.length > 0) this.#ahead = this.#ahead === undefined ? bytes : Buffer.concat([bytes, this.#ahead])
  }

  /** All bytes up to its end, or at least `bytesMax + 1` of them. */
  async readOver(bytesMax: number): Promise<Buffer> {
    const chunks: Buffer[] = []
    let bytes = 0
    while (bytes <= bytesMax && (await this.ready())) {
      const chunk = this.take()
      if (chunk === undefined) continue
      chunks.push(chunk)
      bytes += chunk.length
    }
    return Buffer.concat(chunks, bytes)
  }

  /** The rest is dropped; for a waiting reader, the body ends here. */
  stop(): void {
    this.#isStarted = true
    this.#ahead = undefined
    if (this.#isEnded) return
    this.#isEnded = true
    this.#giveUp?.()
    if (this.#iterator !== undefined || !isDrained(this.#body)) discardBody(this.#body)
  }

  #start(): void {
    this.#isStarted = true
    const body = this.#body
    const whole = wholeOf(body)
    if (whole === undefined) {
      // A body that is not a buffer is an iterable.
      this.#iterator = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
      return
    }
    this.#isEnded = true
    if (whole.length > 0) this.#ahead = whole
  }

  #pull(): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    this.#giveUp = () => resolve(false)
    const settled = (): void => {
      this.#pending = undefined
    }
    const next = (): void => {
      this.#iterator?.next().then(
        ({ done, value }) => {
          if (done === true) {
            this.#isEnded = true
            settled()
            resolve(false)
          } else if (value.length === 0) next()
          else {
            if (!this.#isEnded) this.#ahead = value
            settled()
            resolve(true)
          }
        },
        (error: unknown) => {
          this.#isEnded = true
          settled()
          reject(new SourceBroken(messageOf(error)))
        },
      )
    }
    next()
    return promise
  }
}

/** undefined: it arrives over time. */
function wholeOf(body: NonNullable<OutgoingBody>): Buffer | undefined {
  if (typeof body === 'string') return Buffer.from(body)
  if (Buffer.isBuffer(body)) return body
  if (!(body instanceof IncomingBody)) return undefined
  const text = body.takeWhole(PIECE_BYTES_MAX)
  return text === undefined ? undefined : Buffer.from(text, 'latin1')
}

/** A small body in memory is read, so that its connection can be reused. */
function isDrained(body: NonNullable<OutgoingBody>): boolean {
  return body instanceof IncomingBody && body.takeWhole(PIECE_BYTES_MAX) !== undefined
}
