// A body that is streamed to the processor: chunks are sent as they arrive, and the chunks of the processor, at any
// time, are the body that is forwarded.
import { HeaderList } from '../../../message/headers.ts'
import type { Answer } from './answer.ts'
import type { BodyInput } from './body-input.ts'
import { bodyPart, trailersPart } from './messages.ts'
import { bytesOf, editedFields, hasFields, RefusedMutation } from './mutation.ts'
import type { ProcessedBody } from './processed-body.ts'
import type { Session } from './session.ts'
import type { Subject } from './subject.ts'

const NOTHING = Buffer.alloc(0)
/** For a response that is sent before the proxy detects that the processor has closed the stream. */
const KEPT_BYTES_MAX = 65_536

export interface DuplexParts {
  readonly session: Session
  readonly subject: Subject
  readonly input: BodyInput
  readonly output: ProcessedBody
  readonly awaitsHeaders: boolean
  /** No more chunks are sent, and no response is pending. */
  readonly done: () => void
}

export class Duplex {
  readonly #parts: DuplexParts
  #awaitsHeaders: boolean
  #headers: Answer | undefined = undefined
  /** Chunks sent before the first response; undefined: too large to keep. */
  #kept: Buffer[] | undefined
  #keptBytes = 0
  #hasSentAll = false
  #hasSentTrailers = false

  constructor(parts: DuplexParts) {
    this.#parts = parts
    this.#awaitsHeaders = parts.awaitsHeaders
    this.#kept = parts.awaitsHeaders ? [] : undefined
  }

  /** While parts still arrive the processor may wait for more of them. */
  get isOwed(): boolean {
    return this.#hasSentAll && !this.#parts.output.isFull
  }

  /** No chunk was returned, and the sent chunks are still in memory. */
  get canBeLeft(): boolean {
    return this.#awaitsHeaders && this.#kept !== undefined
  }

  /** Waits for the response to the headers; undefined: the processor closed the stream. @throws {SessionOver} */
  async headers(): Promise<Answer | undefined> {
    const { session, input } = this.#parts
    try {
      await session.until(() => !this.#awaitsHeaders || session.hasLeft)
    } finally {
      if (this.#headers === undefined) input.unread(Buffer.concat(this.#kept ?? []))
      this.#kept = undefined
    }
    return this.#headers
  }

  /** Sends the body. @throws {SessionOver} @throws {SourceBroken} */
  async show(): Promise<void> {
    const { session, subject, input, output, done } = this.#parts
    // No chunk is consumed before the stream is open.
    await session.ready()
    while (await output.room()) {
      if (!(await input.ready())) break
      if (session.isOver || session.hasLeft) return
      const bytes = input.take()
      if (bytes === undefined) continue
      this.#keep(bytes)
      const isEnd = input.isAtEnd && !hasFields(subject.trailers())
      this.#hasSentAll = isEnd
      session.hasSentBody = true
      await session.send(subject.side, bodyPart(subject.side, bytes, isEnd))
      if (isEnd) return
      await session.room()
    }
    if (!output.isOver) {
      await this.#showEnd()
      return
    }
    // The processor ended the body before it had read all, or its reader stopped.
    input.stop()
    done()
  }

  #keep(bytes: Buffer): void {
    if (this.#kept === undefined) return
    this.#kept.push(bytes)
    this.#keptBytes += bytes.length
    if (this.#keptBytes > KEPT_BYTES_MAX) this.#kept = undefined
  }

  /** @throws {RefusedMutation} */
  answered(answer: Answer): void {
    if (this.#awaitsHeaders !== (answer.kind === 'Headers')) {
      throw new RefusedMutation(`the processor sent ${answer.side} ${answer.kind} out of order`)
    }
    if (answer.kind === 'Headers') {
      this.#awaitsHeaders = false
      this.#headers = answer
    } else if (answer.kind === 'Body') this.#answeredPiece(answer)
    else this.#answeredTrailers(answer)
  }

  async #showEnd(): Promise<void> {
    const { session, subject } = this.#parts
    const { side } = subject
    const trailers = subject.trailers()
    if (session.hasLeft) return
    session.hasSentBody = true
    this.#hasSentAll = true
    if (trailers !== undefined && hasFields(trailers)) {
      this.#hasSentTrailers = true
      await session.send(side, trailersPart(side, trailers))
    } else await session.send(side, bodyPart(side, NOTHING, true))
  }

  #answeredPiece({ common, side }: Answer): void {
    const { output, done } = this.#parts
    const mutation = common?.bodyMutation?.mutation
    if (mutation?.case !== 'streamedResponse') {
      throw new RefusedMutation(
        `the processor sent a chunk of the ${side} body without streamed_response, which body mode FullDuplexStreamed requires`,
      )
    }
    output.push(bytesOf(mutation.value.body))
    if (!mutation.value.endOfStream || this.#hasSentTrailers) return
    output.end(undefined)
    done()
  }

  #answeredTrailers({ headerMutation }: Answer): void {
    const { output, subject, done } = this.#parts
    if (!this.#hasSentTrailers) throw new RefusedMutation('the processor sent trailers before it received them')
    output.end(editedFields(subject.trailers() ?? new HeaderList(), headerMutation))
    done()
  }
}
