// One call to a backend on an HTTP/2 stream, from the moment it waits for one until its response is read. Does not
// depend on pools.
import { constants, type ClientHttp2Stream } from 'node:http2'
import { shown } from '../exchange/diagnosis.ts'
import { BodyAborted } from '../message/body.ts'
import { type BodySource, IncomingBody } from '../message/incoming-body.ts'
import type { HeaderList } from '../message/headers.ts'
import { hasFields } from '../message/trailer-fields.ts'
import { NO_USER, Transport } from '../socket/transport.ts'
import { Tunnel } from '../socket/tunnel.ts'
import { ACCEPT_FIELD, webSocketAccept } from '../message/websocket.ts'
import type { CallCarrier, UpstreamCall } from './call.ts'
import type { Share } from './client-shares.ts'
import {
  BodySender,
  type BodySenderOwner,
  isSendable,
  isStreamed,
  lengthOf,
  resetStream,
} from '../http2/body-sender.ts'
import { type EndOfStream, watchEnd } from '../http2/end-of-stream.ts'
import { trailerFields } from '../http2/outgoing-fields.ts'
import { readResponseFields, trailersOf } from '../http2/response-fields.ts'
import { SmallFrames } from '../http2/small-frames.ts'
import { streamSocket } from '../http2/stream-socket.ts'

/** The session a stream runs on. */
export interface StreamCarrier {
  readonly scheme: string
  /** @throws when the session takes no streams any more. */
  open(fields: string[], options: { endStream: boolean; waitForTrailers: boolean }): ClientHttp2Stream
  /** Bytes came, so the backend is alive. */
  received(): void
  /** The backend said that it has not touched the stream of that id, and never will. */
  isUntouched(id: number | undefined): boolean
  /** The stream is gone. `isRefused`: the backend has done nothing with it. True: the call continues elsewhere. */
  released(stream: UpstreamStream, rstCode: number | undefined, isRefused: boolean): boolean
  /** The call that began then was given up without an answer. */
  doubts(startedMs: number): void
}

/** Interim responses (100, 103) before the real one. */
const INTERIM_MAX = 16
const NOTHING = Buffer.alloc(0)

export class UpstreamStream implements BodySource, BodySenderOwner, CallCarrier {
  readonly call: UpstreamCall
  /** Of its client, and of all: streams that are open. */
  readonly share: Share
  readonly #all: Share
  #carrier: StreamCarrier | undefined = undefined
  #stream: ClientHttp2Stream | undefined = undefined
  #end: EndOfStream | undefined = undefined
  #sender: BodySender | undefined = undefined
  #body: IncomingBody | undefined = undefined
  #received = 0
  #interims = 0
  #hasResponse = false
  #startedMs = 0

  constructor(call: UpstreamCall, { share, all }: { readonly share: Share; readonly all: Share }) {
    this.call = call
    this.share = share
    this.#all = all
  }

  /** Where the call stands does not allow to send it once more. */
  get canRepeat(): boolean {
    return !this.call.isSettled && !this.call.isRetried && (this.#sender === undefined || this.#sender.canRepeat)
  }

  /** The call waits for another stream. */
  detach(): void {
    this.#sender?.detach()
  }

  /** False: the session does not take it. Otherwise the call is under way, or settled. */
  start(carrier: StreamCarrier): boolean {
    const { call } = this
    const { body } = call
    if (this.#sender === undefined && !isSendable(body)) {
      call.failed('internal', 'the request body was already read')
      return true
    }
    const fields = call.http2Fields(carrier.scheme, lengthOf(body))
    if (fields === undefined) {
      call.failed('internal', 'the rewritten request has characters that HTTP does not allow')
      return true
    }
    // Also where no trailers come: see server-stream.ts.
    const isSwitch = call.upgrade !== undefined
    const waitForTrailers = isSwitch || isStreamed(body) || hasFields(call.trailerSource?.trailers)
    let stream: ClientHttp2Stream
    try {
      stream = carrier.open(fields, { endStream: body === undefined && !isSwitch, waitForTrailers })
    } catch {
      return false
    }
    this.share.count++
    this.#all.count++
    this.#carrier = carrier
    this.#stream = stream
    this.#startedMs = performance.now()
    call.carrier = this
    this.#listen(stream)
    if (waitForTrailers) stream.once('wantTrailers', () => this.#sendTrailers(stream))
    if (this.#sender !== undefined) this.#sender.moveTo(stream)
    else if (body !== undefined) {
      this.#sender = new BodySender(stream, this, true)
      this.#sender.send(body)
    }
    return true
  }

  #listen(stream: ClientHttp2Stream): void {
    this.#end = watchEnd(stream)
    stream.pause()
    // What follows from it is done on `close`.
    stream.on('error', () => {})
    stream.on('headers', () => this.#onInterim())
    stream.on('response', (_headers, flags, raw?: string[]) => this.#onResponse(stream, flags, raw ?? []))
    stream.on('drain', () => {
      if (stream === this.#stream) this.#sender?.drained()
    })
    stream.once('close', () => this.#onClose(stream))
  }

  #sendTrailers(stream: ClientHttp2Stream): void {
    if (stream.closed || this.#sender?.isComplete !== true) return
    stream.sendTrailers(trailerFields(this.call.trailerSource?.trailers))
  }

  // --- CallCarrier ---

  /** The call is over before its answer. */
  abandon(): void {
    this.#carrier?.doubts(this.#startedMs)
    this.#sender?.abort()
    if (this.#stream !== undefined) resetStream(this.#stream)
  }

  // --- BodySenderOwner: the request ---

  bodySent(isComplete: boolean): void {
    if (isComplete) return
    // The client's body broke: the backend must not see a request that looks whole.
    if (this.#stream !== undefined) resetStream(this.#stream)
    this.#failBody('request body is incomplete')
    this.call.failed('upstreamFailure', shown('request body is incomplete'))
  }

  // --- BodySource: the response ---

  pauseBody(): void {
    this.#stream?.pause()
  }

  resumeBody(): void {
    this.#stream?.resume()
  }

  cancelBody(): void {
    this.#body = undefined
    this.#sender?.abort()
    if (this.#stream !== undefined) resetStream(this.#stream)
  }

  // --- response ---

  #onInterim(): void {
    this.#carrier?.received()
    if (++this.#interims > INTERIM_MAX) this.call.failed('upstreamFailure', shown('too many interim responses'))
  }

  #onResponse(stream: ClientHttp2Stream, flags: number, raw: readonly string[]): void {
    const { call } = this
    this.#carrier?.received()
    if (stream !== this.#stream || call.isSettled) return
    const head = readResponseFields(raw)
    if (typeof head === 'string') {
      call.failed('upstreamFailure', shown(`invalid response: ${head}`))
      return
    }
    this.#hasResponse = true
    this.#sender?.settle()
    call.carrier = undefined
    const { status, headers, contentLength } = head
    if (call.upgrade !== undefined && status < 300) {
      this.#switched(stream, headers, flags)
      return
    }
    const shape = { status, headers, framing: 'None', contentLength: 0, isKeepAlive: true, upgrade: undefined } as const
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) {
      this.#ended()
      stream.resume()
      call.responded(shape, undefined)
      return
    }
    const body = new IncomingBody(this, contentLength)
    body.expectTrailers(head.trailerNames)
    this.#body = body
    const frames = new SmallFrames((chunk) => {
      body.push(chunk, 0, chunk.length)
      body.settle()
    })
    stream.on('data', (chunk: Buffer) => this.#onData(body, frames, chunk))
    stream.on('trailers', (_trailers, _flags, trailers?: string[]) => {
      body.trailers = trailersOf(trailers ?? [])
    })
    stream.once('end', () => {
      frames.flush()
      this.#onEnd(body)
    })
    call.responded(shape, body)
  }

  /** RFC 8441 section 5: a 2xx stands for the 101 of HTTP/1.1, and the stream for the connection. */
  #switched(stream: ClientHttp2Stream, headers: HeaderList, flags: number): void {
    const { call } = this
    const end = this.#end
    if (end === undefined || (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) {
      resetStream(stream)
      call.failed('upgradeFailed', shown('the backend ended the stream with its response'))
      return
    }
    const { upgrade, webSocketKey } = call
    headers.remove(ACCEPT_FIELD)
    if (webSocketKey !== undefined) headers.append(ACCEPT_FIELD, webSocketAccept(webSocketKey))
    const socket = streamSocket(stream, end, () => this.#carrier?.received())
    const transport = Transport.ofSocket(socket, NO_USER)
    transport.pause()
    const shape = { status: 101, framing: 'None', contentLength: 0, isKeepAlive: true } as const
    call.responded({ ...shape, headers, upgrade }, new Tunnel(transport, NOTHING, upgrade))
  }

  #onData(body: IncomingBody, frames: SmallFrames, chunk: Buffer): void {
    this.#carrier?.received()
    this.#received += chunk.length
    if (this.#body === body) frames.take(chunk)
  }

  #onEnd(body: IncomingBody): void {
    if (this.#body !== body) return
    if (this.#end?.hasEnded !== true || (body.length !== undefined && body.length !== this.#received)) {
      this.#failBody('the backend closed the connection in the middle of the response')
      return
    }
    this.#body = undefined
    this.#ended()
    body.end()
  }

  /** A backend that has answered in full does not need the rest of the request. */
  #ended(): void {
    if (this.#sender?.isActive !== true) return
    this.#sender.abort()
    if (this.#stream !== undefined) resetStream(this.#stream, constants.NGHTTP2_NO_ERROR)
  }

  #onClose(stream: ClientHttp2Stream): void {
    const carrier = this.#carrier
    if (stream !== this.#stream || carrier === undefined) return
    this.share.count--
    this.#all.count--
    this.#carrier = undefined
    this.call.carrier = undefined
    const isUnseen = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || carrier.isUntouched(stream.id)
    // The pool may send the call again; only a call that it does not take is settled here.
    if (carrier.released(this, stream.rstCode, isUnseen && !this.#hasResponse)) return
    // A connection that broke before any answer; one that the backend reset is its answer.
    if (!this.#hasResponse && this.#interims === 0)
      this.call.isMovable = isUnseen ? this.#isWhole : this.#isRepeatable(stream)
    this.failed(`the backend closed the stream (${nameOf(stream.rstCode)})`)
  }

  /** Nothing of the body is lost: the call can go out again. */
  get #isWhole(): boolean {
    return this.#sender === undefined || this.#sender.canRepeat
  }

  #isRepeatable({ rstCode }: ClientHttp2Stream): boolean {
    return rstCode === constants.NGHTTP2_CANCEL && this.call.isRepeatable && this.#isWhole
  }

  /** Nothing more will come of it. */
  failed(detail: string): void {
    this.#sender?.abort()
    this.#failBody(detail)
    this.call.failed('upstreamFailure', shown(detail))
  }

  #failBody(detail: string): void {
    const body = this.#body
    this.#body = undefined
    body?.fail(new BodyAborted(detail))
  }
}

function nameOf(code: number | undefined): string {
  return CODES[code ?? 0] ?? `code ${code}`
}

/** RFC 9113 section 7. */
const CODES: readonly string[] = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
]
