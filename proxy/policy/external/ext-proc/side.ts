// One message, request or response, on its way through the processor: headers, then the body in its mode, then the
// trailers. `run` ends when the head can be forwarded; the rest of the body follows.
import { CommonResponse_ResponseStatus as Status } from '../../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import type { BodyMutation } from '../../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import { BodyAborted } from '../../../message/body.ts'
import type { HeaderList } from '../../../message/headers.ts'
import type { Answer, AnswerKind } from './answer.ts'
import { BodyInput, SourceBroken } from './body-input.ts'
import { Duplex } from './duplex.ts'
import { bodyPart, headersPart, trailersPart, type Part } from './messages.ts'
import { overriddenModes, type SideModes } from './modes.ts'
import { editedFields, hasFields, mutatedBytes, mutationProblem, RefusedMutation } from './mutation.ts'
import { ProcessedBody } from './processed-body.ts'
import { type Session, SessionOver, type SessionSide } from './session.ts'
import type { Subject } from './subject.ts'

/** Specification, Limits: ExtProc Buffered modes. */
export const BUFFERED_BYTES_MAX = 8192

const NOTHING = Buffer.alloc(0)

export class Side implements SessionSide {
  readonly #session: Session
  readonly #subject: Subject
  #input: BodyInput | undefined
  #output: ProcessedBody | undefined = undefined
  #duplex: Duplex | undefined = undefined
  #expected: AnswerKind | undefined = undefined
  #answer: Answer | undefined = undefined
  /** The content-length that the processor set. */
  #announced: number | undefined = undefined
  #isDone = false

  constructor(session: Session, subject: Subject) {
    this.#session = session
    this.#subject = subject
    this.#input = subject.body === undefined ? undefined : new BodyInput(subject.body)
    session.add(subject.side, this)
  }

  // --- for the policy ---

  /** @throws {SessionOver} */
  async run(): Promise<void> {
    const session = this.#session
    session.heldHeads++
    try {
      if (this.#input !== undefined && this.#modes.body === 'FullDuplexStreamed') await this.#runDuplex(this.#input)
      else await this.#runInTurn()
    } catch (error) {
      this.#settle(error)
      throw new SessionOver()
    } finally {
      session.heldHeads--
      session.watch()
    }
  }

  /** The original message, with the rest of its body. The processor got none of it. */
  restore(): void {
    const input = this.#input
    this.#subject.restore()
    this.#leave(input)
  }

  // --- SessionSide ---

  get isOwed(): boolean {
    return this.#expected !== undefined || (!this.#isDone && this.#duplex?.isOwed === true)
  }

  /**
   * A processor that closes the stream after the request does not get the response, even if part of it was sent,
   * if it can still be forwarded unchanged.
   */
  get canBeLeft(): boolean {
    if (this.#isDone) return true
    const isResponse = this.#subject.side === 'response'
    if (this.#duplex !== undefined) return isResponse && this.#duplex.canBeLeft
    return this.#expected === undefined || (isResponse && this.#expected === 'Headers')
  }

  get isDone(): boolean {
    return this.#isDone
  }

  get heldBytes(): number {
    return this.#output?.heldBytes ?? 0
  }

  answered(answer: Answer): void {
    if (this.#isDone) return
    if (this.#duplex !== undefined) this.#duplex.answered(answer)
    else if (answer.kind === this.#expected) this.#answer = answer
    else throw new RefusedMutation(`the processor sent ${answer.side} ${answer.kind}, which was not requested`)
    this.#expected = undefined
  }

  over(detail: string, isSkipped: boolean): void {
    if (isSkipped) return
    this.#input?.stop()
    this.#output?.fail(new BodyAborted(detail))
  }

  get #modes(): SideModes {
    return this.#session.modes[this.#subject.side]
  }

  // --- one message after the other ---

  async #runInTurn(): Promise<void> {
    const input = this.#input
    if (this.#modes.sendsHeaders) {
      const answer = await this.#ask(headersPart(this.#subject, input === undefined), 'Headers')
      if (answer !== undefined && this.#applyHeaders(answer)) return
    }
    if (input === undefined || this.#session.hasLeft) this.#done()
    else await this.#runBody(input)
  }

  #runBody(input: BodyInput): Promise<void> | void {
    switch (this.#modes.body) {
      case 'None':
        this.#runTrailersOnly(input)
        return
      case 'Buffered':
        return this.#runBuffered(input)
      case 'BufferedPartial':
        return this.#runPartial(input)
      case 'Streamed':
        this.#runStreamed(input)
        return
      case 'FullDuplexStreamed':
        // By override: the headers have their response already.
        this.#runBehind(this.#newDuplex(input, false))
    }
  }

  /** Only a body that may have trailers must be read to its end. */
  #runTrailersOnly(input: BodyInput): void {
    if (this.#modes.sendsTrailers && this.#subject.mayHaveTrailers) this.#passThrough(input, NOTHING)
    else this.#done()
  }

  async #runBuffered(input: BodyInput): Promise<void> {
    const bytes = await this.#readAhead(input)
    if (bytes.length > BUFFERED_BYTES_MAX) {
      input.unread(bytes)
      throw new RefusedMutation(`the ${this.#subject.side} body is larger than ${BUFFERED_BYTES_MAX} bytes`)
    }
    const whole = await this.#changed(bytes, !this.#sendsTrailers())
    const trailers = await this.#askTrailers()
    this.#subject.headers.remove('content-length')
    if (trailers === undefined) this.#subject.put(whole)
    else {
      const output = this.#newOutput(whole.length)
      output.push(whole)
      output.end(trailers)
      this.#subject.put(output.body)
    }
    this.#done()
  }

  async #runPartial(input: BodyInput): Promise<void> {
    const bytes = await this.#readAhead(input)
    if (bytes.length <= BUFFERED_BYTES_MAX) {
      input.unread(bytes)
      await this.#runBuffered(input)
      return
    }
    input.unread(bytes.subarray(BUFFERED_BYTES_MAX))
    const first = await this.#changed(bytes.subarray(0, BUFFERED_BYTES_MAX), false)
    this.#subject.headers.remove('content-length')
    this.#passThrough(input, first)
  }

  /** Also waits for the stream: bytes in memory stay available until it is open. */
  async #readAhead(input: BodyInput): Promise<Buffer> {
    const bytes = await input.readOver(BUFFERED_BYTES_MAX)
    try {
      await this.#session.ready()
    } catch (error) {
      input.unread(bytes)
      throw error
    }
    return bytes
  }

  /** The replacement of `bytes`. */
  async #changed(bytes: Buffer, isEnd: boolean): Promise<Buffer> {
    const answer = await this.#askBody(bytes, isEnd)
    if (answer === undefined) return bytes
    this.#edit(answer)
    const whole = mutatedBytes(answer.common?.bodyMutation, bytes)
    if (isEnd) this.#checkLength(whole)
    return whole
  }

  /** One response for each chunk, before the next chunk is sent. */
  #runStreamed(input: BodyInput): void {
    const output = this.#newOutput(undefined)
    this.#putStream(output)
    this.#behind(async () => {
      let isEnd = false
      while (!isEnd && (await output.room())) {
        const hasMore = await input.ready()
        const bytes = hasMore ? input.take() : NOTHING
        if (bytes === undefined) continue
        isEnd = !hasMore || input.isAtEnd
        const answer = await this.#askBody(bytes, isEnd && !this.#sendsTrailers())
        output.push(mutatedBytes(answer?.common?.bodyMutation, bytes))
      }
      await this.#endOutput(input, output)
    })
  }

  /** The rest of a body that the processor does not get, except its trailers. */
  #passThrough(input: BodyInput, first: Buffer): void {
    const { body } = this.#subject
    const known = first.length === 0 && typeof body === 'object' && 'length' in body ? body.length : undefined
    const output = this.#newOutput(known)
    this.#subject.put(output.body)
    output.push(first)
    this.#behind(async () => {
      while (await output.room()) {
        if (!(await input.ready())) break
        output.push(input.take() ?? NOTHING)
      }
      await this.#endOutput(input, output)
    })
  }

  async #endOutput(input: BodyInput, output: ProcessedBody): Promise<void> {
    if (output.isOver) input.stop()
    else output.end(await this.#askTrailers())
    this.#done()
  }

  // --- both at once ---
  async #runDuplex(input: BodyInput): Promise<void> {
    const session = this.#session
    if (session.hasLeft) return this.#done()
    const { sendsHeaders } = this.#modes
    const parts = this.#newDuplex(input, sendsHeaders)
    if (!sendsHeaders) {
      await session.ready()
      this.#runBehind(parts)
      return
    }
    await session.send(this.#subject.side, headersPart(this.#subject, false))
    this.#behind(() => parts.duplex.show())
    const answer = await parts.duplex.headers()
    if (answer === undefined) this.#leave(input)
    else if (!this.#applyHeaders(answer)) this.#putStream(parts.output)
  }

  /** The body is forwarded unchanged, or the part that was not read yet. */
  #leave(input: BodyInput | undefined): void {
    this.#duplex = undefined
    if (input?.isStarted === true) this.#passThrough(input, NOTHING)
    else this.#done()
  }

  #runBehind({ duplex, output }: { readonly duplex: Duplex; readonly output: ProcessedBody }): void {
    this.#putStream(output)
    this.#behind(() => duplex.show())
  }

  #newDuplex(input: BodyInput, awaitsHeaders: boolean): { duplex: Duplex; output: ProcessedBody } {
    const output = this.#newOutput(undefined)
    const [session, subject] = [this.#session, this.#subject]
    const duplex = new Duplex({ session, subject, input, output, awaitsHeaders, done: () => this.#done() })
    this.#duplex = duplex
    return { duplex, output }
  }

  // --- answers ---

  /** True: the processor needs no more of this message. */
  #applyHeaders(answer: Answer): boolean {
    const session = this.#session
    const { common, modeOverride } = answer
    this.#edit(answer)
    if (modeOverride !== undefined && session.config.allowsOverride && this.#duplex === undefined) {
      session.modes = overriddenModes(session.modes, modeOverride, this.#subject.side)
    }
    if (common?.status !== Status.CONTINUE_AND_REPLACE) return false
    this.#replace(common.bodyMutation)
    return true
  }

  /** A response without a body keeps the existing one. */
  #replace(mutation: BodyMutation | undefined): void {
    if (mutation?.mutation.case === undefined) {
      if (this.#duplex !== undefined)
        throw new RefusedMutation('the processor must return the body that was streamed to it')
      this.#done()
      return
    }
    const whole = mutatedBytes(mutation, NOTHING)
    this.#checkLength(whole)
    this.#input?.stop()
    this.#output?.end(undefined)
    this.#subject.headers.remove('content-length')
    this.#subject.put(whole.length === 0 ? undefined : whole)
    this.#done()
  }

  #edit({ headerMutation, metadata }: Answer): void {
    this.#announced = this.#subject.edit(headerMutation) ?? this.#announced
    if (metadata !== undefined) this.#session.setMetadata(metadata)
  }

  /** A processor that announces one length and sends another has failed. */
  #checkLength(whole: Buffer): void {
    if (this.#announced !== undefined && this.#announced !== whole.length) {
      throw new RefusedMutation('content-length does not match the body')
    }
  }

  #askBody(bytes: Buffer, isEnd: boolean): Promise<Answer | undefined> {
    this.#session.hasSentBody = true
    return this.#ask(bodyPart(this.#subject.side, bytes, isEnd), 'Body')
  }

  /** The forwarded trailers; undefined: there are none. */
  async #askTrailers(): Promise<HeaderList | undefined> {
    const session = this.#session
    const trailers = this.#subject.trailers()
    if (trailers === undefined || !this.#sendsTrailers() || session.isSkipped) return trailers
    try {
      const answer = await this.#ask(trailersPart(this.#subject.side, trailers), 'Trailers')
      return editedFields(trailers, answer?.headerMutation)
    } catch (error) {
      if (error instanceof SessionOver && session.isSkipped) return trailers
      throw error
    }
  }

  #sendsTrailers(): boolean {
    return this.#modes.sendsTrailers && hasFields(this.#subject.trailers())
  }

  /** undefined: the processor has closed the stream. @throws {SessionOver} */
  async #ask(part: Part, kind: AnswerKind): Promise<Answer | undefined> {
    const session = this.#session
    if (session.hasLeft) return undefined
    this.#answer = undefined
    this.#expected = kind
    await session.send(this.#subject.side, part)
    await session.until(() => this.#answer !== undefined || session.hasLeft)
    this.#expected = undefined
    return this.#answer
  }

  // --- outputs and ends ---

  #newOutput(length: number | undefined): ProcessedBody {
    const { mayHaveTrailers } = this.#subject
    const output = new ProcessedBody({ length, mayHaveTrailers, changed: () => this.#outputChanged(output) })
    this.#output = output
    return output
  }

  /** From here on the message needs the processor. */
  #putStream(output: ProcessedBody): void {
    this.#session.hasSentBody = true
    this.#subject.headers.remove('content-length')
    this.#subject.put(output.body)
  }

  #outputChanged(output: ProcessedBody): void {
    if (output.isUnwanted && !this.#isDone) {
      this.#input?.stop()
      this.#done()
    } else this.#session.watch()
  }

  #done(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#input = undefined
    this.#expected = undefined
    this.#session.watch()
  }

  /** Work that continues after the head. */
  #behind(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.#settle(error))
  }

  #settle(error: unknown): void {
    const session = this.#session
    if (error instanceof SourceBroken)
      session.end({ kind: 'SourceBroken', side: this.#subject.side, detail: error.message })
    else if (!(error instanceof SessionOver)) session.fail(mutationProblem(error))
  }
}
