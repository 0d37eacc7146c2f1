// Sends the calls of one replica to a fake API server in this process, on virtual time: responses take a moment, faults
// occur, and calls over a cut network get no response. For tests only.
import { setImmediate as turn } from 'node:timers/promises'
import type { KubeRequest, KubeResponse, StreamOptions, Transport } from '#operator/kube/transport.ts'
import { type FakeApi, type FakeCall, type Fault, refusalBody } from './api.ts'
import { Refused } from './store.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface DirectTransportOptions {
  readonly api: FakeApi
  readonly time: VirtualTime
  /** Time in one direction. */
  readonly latencyMs: () => number
  /** Called for every write when it happens. */
  readonly onWrite?: (call: FakeCall) => void
}

/** The same as in the operator. */
const ANSWER_MS_MAX = 30_000

export class DirectTransport implements Transport {
  readonly #options: DirectTransportOptions
  /** Breaks the current connections. */
  #network = new AbortController()
  #isCut = false

  constructor(options: DirectTransportOptions) {
    this.#options = options
  }

  /** From now on no bytes arrive in either direction, without an error. */
  cut(): void {
    this.#isCut = true
  }

  /** Existing connections are broken. */
  heal(): void {
    this.#isCut = false
    this.#network.abort(new Error('connection reset'))
    this.#network = new AbortController()
  }

  async send(request: KubeRequest, caller: AbortSignal): Promise<KubeResponse> {
    const { api, time } = this.#options
    const signal = AbortSignal.any([caller, this.#network.signal])
    await this.#travel(signal)
    const call = api.call(request.method, request.path)
    const fault = api.fault(call)
    if (fault?.kind === 'drop') throw new Error('socket hang up')
    if (fault?.kind === 'slow') await time.sleep(fault.ms, signal)
    const response = fault?.kind === 'status' ? injected(fault) : this.#answer(call, request)
    if (fault?.kind === 'lose-answer') throw new Error('socket hang up')
    await this.#travel(signal)
    time.touch()
    return response
  }

  async stream(
    request: KubeRequest,
    onEvent: (event: unknown) => void,
    { signal: caller, onOpen }: StreamOptions,
  ): Promise<KubeResponse> {
    const { api, time } = this.#options
    const ended = new AbortController()
    const signal = AbortSignal.any([caller, this.#network.signal, ended.signal])
    await this.#travel(signal)
    const call = api.call(request.method, request.path)
    const fault = api.fault(call)
    if (fault?.kind === 'status') return injected(fault)
    if (fault?.kind === 'drop' || fault?.kind === 'lose-answer') throw new Error('socket hang up')
    if (fault?.kind === 'slow') await time.sleep(fault.ms, signal)
    const event = (one: unknown): void => {
      const text = JSON.stringify(one)
      const deliver = (): void => {
        if (signal.aborted || this.#isCut) return
        time.touch()
        onEvent(JSON.parse(text))
      }
      // All events of a watch take the same time: their order stays.
      time.sleep(EVENT_MS, signal).then(deliver, ignoreAbort)
    }
    const drop = (): void => ended.abort(new Error('socket hang up'))
    return this.#follow(call, { event, drop, ...(onOpen && { onOpen }) }, signal)
  }

  close(): void {
    this.#network.abort(new Error('closed'))
  }

  async #follow(
    call: FakeCall,
    sink: { readonly event: (event: unknown) => void; readonly drop: () => void; readonly onOpen?: () => void },
    signal: AbortSignal,
  ): Promise<KubeResponse> {
    const { api, time } = this.#options
    let stop: (() => void) | undefined
    try {
      stop = api.watch(call, sink)
      sink.onOpen?.()
      const seconds = stop === undefined ? 0 : Number(call.query.get('timeoutSeconds') ?? 300)
      // The last events arrive before the end.
      await time.sleep(seconds * 1000 + EVENT_MS * 2, signal)
    } catch (error) {
      if (error instanceof Refused) return refused(error)
      throw error
    } finally {
      stop?.()
    }
    return { status: 200, body: undefined, retryAfterMs: undefined }
  }

  #answer(call: FakeCall, { method, contentType = 'application/json', body }: KubeRequest): KubeResponse {
    const { api, onWrite } = this.#options
    if (method !== 'GET') onWrite?.(call)
    try {
      const answer = api.answer(call, contentType, body === undefined ? undefined : copyOf(body))
      return { status: 200, body: copyOf(answer), retryAfterMs: undefined }
    } catch (error) {
      if (error instanceof Refused) return refused(error)
      throw error
    }
  }

  async #travel(signal: AbortSignal): Promise<void> {
    const { time, latencyMs } = this.#options
    // As with a socket, nothing returns before the caller continues.
    await turn()
    await time.sleep(latencyMs(), signal)
    if (!this.#isCut) return
    await time.sleep(ANSWER_MS_MAX, signal)
    throw new Error(`no answer within ${ANSWER_MS_MAX} ms`)
  }
}

const EVENT_MS = 1

function injected({ status, retryAfter }: Extract<Fault, { kind: 'status' }>): KubeResponse {
  const retryAfterMs = retryAfter === undefined ? undefined : retryAfter * 1000
  return { ...refused(new Refused(status, 'Injected', 'injected')), retryAfterMs }
}

function refused(error: Refused): KubeResponse {
  return { status: error.status, body: refusalBody(error), retryAfterMs: undefined }
}

function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** The stream has ended, and its reader has the reason. */
function ignoreAbort(): void {}
