// The gRPC client of one worker: unary calls and bidirectional streams over pooled HTTP/2 connections. Independent of
// the services.
import { fromBinary, toBinary, type DescMessage, type MessageShape } from '@bufbuild/protobuf'
import { DeadlineWheel, Sweeper, type Sweepable } from '../socket/deadlines.ts'
import type { ConnectObserver } from '../upstream/connect-observer.ts'
import { CONNECTION_DEFAULTS, type ConnectionDefaults } from '../upstream/connection-defaults.ts'
import { DnsCache } from '../upstream/dns-cache.ts'
import type { UpstreamTarget } from '../upstream/target.ts'
import { GrpcCall, type CallUser } from './call.ts'
import { frameOf } from './framing.ts'
import { GrpcError, GrpcStatus, type GrpcUnreached } from './status.ts'
import { type SharedParts, TargetSessions } from './target-sessions.ts'

/** A method of a generated service. */
export interface GrpcMethod<I extends DescMessage, O extends DescMessage> {
  readonly name: string
  readonly parent: { readonly typeName: string }
  readonly input: I
  readonly output: O
}

export interface GrpcCallOptions {
  readonly authority: string
  /** name, value, … ; names lower case. */
  readonly metadata?: readonly string[]
  /** `performance.now()` at which the call fails as DEADLINE_EXCEEDED. */
  readonly deadlineMs: number
  readonly signal: AbortSignal | undefined
  /** Called if the peer received nothing of the call: returns another target. undefined: the failure is final. */
  readonly elsewhere?: (error: GrpcUnreached) => UpstreamTarget | undefined
  /** Limit for one message of the peer; default 4 MiB. */
  readonly messageBytesMax?: number
}

/** The events of a stream. `closed` is the last, and is called once. */
export interface GrpcStreamUser<O> {
  message(message: O): void
  /** `send` returned false before; there is room now. */
  drained(): void
  closed(error: GrpcError | undefined): void
}

export interface GrpcStream<I> {
  /** False: full, wait for `drained`. @throws {GrpcError} for a message that cannot be encoded. */
  send(message: I): boolean
  /** Ends our side of the stream. */
  end(): void
  cancel(): void
  pause(): void
  resume(): void
}

export interface GrpcClient {
  /** @throws {GrpcError} */
  unary<I extends DescMessage, O extends DescMessage>(
    target: UpstreamTarget,
    method: GrpcMethod<I, O>,
    request: MessageShape<I>,
    options: GrpcCallOptions,
  ): Promise<MessageShape<O>>
  stream<I extends DescMessage, O extends DescMessage>(
    target: UpstreamTarget,
    method: GrpcMethod<I, O>,
    user: GrpcStreamUser<MessageShape<O>>,
    options: GrpcCallOptions,
  ): GrpcStream<MessageShape<I>>
  /** For tests and gauges. */
  readonly openSessions: number
  close(): void
}

const MESSAGE_BYTES_MAX = 4 * 1024 * 1024

export interface GrpcClientOptions {
  readonly dns?: DnsCache
  readonly connected?: ConnectObserver | undefined
  /** Those of this worker. */
  readonly connections?: ConnectionDefaults | undefined
}

export function createGrpcClient(options: GrpcClientOptions = {}): GrpcClient {
  return new Client(options)
}

class Client implements GrpcClient, Sweepable {
  readonly #targets = new Map<string, TargetSessions>()
  readonly #sweeper = new Sweeper()
  readonly #shared: SharedParts
  #isClosed = false

  constructor({ dns = new DnsCache(), connected, connections = CONNECTION_DEFAULTS }: GrpcClientOptions) {
    const { idleTimeoutMs, idleMax: idlePerTargetMax = Infinity } = connections
    const limits = { idleTimeoutMs, idlePerTargetMax }
    const dispatch = (target: UpstreamTarget, call: GrpcCall): void => this.#dispatch(target, call, undefined)
    this.#shared = { limits, dns, connected, wheel: new DeadlineWheel(), dispatch }
  }

  get openSessions(): number {
    let count = 0
    for (const sessions of this.#targets.values()) count += sessions.openSessions
    return count
  }

  unary<I extends DescMessage, O extends DescMessage>(
    target: UpstreamTarget,
    method: GrpcMethod<I, O>,
    request: MessageShape<I>,
    options: GrpcCallOptions,
  ): Promise<MessageShape<O>> {
    return new Promise((resolve, reject) => {
      // Before the call exists: a message that cannot be encoded must leave nothing behind.
      const frame = frameOf(encoded(method.input, request))
      const call = this.#call(method, options, new UnaryUser(method.output, resolve, reject))
      call.writeLast(frame)
      this.#dispatch(target, call, options.signal)
    })
  }

  stream<I extends DescMessage, O extends DescMessage>(
    target: UpstreamTarget,
    method: GrpcMethod<I, O>,
    user: GrpcStreamUser<MessageShape<O>>,
    options: GrpcCallOptions,
  ): GrpcStream<MessageShape<I>> {
    const call = this.#call(method, options, {
      message(bytes) {
        const message = decoded(method.output, bytes)
        if (message instanceof GrpcError) call.fail(message)
        else user.message(message)
      },
      drained: () => user.drained(),
      closed: (error) => user.closed(error),
    })
    this.#dispatch(target, call, options.signal)
    return {
      send: (message) => call.write(frameOf(encoded(method.input, message))),
      end: () => call.end(),
      cancel: () => call.fail(new GrpcError(GrpcStatus.CANCELLED, 'the caller cancelled')),
      pause: () => call.pause(),
      resume: () => call.resume(),
    }
  }

  close(): void {
    this.#isClosed = true
    for (const sessions of this.#targets.values()) sessions.destroy()
    this.#targets.clear()
    this.#sweeper.remove(this)
  }

  sweep(nowMs: number): void {
    for (const [key, sessions] of this.#targets) {
      sessions.sweep(nowMs)
      if (sessions.isEmpty) this.#targets.delete(key)
    }
    if (this.#targets.size === 0) this.#sweeper.remove(this)
  }

  #call<I extends DescMessage, O extends DescMessage>(
    method: GrpcMethod<I, O>,
    options: GrpcCallOptions,
    user: CallUser,
  ): GrpcCall {
    return new GrpcCall(this.#shared.wheel, {
      path: `/${method.parent.typeName}/${method.name}`,
      authority: options.authority,
      metadata: options.metadata ?? [],
      deadlineMs: options.deadlineMs,
      signal: options.signal,
      elsewhere: options.elsewhere,
      messageBytesMax: options.messageBytesMax ?? MESSAGE_BYTES_MAX,
      user,
    })
  }

  #dispatch(target: UpstreamTarget, call: GrpcCall, signal: AbortSignal | undefined): void {
    if (this.#isClosed) call.fail(new GrpcError(GrpcStatus.UNAVAILABLE, 'the client is closed'))
    else if (signal?.aborted === true) call.fail(new GrpcError(GrpcStatus.CANCELLED, 'the caller cancelled'))
    else this.#sessionsOf(target).dispatch(call)
  }

  #sessionsOf(target: UpstreamTarget): TargetSessions {
    const known = this.#targets.get(target.key)
    if (known !== undefined) return known
    const sessions = new TargetSessions(target, this.#shared)
    this.#targets.set(target.key, sessions)
    this.#sweeper.add(this)
    return sessions
  }
}

/** Exactly one message, then status OK. */
class UnaryUser<O extends DescMessage> implements CallUser {
  readonly #output: O
  readonly #resolve: (message: MessageShape<O>) => void
  readonly #reject: (error: GrpcError) => void
  #answer: MessageShape<O> | GrpcError | undefined = undefined

  constructor(output: O, resolve: (message: MessageShape<O>) => void, reject: (error: GrpcError) => void) {
    this.#output = output
    this.#resolve = resolve
    this.#reject = reject
  }

  message(bytes: Buffer): void {
    this.#answer =
      this.#answer === undefined
        ? decoded(this.#output, bytes)
        : new GrpcError(GrpcStatus.INTERNAL, 'the peer sent more than one message')
  }

  drained(): void {}

  closed(error: GrpcError | undefined): void {
    const answer = this.#answer
    if (error !== undefined) this.#reject(error)
    else if (answer === undefined) this.#reject(new GrpcError(GrpcStatus.INTERNAL, 'the peer sent no message'))
    else if (answer instanceof GrpcError) this.#reject(answer)
    else this.#resolve(answer)
  }
}

function encoded<I extends DescMessage>(input: I, message: MessageShape<I>): Uint8Array {
  try {
    return toBinary(input, message)
  } catch (error) {
    throw new GrpcError(GrpcStatus.INTERNAL, `the request cannot be encoded: ${String(error)}`)
  }
}

function decoded<O extends DescMessage>(output: O, bytes: Buffer): MessageShape<O> | GrpcError {
  try {
    return fromBinary(output, bytes)
  } catch (error) {
    return new GrpcError(GrpcStatus.INTERNAL, `the peer sent a message that cannot be decoded: ${String(error)}`)
  }
}
