// `initialize` at a server over Streamable HTTP. A client may leave before the answer, or its time may be up. Then the
// gateway awaits the answer a little longer, only for the id of the session that the server opens, and ends this.
import { FAILURES } from '../../exchange/errors.ts'
import type { StreamBody } from '../../message/body.ts'
import { IncomingBody } from '../../message/incoming-body.ts'
import { TargetError } from './target.ts'

/** For the head of an answer that no client waits for. */
export const LATE_MS = 10_000
/** Answers of one worker that no client waits for: each may hold a connection. Further calls are dropped. */
export const LATE_MAX = 256

let lateCount = 0

export interface OpeningLimits {
  /** Of the server. */
  readonly name: string
  /** Of the client's connection. */
  readonly client: AbortSignal
  /** `performance.now()`, as long as the client waits. */
  readonly deadlineMs: number
}

export class Opening {
  readonly #limits: OpeningLimits
  /** Ends the call. */
  readonly #call = new AbortController()
  readonly #left = (): void => this.#giveUp('the client has left')
  readonly #deadline: NodeJS.Timeout | undefined
  #late: NodeJS.Timeout | undefined = undefined
  /** Set while the head is awaited. */
  #reject: ((error: Error) => void) | undefined = undefined

  constructor(limits: OpeningLimits) {
    this.#limits = limits
    const { client, deadlineMs } = limits
    if (client.aborted) this.#call.abort()
    else client.addEventListener('abort', this.#left)
    const onTime = (): void => this.#giveUp(FAILURES.upstreamTimeout.text)
    this.#deadline = setTimeout(onTime, Math.max(0, deadlineMs - performance.now()))
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  /**
   * The head of the answer. `unused`: gets a head that no caller waits for; its body is not read.
   * @throws {TargetError} The client has left, or its time is up.
   */
  head<T extends { readonly response: { readonly body: StreamBody } }>(
    calling: Promise<T>,
    unused: (head: T) => void,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#reject = reject
    calling.then(
      (head) => {
        if (this.#reject === undefined) {
          this.#end()
          head.response.body.cancel()
          unused(head)
          return
        }
        this.#reject = undefined
        this.#untilEnd(head.response.body)
        resolve(head)
      },
      (error: unknown) => {
        this.#end()
        reject(error)
      },
    )
    return promise
  }

  /** The body has a deadline of its own; a client that leaves ends it. */
  #untilEnd(body: StreamBody): void {
    clearTimeout(this.#deadline)
    if (body instanceof IncomingBody) body.observe({ seen: () => {}, over: () => this.#end() })
    else this.#end()
  }

  #giveUp(reason: string): void {
    const reject = this.#reject
    this.#reject = undefined
    clearTimeout(this.#deadline)
    if (reject === undefined || lateCount >= LATE_MAX) this.#call.abort()
    else {
      lateCount++
      this.#late = setTimeout(() => this.#call.abort(), LATE_MS)
    }
    reject?.(new TargetError(`${this.#limits.name}: ${reason}`))
  }

  #end(): void {
    this.#limits.client.removeEventListener('abort', this.#left)
    clearTimeout(this.#deadline)
    if (this.#late === undefined) return
    clearTimeout(this.#late)
    this.#late = undefined
    lateCount--
  }
}
