// One request on its way to a backend: what to send, its deadline, and exactly one outcome. Does not depend on sockets.
import type { Detail } from '../exchange/diagnosis.ts'
import { FAILURES, type FailureCode } from '../exchange/errors.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { UpstreamCallHandle } from '../exchange/slots.ts'
import type { OutgoingBody, StreamBody } from '../message/body.ts'
import type { DeadlineWheel, Expiring } from '../socket/deadlines.ts'
import { type OutgoingFraming, requestHeadText } from '../message/head-text.ts'
import { HeaderList } from '../message/headers.ts'
import { IncomingBody, interruptBody } from '../message/incoming-body.ts'
import { HttpResponse } from '../message/message.ts'
import type { ResponseHead } from '../http/response-parser.ts'
import { announcement, type TrailerSource } from '../message/trailer-fields.ts'
import { Tunnel } from '../socket/tunnel.ts'
import { KEY_FIELD } from '../message/websocket.ts'
import { requestFields } from '../http2/outgoing-fields.ts'
import { withoutDefaultPort } from '../message/authority.ts'
import type { Share } from './client-shares.ts'
import { forBackend } from './resolve-target.ts'
import {
  type CallOutcome,
  UpstreamError,
  type UpstreamFailureCode,
  type UpstreamRequest,
  type UpstreamTarget,
} from './target.ts'
import { forwardedFields } from './tunnel.ts'

/** The connection a call runs on. */
export interface CallCarrier {
  /** The call is over: the connection must not be used for anything else. */
  abandon(): void
}

export type CallFailure = Extract<
  FailureCode,
  | 'dnsFailure'
  | 'destinationDenied'
  | 'addressDenied'
  | 'upstreamFailure'
  | 'responseBroken'
  | 'upstreamTimeout'
  | 'requestTimeout'
  | 'overloaded'
  | 'backendAuthFailed'
  | 'bodyTooLarge'
  | 'upgradeFailed'
  | 'internal'
  | 'invalidRequest'
  | 'requestTimeoutRead'
>

/** Failures with a code of their own for callers; all others are `upstreamFailure`. */
const DISTINCT: ReadonlySet<CallFailure> = new Set<UpstreamFailureCode>([
  'dnsFailure',
  'addressDenied',
  'overloaded',
  'upstreamTimeout',
  'backendAuthFailed',
])

/** `Chosen`: by the backend, in the handshake. */
export type CallVersion = 'HTTP1' | 'HTTP2' | 'Chosen'

/** RFC 9110 section 9.2.2: may be sent again when the connection died before any answer. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
/** Methods whose missing body is announced (RFC 9110 section 8.6). */
const ANNOUNCES_EMPTY = new Set(['POST', 'PUT', 'PATCH'])

export abstract class UpstreamCall implements Expiring {
  readonly target: UpstreamTarget
  /** What its client uses of the target; the pool's. */
  share: Share | undefined = undefined
  /** undefined: HTTP/1.1. */
  version: CallVersion | undefined = undefined
  /** Set while a connection carries it. */
  carrier: CallCarrier | undefined = undefined
  /** A second try after a dead kept-alive connection was made. */
  isRetried = false
  /** The backend chose another version than before; the call is not repeated forever. */
  isMoved = false
  /** It failed, and another endpoint may take it: nothing was sent, or all of it may be sent again. */
  isMovable = false
  /** HTTP/1.1 will not do, whatever the backend chooses. */
  needsHttp2 = false
  #isSettled = false
  #wheel: DeadlineWheel | undefined = undefined
  #slot = 0
  #timeoutCode: CallFailure = 'upstreamTimeout'

  constructor(target: UpstreamTarget) {
    this.target = target
  }

  abstract readonly method: string
  /** Value of Host: without a port that the scheme implies (data-plane supplement section 5.3). */
  abstract readonly authority: string
  abstract readonly body: OutgoingBody
  abstract readonly upgrade: string | undefined
  /** That of the client, if it sent one. */
  abstract readonly webSocketKey: string | undefined
  /** Of the body. */
  abstract readonly trailerSource: TrailerSource | undefined
  abstract readonly preservesCase: boolean
  /** Address of the client it is made for; undefined: the gateway's own. */
  abstract readonly client: string | undefined
  /** CONNECT: a 2xx becomes a tunnel. */
  abstract readonly isTunnel: boolean
  /** A body without a length may belong to a conversation, whose client waits for the response before it sends. */
  abstract readonly isStreaming: boolean
  /** `proxyFields`: goes to a proxy, with these of its own. undefined: some part is not fit for the wire. */
  abstract headText(framing: OutgoingFraming, proxyFields?: readonly string[]): string | undefined
  /** The head for HTTP/2; `length` is that of the body, if known. undefined: some part is not fit for the wire. */
  abstract http2Fields(scheme: string, length: number | undefined): string[] | undefined
  protected abstract onResponse(head: ResponseHead, body: OutgoingBody): void
  protected abstract onFailure(code: CallFailure, detail: Detail): void

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Nothing of the body went out yet, or all of it can go out again. */
  get isRepeatable(): boolean {
    const { body } = this
    return IDEMPOTENT.has(this.method) && (body === undefined || typeof body === 'string' || Buffer.isBuffer(body))
  }

  watch(wheel: DeadlineWheel, deadlineMs: number, code: CallFailure): void {
    this.#wheel = wheel
    this.#timeoutCode = code
    this.#slot = wheel.add(this, deadlineMs)
  }

  expired(): void {
    this.#wheel = undefined
    this.failed(this.#timeoutCode, FAILURES[this.#timeoutCode].text)
  }

  responded(head: ResponseHead, body: OutgoingBody): void {
    if (this.#settle()) this.onResponse(head, body)
  }

  failed(code: CallFailure, detail: Detail): void {
    if (!this.#settle()) return
    const { carrier } = this
    this.carrier = undefined
    carrier?.abandon()
    this.onFailure(code, detail)
  }

  /** As `failed`, where the backend got nothing of the request, or got it and may get it again elsewhere. */
  unreached(code: CallFailure, detail: Detail): void {
    this.isMovable = true
    this.failed(code, detail)
  }

  protected framingOf(framing: OutgoingFraming): OutgoingFraming {
    return framing === 0 && !ANNOUNCES_EMPTY.has(this.method) ? 'None' : framing
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#wheel?.remove(this, this.#slot)
    return true
  }
}

/** The hot path: an exchange goes out as it is. One object per request, no promise, no closure. */
export class ForwardCall extends UpstreamCall implements UpstreamCallHandle {
  readonly #exchange: Exchange
  readonly authority: string
  readonly #done: (exchange: Exchange) => void
  readonly #isConnect: boolean

  constructor(options: {
    exchange: Exchange
    target: UpstreamTarget
    authority: string
    isTunnel: boolean
    done: (exchange: Exchange) => void
  }) {
    super(options.target)
    this.#exchange = options.exchange
    this.authority = withoutDefaultPort(options.authority, options.target.tls !== undefined)
    this.#isConnect = options.isTunnel
    this.#done = options.done
  }

  get method(): string {
    return this.#exchange.request.method
  }

  get body(): OutgoingBody {
    return this.#exchange.request.body
  }

  get upgrade(): string | undefined {
    return this.#exchange.request.upgrade
  }

  get webSocketKey(): string | undefined {
    return this.#exchange.request.headers.get(KEY_FIELD)
  }

  get trailerSource(): TrailerSource | undefined {
    return this.#exchange.request.trailerSource
  }

  get client(): string {
    return this.#exchange.connection.sourceAddress
  }

  get isStreaming(): boolean {
    return this.#exchange.request.version === 'HTTP/2'
  }

  get preservesCase(): boolean {
    return this.#exchange.request.headers.wireNames !== undefined
  }

  get isTunnel(): boolean {
    return this.#isConnect
  }

  headText(framing: OutgoingFraming, proxyFields?: readonly string[]): string | undefined {
    const { request } = this.#exchange
    return requestHeadText({
      method: request.method,
      pathAndQuery: request.pathAndQuery,
      authority: this.authority,
      headers: proxyFields === undefined ? request.headers : forwardedFields(request.headers, proxyFields),
      framing: this.framingOf(framing),
      upgrade: request.upgrade,
      isForwarded: proxyFields !== undefined,
      trailerNames: framing === 'Chunked' ? announcement(request.trailerSource?.trailerNames) : undefined,
    })
  }

  http2Fields(scheme: string, length: number | undefined): string[] | undefined {
    const { method, pathAndQuery, headers, upgrade: protocol } = this.#exchange.request
    return requestFields({ method, scheme, authority: this.authority, pathAndQuery, headers, length, protocol })
  }

  abort(code: FailureCode): void {
    const isKnown = code === 'invalidRequest' || code === 'requestTimeoutRead'
    this.failed(isKnown ? code : 'upstreamFailure', 'the client closed the connection before the backend answered')
  }

  /** A raw connection is open (CONNECT): it becomes the body of a 200. */
  connected(tunnel: Tunnel): void {
    this.responded({ ...TUNNEL_HEAD, headers: new HeaderList() }, tunnel)
  }

  protected override onResponse(head: ResponseHead, body: OutgoingBody): void {
    const exchange = this.#exchange
    exchange.upstreamHeadMs = performance.now()
    exchange.upstreamCall = undefined
    exchange.response = new HttpResponse(head.status, head.headers, body, false)
    if (body instanceof IncomingBody && body.mayHaveTrailers) exchange.response.trailerSource = body
    this.#done(exchange)
  }

  protected override onFailure(code: CallFailure, detail: Detail): void {
    const exchange = this.#exchange
    exchange.upstreamCall = undefined
    exchange.isMovable = this.isMovable
    exchange.fail(code, forBackend(exchange.backendName, code, detail))
    this.#done(exchange)
  }
}

const TUNNEL_HEAD = { status: 200, framing: 'None', contentLength: 0, isKeepAlive: false, upgrade: undefined } as const

const ABORTED = 'aborted'

/** A call of its own, with its own outcome. Its handle ends it also while the body of its answer arrives. */
export class SendCall extends UpstreamCall implements UpstreamCallHandle {
  readonly upgrade = undefined
  readonly webSocketKey = undefined
  readonly trailerSource = undefined
  readonly client = undefined
  readonly isTunnel = false
  readonly isStreaming = true
  readonly #request: UpstreamRequest
  readonly #outcome: CallOutcome
  readonly #running: Set<SendCall> | undefined
  #answer: OutgoingBody = undefined

  /** `running` contains the call until its answer is over. */
  constructor(target: UpstreamTarget, request: UpstreamRequest, outcome: CallOutcome, running?: Set<SendCall>) {
    super(target)
    this.#request = request
    this.#outcome = outcome
    this.#running = running?.add(this)
  }

  get method(): string {
    return this.#request.method
  }

  get body(): OutgoingBody {
    return this.#request.body
  }

  get authority(): string {
    return withoutDefaultPort(this.#request.authority, this.target.tls !== undefined)
  }

  get preservesCase(): boolean {
    return false
  }

  headText(framing: OutgoingFraming, proxyFields?: readonly string[]): string | undefined {
    const { authority } = this
    const { method, pathAndQuery, headers } = this.#request
    return requestHeadText({
      method,
      pathAndQuery,
      authority,
      headers: proxyFields === undefined ? headers : forwardedFields(headers, proxyFields),
      framing: this.framingOf(framing),
      upgrade: undefined,
      isForwarded: proxyFields !== undefined,
    })
  }

  http2Fields(scheme: string, length: number | undefined): string[] | undefined {
    const { authority } = this
    const { method, pathAndQuery, headers } = this.#request
    return requestFields({ method, scheme, authority, pathAndQuery, headers, length })
  }

  abort(): void {
    this.failed('upstreamFailure', ABORTED)
    interruptBody(this.#answer, ABORTED)
  }

  protected override onResponse(head: ResponseHead, body: OutgoingBody): void {
    this.#answer = body
    if (body instanceof IncomingBody && body.isOpen) this.#runsUntil(body)
    else this.#running?.delete(this)
    this.#outcome.answered({
      status: head.status,
      headers: head.headers,
      body: body instanceof IncomingBody ? body : EMPTY_BODY,
    })
  }

  protected override onFailure(code: CallFailure, detail: Detail): void {
    this.#running?.delete(this)
    this.#outcome.failed(new UpstreamError(isKnown(code) ? code : 'upstreamFailure', detail, this.isMovable))
  }

  #runsUntil(body: IncomingBody): void {
    const running = this.#running
    if (running !== undefined) body.observe({ seen: () => {}, over: () => void running.delete(this) })
  }
}

function isKnown(code: CallFailure): code is UpstreamFailureCode {
  return DISTINCT.has(code)
}

const EMPTY_BODY: StreamBody = {
  length: 0,
  collect: () => Promise.resolve(Buffer.alloc(0)),
  tryCollect: () => Promise.resolve(Buffer.alloc(0)),
  cancel: () => {},
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
}
