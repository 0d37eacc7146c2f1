// One gRPC call, from the wait for a stream until its status is known. Exactly one outcome. Independent of sessions.
import {
  constants,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { DeadlineWheel, Expiring } from '../socket/deadlines.ts'
import type { UpstreamTarget } from '../upstream/target.ts'
import { MessageReader } from './framing.ts'
import { GrpcError, GrpcStatus, type GrpcUnreached, messageOfField, statusOfField, statusOfHttp } from './status.ts'

/** The user of a call. */
export interface CallUser {
  /** The bytes are valid only during the call. */
  message(bytes: Buffer): void
  /** There is room for more after `write` returned false. */
  drained(): void
  /** Called last, and once; undefined: status OK. */
  closed(error: GrpcError | undefined): void
}

/** The session of a call. */
export interface CallCarrier {
  /** Bytes arrived, so the peer is alive. */
  received(): void
  /** The call's deadline passed. */
  timedOut(startedMs: number): void
  /** The stream has ended; `isRefused`: the peer did not process it. */
  released(call: GrpcCall, isRefused: boolean): void
}

export interface CallOptions {
  readonly path: string
  readonly authority: string
  /** name, value, … ; names lower case. */
  readonly metadata: readonly string[]
  /** `performance.now()`. */
  readonly deadlineMs: number
  readonly signal: AbortSignal | undefined
  /** See GrpcCallOptions. */
  readonly elsewhere: ((error: GrpcUnreached) => UpstreamTarget | undefined) | undefined
  readonly messageBytesMax: number
  readonly user: CallUser
}

const USER_AGENT = 'gw-grpc'

export class GrpcCall implements Expiring {
  readonly #options: CallOptions
  readonly #reader: MessageReader
  readonly #wheel: DeadlineWheel
  readonly #slot: number
  /** Frames before the stream exists; calls that may be sent again keep them to the end. */
  readonly #outgoing: Buffer[] = []
  readonly #onAbort: (() => void) | undefined
  #isEnded = false
  #isSettled = false
  #isPaused = false
  #hasResponse = false
  #isRepeated = false
  #stream: ClientHttp2Stream | undefined = undefined
  #carrier: CallCarrier | undefined = undefined
  #startedMs = 0
  #status: number | undefined = undefined
  #statusDetail = ''
  #statusDetails: string | undefined = undefined
  #failure: GrpcError | undefined = undefined

  constructor(wheel: DeadlineWheel, options: CallOptions) {
    this.#options = options
    this.#wheel = wheel
    this.#reader = new MessageReader(options.messageBytesMax)
    this.#slot = options.deadlineMs === Infinity ? 0 : wheel.add(this, options.deadlineMs)
    const { signal } = options
    if (signal === undefined) return
    this.#onAbort = () => this.fail(new GrpcError(GrpcStatus.CANCELLED, 'the caller cancelled'))
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** May run on another session: the peer refused it unprocessed, and all of it can be sent again. Only once. */
  takeRepeat(): boolean {
    if (this.#isSettled || this.#isRepeated || !this.#isEnded || this.#hasResponse) return false
    this.#isRepeated = true
    this.#stream = undefined
    this.#failure = undefined
    return true
  }

  /** The peer received nothing of it: the next target. undefined: the call has failed. */
  unreached(error: GrpcUnreached): UpstreamTarget | undefined {
    const next = this.#isSettled ? undefined : this.#options.elsewhere?.(error)
    if (next === undefined) this.fail(error)
    return next
  }

  // --- for the user ---

  /** False: full, `drained` follows. */
  write(frame: Buffer): boolean {
    if (this.#isSettled || this.#isEnded) return true
    if (this.#stream === undefined) {
      this.#outgoing.push(frame)
      return this.#outgoing.length === 1
    }
    return this.#stream.write(frame)
  }

  /** The only message of the call. */
  writeLast(frame: Buffer): void {
    this.#outgoing.push(frame)
    this.#isEnded = true
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#stream?.end()
  }

  pause(): void {
    this.#isPaused = true
    this.#stream?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#stream?.resume()
  }

  fail(error: GrpcError): void {
    if (!this.#settle()) return
    this.#stream?.close(constants.NGHTTP2_CANCEL)
    this.#options.user.closed(error)
  }

  // --- for the session ---

  headers(scheme: string): OutgoingHttpHeaders {
    const { path, authority, metadata, deadlineMs } = this.#options
    const headers: OutgoingHttpHeaders = {
      ':method': 'POST',
      ':scheme': scheme,
      ':authority': authority,
      ':path': path,
      te: 'trailers',
      'content-type': 'application/grpc',
      'grpc-accept-encoding': 'identity',
      'user-agent': USER_AGENT,
    }
    if (deadlineMs !== Infinity) headers['grpc-timeout'] = timeoutText(deadlineMs - performance.now())
    for (let i = 0; i < metadata.length; i += 2) addField(headers, metadata[i] ?? '', metadata[i + 1] ?? '')
    return headers
  }

  /** The stream is open. */
  started(stream: ClientHttp2Stream, carrier: CallCarrier): void {
    this.#stream = stream
    this.#carrier = carrier
    this.#startedMs = performance.now()
    stream.on('response', (headers) => this.#onResponse(headers))
    stream.on('data', (chunk: Buffer) => this.#onData(chunk))
    stream.on('trailers', (trailers) => this.#onTrailers(trailers))
    stream.on('end', () => this.#onEnd())
    stream.on('drain', () => this.#options.user.drained())
    stream.on('error', (error) => {
      this.#failure ??= new GrpcError(GrpcStatus.UNAVAILABLE, error.message)
    })
    stream.on('close', () => this.#onClose(stream, carrier))
    if (this.#isPaused) stream.pause()
    const last = this.#outgoing.at(-1)
    for (const frame of this.#outgoing) if (frame !== last || !this.#isEnded) stream.write(frame)
    if (!this.#isEnded) {
      this.#outgoing.length = 0
      this.#options.user.drained()
    } else if (last === undefined) stream.end()
    else stream.end(last)
  }

  expired(): void {
    this.#carrier?.timedOut(this.#startedMs)
    this.fail(new GrpcError(GrpcStatus.DEADLINE_EXCEEDED, 'the deadline has passed'))
  }

  #onResponse(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    this.#carrier?.received()
    this.#hasResponse = true
    const httpStatus = headers[':status'] ?? 0
    const type = headers['content-type'] ?? ''
    if (httpStatus !== 200) {
      this.fail(new GrpcError(statusOfHttp(httpStatus), `the peer returned HTTP ${httpStatus}`))
    } else if (!type.startsWith('application/grpc')) {
      this.fail(new GrpcError(GrpcStatus.UNKNOWN, 'the peer does not speak gRPC'))
    } else if (headers['grpc-status'] !== undefined) this.#onTrailers(headers)
  }

  #onTrailers(trailers: IncomingHttpHeaders): void {
    this.#carrier?.received()
    this.#status = statusOfField(trailers['grpc-status']) ?? GrpcStatus.UNKNOWN
    this.#statusDetail = messageOfField(trailers['grpc-message'])
    const details = trailers['grpc-status-details-bin']
    this.#statusDetails = typeof details === 'string' ? details : undefined
  }

  #onData(chunk: Buffer): void {
    if (this.#isSettled) return
    this.#carrier?.received()
    try {
      this.#reader.push(chunk, (message) => {
        if (!this.#isSettled) this.#options.user.message(message)
      })
    } catch (error) {
      this.fail(error instanceof GrpcError ? error : new GrpcError(GrpcStatus.INTERNAL, String(error)))
    }
  }

  /** No more bytes follow. A known status settles the call before the stream closes. */
  #onEnd(): void {
    if (this.#status !== undefined) this.#finish(this.#status)
  }

  #onClose(stream: ClientHttp2Stream, carrier: CallCarrier): void {
    const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
    if (this.#stream === stream) this.#carrier = undefined
    // The session may send the call again; a call that it does not accept is settled here.
    carrier.released(this, isRefused)
    if (this.#stream !== stream) return
    if (this.#status !== undefined) this.#finish(this.#status)
    else this.fail(this.#failure ?? resetError(stream.rstCode))
  }

  #finish(status: number): void {
    if (!this.#settle()) return
    if (!this.#isEnded) this.#stream?.close(constants.NGHTTP2_NO_ERROR)
    if (status !== GrpcStatus.OK) {
      this.#options.user.closed(new GrpcError(status, this.#statusDetail, this.#statusDetails))
    } else if (this.#reader.isAtBoundary) this.#options.user.closed(undefined)
    else this.#options.user.closed(new GrpcError(GrpcStatus.INTERNAL, 'the last message is cut off'))
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#wheel.remove(this, this.#slot)
    if (this.#onAbort !== undefined) this.#options.signal?.removeEventListener('abort', this.#onAbort)
    return true
  }
}

function addField(headers: OutgoingHttpHeaders, name: string, value: string): void {
  const present = headers[name]
  if (present === undefined) headers[name] = value
  else headers[name] = Array.isArray(present) ? [...present, value] : [String(present), value]
}

/** At most eight digits (gRPC over HTTP/2, "Timeout"). */
function timeoutText(leftMs: number): string {
  const ms = Math.max(1, Math.ceil(leftMs))
  return ms < 100_000_000 ? `${ms}m` : `${Math.min(Math.ceil(ms / 1000), 99_999_999)}S`
}

function resetError(code: number | undefined): GrpcError {
  switch (code) {
    case constants.NGHTTP2_REFUSED_STREAM:
      return new GrpcError(GrpcStatus.UNAVAILABLE, 'the peer refused the stream')
    case constants.NGHTTP2_CANCEL:
      return new GrpcError(GrpcStatus.CANCELLED, 'the peer cancelled the stream')
    case constants.NGHTTP2_ENHANCE_YOUR_CALM:
      return new GrpcError(GrpcStatus.RESOURCE_EXHAUSTED, 'the peer limits the rate of calls')
    case constants.NGHTTP2_NO_ERROR:
    case undefined:
      return new GrpcError(GrpcStatus.INTERNAL, 'the peer ended the stream without a status')
    default:
      return new GrpcError(GrpcStatus.INTERNAL, `the stream was reset with code ${code}`)
  }
}
