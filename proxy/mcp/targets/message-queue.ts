// Messages that wait for their reader: of a server whose event stream has several readers, or for a client whose event
// stream has several sources.
import type { JsonRpcMessage } from '../jsonrpc.ts'
import type { Cancellable } from '../../message/body.ts'
import { TargetError } from './target.ts'

/** Unread messages of one reader; one larger message is kept if it is the only one. */
export const UNREAD_BYTES_MAX = 32 * 1024 * 1024
export const UNREAD_MESSAGES_MAX = 4096

interface Waiting<T> {
  readonly message: T
  readonly bytes: number
}

export interface QueueLimits {
  readonly idleMs: number
  /** `performance.now()` of the end; Infinity: none. */
  readonly deadlineMs: number
  /** Of the client's connection. */
  readonly signal: AbortSignal
}

interface Reader<T> {
  readonly resolve: (step: IteratorResult<T, void>) => void
  readonly reject: (error: unknown) => void
}

const DONE = { done: true, value: undefined } as const

export class MessageQueue<T = JsonRpcMessage> implements Cancellable<T>, AsyncIterator<T, void> {
  readonly #release: () => void
  readonly #waiting: Waiting<T>[] = []
  #bytes = 0
  #reader: Reader<T> | undefined = undefined
  #isOver = false
  #error: Error | undefined = undefined
  #idle: NodeJS.Timeout | undefined = undefined
  #limits: (() => void) | undefined = undefined

  /** `release`: called once, when no further message is needed. */
  constructor(release: () => void) {
    this.#release = release
  }

  /** Ends the queue if the server sends nothing for `idleMs`, at the deadline, or when the client disconnects. */
  limit({ idleMs, deadlineMs, signal }: QueueLimits): void {
    if (this.#isOver) return
    const onTime = (): void => this.end(new TargetError('the server did not respond in time'))
    const onAbort = (): void => this.cancel()
    this.#idle = setTimeout(onTime, idleMs)
    const timer = deadlineMs === Infinity ? undefined : setTimeout(onTime, deadlineMs - performance.now())
    signal.addEventListener('abort', onAbort)
    this.#limits = () => {
      clearTimeout(this.#idle)
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** `bytes`: of its text. A reader that is too slow gets an error after the messages that wait for it. */
  push(message: T, bytes: number): void {
    if (this.#isOver) return
    this.#idle?.refresh()
    if (this.#reader !== undefined) {
      const { resolve } = this.#reader
      this.#reader = undefined
      resolve({ done: false, value: message })
      return
    }
    const isFull = this.#bytes + bytes > UNREAD_BYTES_MAX || this.#waiting.length >= UNREAD_MESSAGES_MAX
    if (isFull && this.#waiting.length > 0) {
      this.end(new TargetError('the client does not read the messages of the server'))
      return
    }
    this.#bytes += bytes
    this.#waiting.push({ message, bytes })
  }

  /** No message follows. `error` undefined: as expected. */
  end(error?: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#limits?.()
    this.#release()
    const reader = this.#reader
    this.#reader = undefined
    if (reader === undefined) this.#error = error
    else if (error === undefined) reader.resolve(DONE)
    else reader.reject(error)
  }

  cancel(): void {
    this.#waiting.length = 0
    this.end()
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void> {
    return this
  }

  next(): Promise<IteratorResult<T, void>> {
    const first = this.#waiting.shift()
    if (first !== undefined) {
      this.#bytes -= first.bytes
      return Promise.resolve({ done: false, value: first.message })
    }
    const error = this.#error
    this.#error = undefined
    if (error !== undefined) return Promise.reject(error)
    if (this.#isOver) return Promise.resolve(DONE)
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<T, void>>()
    this.#reader = { resolve, reject }
    return promise
  }

  return(): Promise<IteratorResult<T, void>> {
    this.cancel()
    return Promise.resolve(DONE)
  }
}
