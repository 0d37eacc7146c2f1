// The stream to a processor for one exchange: opens it with the first message, passes responses to their side, keeps
// deadlines and limits. Exactly one outcome. Does not depend on bodies.
import type { JsonObject } from '@bufbuild/protobuf'
import { ServiceError, type ServiceCaller, type ServiceStream } from '../../../chain/service.ts'
import {
  ExternalProcessor,
  type ImmediateResponse,
  type ProcessingRequest,
  type ProcessingResponse,
} from '../../../envoy/gen/envoy/service/ext_proc/v3/external_processor.gen.ts'
import type { Metadata } from '../../../envoy/gen/envoy/config/core/v3/base.gen.ts'
import { type Detail, logOf, shown } from '../../../exchange/diagnosis.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { GrpcStreamUser } from '../../../grpc/client.ts'
import type { GrpcError } from '../../../grpc/status.ts'
import { setAttribute } from '../../../chain/attributes.ts'
import { attributesOf as celOf } from '../ext-auth/request-view.ts'
import { AnswerTimer } from './answer-timer.ts'
import { answerOf, type Answer } from './answer.ts'
import { attributesOf, callMetadataOf, messageOf, metadataOf, type CompiledContext, type Part } from './messages.ts'
import { mutationProblem, RefusedMutation } from './mutation.ts'
import { wireBodyMode, type Modes, type SideName } from './modes.ts'

export interface SessionConfig {
  /** undefined: the reference has no usable backend. */
  readonly service: ServiceCaller | undefined
  readonly context: CompiledContext
  readonly modes: Modes
  readonly allowsOverride: boolean
  readonly failsOpen: boolean
}

/** Why nothing more is processed. */
export type Outcome =
  | { readonly kind: 'Failed'; readonly detail: Detail }
  | { readonly kind: 'Answered'; readonly answer: ImmediateResponse }
  /** The client's or the backend's message broke. */
  | { readonly kind: 'SourceBroken'; readonly side: SideName; readonly detail: string }

/** One of the two messages, as seen by the session. */
export interface SessionSide {
  /** A response of the processor is pending. */
  readonly isOwed: boolean
  /** The processor has closed the stream in order. False: the message cannot be forwarded without it. */
  readonly canBeLeft: boolean
  /** No more messages of this side will be sent. */
  readonly isDone: boolean
  /** Bytes that its reader has not read yet. */
  readonly heldBytes: number
  /** @throws {RefusedMutation} for an unexpected response. */
  answered(answer: Answer): void
  /** Nothing more is processed. `isSkipped`: messages are forwarded unchanged. */
  over(detail: string, isSkipped: boolean): void
}

/** Ends waits for the processor; the session has the reason. */
export class SessionOver extends Error {}

/** Extension of the deadline on request of the processor. */
const EXTENDED_MS_MAX = 60_000
/** After the last message the processor has this long to close the stream itself. */
const CLOSE_MS = 1000
/** Above this limit, responses that a slow reader does not read pause the processor. */
const HELD_BYTES_HIGH = 262_144
/** Above the listener's body limit they are a failure; this is the default limit. */
const HELD_BYTES_MAX = 2 * 1024 * 1024

export class Session implements GrpcStreamUser<ProcessingResponse> {
  readonly exchange: Exchange
  readonly config: SessionConfig
  modes: Modes
  outcome: Outcome | undefined = undefined
  /** Messages are forwarded as if there were no processor. */
  isSkipped = false
  /** The processor closed the stream in order: unsent parts are forwarded unchanged. */
  hasLeft = false
  hasSentBody = false
  /** The client gets the outcome. */
  isReported = false
  /** Messages that are held back until the processor has responded. */
  heldHeads = 0
  readonly #sides = new Map<SideName, SessionSide>()
  #stream: ServiceStream<ProcessingRequest> | undefined = undefined
  #opening: Promise<void> | undefined = undefined
  #isOpen = false
  #isBlocked = false
  #isPaused = false
  #isClosed = false
  #isClosing = false
  #hasSent = false
  #metadata: Metadata | undefined = undefined
  #introduced: SideName | undefined = undefined
  #waiting: (() => void)[] = []
  readonly #timer = new AnswerTimer(() => this.#expired())

  constructor(exchange: Exchange, config: SessionConfig) {
    this.exchange = exchange
    this.config = config
    this.modes = config.modes
  }

  /** No more messages can be sent. */
  get isOver(): boolean {
    return this.outcome !== undefined || this.isSkipped
  }

  add(name: SideName, side: SessionSide): void {
    this.#sides.set(name, side)
  }

  // --- for the sides ---

  /** Waits for the stream: until then the processor has no message. @throws {SessionOver} */
  async ready(): Promise<void> {
    await this.#open()
    await this.until(() => this.#isOpen)
  }

  /** Waits for `room` after large messages. @throws {SessionOver} */
  async send(side: SideName, part: Part): Promise<void> {
    await this.#open()
    if (this.isOver || this.#stream === undefined) throw new SessionOver()
    const { config, exchange, modes } = this
    const isFirst = this.#introduced !== side
    if (isFirst) this.#metadata = this.metadataFor(side)
    this.#introduced = side
    const message = messageOf({
      request: part,
      ...(this.#metadata !== undefined && { metadataContext: this.#metadata }),
      ...(isFirst && { attributes: attributesOf(config.context, side, exchange) }),
      ...(!this.#hasSent && {
        protocolConfig: {
          requestBodyMode: wireBodyMode(modes.request.body),
          responseBodyMode: wireBodyMode(modes.response.body),
        },
      }),
    })
    this.#hasSent = true
    this.#isBlocked = !this.#stream.send(message)
    this.watch()
  }

  /** Waits until the stream accepts more. @throws {SessionOver} */
  room(): Promise<void> {
    return this.until(() => !this.#isBlocked)
  }

  /** @throws {SessionOver} */
  async until(condition: () => boolean): Promise<void> {
    while (!this.isOver && !condition()) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
    }
    if (this.isOver) throw new SessionOver()
  }

  /** The state of a side has changed: waits are checked again, and pending responses are timed. */
  watch(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
    this.#flow()
    this.#keepTime()
    if (this.#hasSent && !this.#expectsMore() && this.isAllDone()) this.close()
  }

  setMetadata(metadata: JsonObject): void {
    const values = celOf(metadata)
    if (values === undefined) return
    const before = this.exchange.attributes?.['extproc']
    setAttribute(this.exchange, 'extproc', { ...(typeof before === 'object' ? before : {}), ...values })
  }

  // --- outcome ---

  fail(detail: Detail): void {
    this.end({ kind: 'Failed', detail })
  }

  /** Once; later outcomes are ignored. */
  end(outcome: Outcome): void {
    if (this.isOver) return
    this.isSkipped = outcome.kind === 'Failed' && this.mayGoOn()
    if (!this.isSkipped) this.outcome = outcome
    const detail = outcome.kind === 'Answered' ? 'the processor sent an immediate response' : logOf(outcome.detail)
    if (this.isSkipped) this.exchange.errorDetail = `ext_proc was skipped: ${detail}`
    this.#report(outcome, detail)
    this.#stop(outcome.kind === 'Failed')
    if (!this.isSkipped && outcome.kind !== 'SourceBroken') this.recall()
    for (const side of this.#sides.values()) side.over(detail, this.isSkipped)
    this.watch()
  }

  /** No more messages are sent. A stream that has not ended gets time to close in order. */
  close(): void {
    if (this.#isClosing || this.#isClosed) return
    this.#isClosing = true
    this.#timer.stop()
    if (!this.isAllDone()) this.#stop(false)
    else if (this.#stream !== undefined) {
      this.#stream.end()
      this.#timer.restart(performance.now() + CLOSE_MS)
    }
  }

  // --- overridden by other users of the protocol ---

  /** Sent with every message about `side`. */
  protected metadataFor(_side: SideName): Metadata | undefined {
    return metadataOf(this.config.context, this.exchange)
  }

  /** After a failure: whether the messages can be forwarded unchanged. */
  protected mayGoOn(): boolean {
    return this.config.failsOpen && !this.hasSentBody
  }

  /** A request in progress must not continue, and must not be repeated. */
  protected recall(): void {
    this.exchange.replay = undefined
    this.exchange.upstreamCall?.abort('upstreamFailure')
  }

  protected isAllDone(): boolean {
    for (const side of this.#sides.values()) if (!side.isDone) return false
    return true
  }

  protected canBeLeft(): boolean {
    for (const side of this.#sides.values()) if (!side.canBeLeft) return false
    return true
  }

  // --- GrpcStreamUser ---

  message(message: ProcessingResponse): void {
    if (this.isOver || this.#isClosing) return
    if (this.#extends(message)) return
    this.#timer.stop()
    const answer = answerOf(message)
    if (answer === undefined) {
      this.fail(shown('the processor sent a response to no message'))
      return
    }
    if (answer.kind === 'Immediate') {
      this.end({ kind: 'Answered', answer: answer.response })
      return
    }
    try {
      const side = this.#sides.get(answer.side)
      if (side === undefined) throw new RefusedMutation('the processor answered for the response before it arrived')
      side.answered(answer)
    } catch (error) {
      this.fail(mutationProblem(error))
    }
    this.watch()
  }

  drained(): void {
    this.#isOpen = true
    this.#isBlocked = false
    this.watch()
  }

  closed(error: GrpcError | undefined): void {
    this.#isClosed = true
    this.#timer.stop()
    if (this.#isClosing) return
    if (error !== undefined)
      this.fail({ log: `gRPC status ${error.status}: ${error.message}`, client: `gRPC status ${error.status}` })
    else if (this.canBeLeft()) this.hasLeft = true
    else this.fail(shown('the processor closed the stream before it responded'))
    this.watch()
  }

  // --- the stream ---

  #open(): Promise<void> {
    if (this.#opening === undefined) {
      this.#opening = this.#connect()
      this.watch()
    }
    return this.#opening
  }

  async #connect(): Promise<void> {
    const { config, exchange } = this
    const { service } = config
    if (service === undefined) {
      this.fail(shown('the processing service does not exist'))
      return
    }
    try {
      const headers = callMetadataOf(config.context, exchange)
      this.#stream = await service.stream(exchange, ExternalProcessor.method.process, this, headers)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      this.fail({ log: error.message, client: 'the processing service cannot be reached' })
    }
    // The session may have ended while policies of the service ran.
    if (this.isOver || this.#isClosing) this.#stop(false)
  }

  #stop(isBlamed: boolean): void {
    this.#isClosing = true
    this.#timer.stop()
    if (this.#isClosed) return
    if (isBlamed) this.#stream?.abandon()
    else this.#stream?.cancel()
  }

  /** The response is still to come, and some parts of it will be sent. */
  #expectsMore(): boolean {
    const { sendsHeaders, body, sendsTrailers } = this.modes.response
    return !this.#sides.has('response') && (sendsHeaders || body !== 'None' || sendsTrailers)
  }

  #isOwed(): boolean {
    if (this.#isBlocked || (this.#opening !== undefined && !this.#isOpen)) return true
    for (const side of this.#sides.values()) if (side.isOwed) return true
    return false
  }

  #extends({ overrideMessageTimeout }: ProcessingResponse): boolean {
    if (overrideMessageTimeout === undefined) return false
    const { seconds, nanos } = overrideMessageTimeout
    const ms = Number(seconds) * 1000 + nanos / 1_000_000
    if (ms >= 1) this.#timer.extend(Math.min(performance.now() + Math.min(ms, EXTENDED_MS_MAX), this.#deadlineMs()))
    return true
  }

  /**
   * A slow reader of one message must not block the other one: the stream is paused only
   * if no other side needs it, and the bytes in memory are then bounded.
   */
  #flow(): void {
    if (this.isOver || this.#isClosed) return
    const sides = [...this.#sides.values()]
    const held = sides.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
    if (held > Math.max(HELD_BYTES_MAX, this.exchange.flow?.bodyBytesMax ?? 0)) {
      this.fail(shown('the processor sends data faster than the peer reads it'))
      return
    }
    const isNeeded = sides.some(({ isOwed, heldBytes }) => isOwed && heldBytes === 0)
    this.#pause(held > HELD_BYTES_HIGH && !isNeeded)
  }

  #pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#stream?.pause()
    else this.#stream?.resume()
  }

  // --- time ---

  #keepTime(): void {
    if (this.isOver || this.#isClosed || this.#isClosing) return
    const isOwed = this.#isOwed()
    const answerMs = isOwed ? performance.now() + (this.config.service?.answerMs ?? 0) : Infinity
    this.#timer.keep(isOwed, Math.min(answerMs, this.#deadlineMs()))
  }

  /** The processor was too slow; or the deadline of the route has passed. */
  #expired(): void {
    if (this.#isClosing) this.#stream?.cancel()
    else this.fail(shown('the processor did not respond in time'))
  }

  /** Of the route, which covers everything up to the response; later the processor delays no client. */
  #deadlineMs(): number {
    return this.heldHeads === 0 ? Infinity : (this.exchange.deadlineMs ?? Infinity)
  }

  #report(outcome: Outcome, detail: string): void {
    const { trace } = this.exchange
    if (trace === undefined) return
    const what = outcome.kind === 'Answered' ? 'answered' : this.isSkipped ? 'skipped' : 'failed'
    const severity = outcome.kind === 'Answered' ? 'info' : this.isSkipped ? 'warn' : 'error'
    trace.write({ type: 'policyEvent', kind: 'ext proc', details: `${what}: ${detail}` }, { severity })
  }
}
