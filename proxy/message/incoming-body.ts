// An incoming body: passed directly to a sink (socket to socket), iterated or collected; memory stays constant.
import { isAscii } from 'node:buffer'
import { BodyAborted, BodyTooLarge, type StreamBody } from './body.ts'
import { HeldBytes } from './held-bytes.ts'
import type { HeaderList } from './headers.ts'

/** The connection on which a body arrives. */
export interface BodySource {
  pauseBody(): void
  /** Also the first sign that a reader needs the body (`100 Continue`). */
  resumeBody(): void
  /** The reader does not need the rest. */
  cancelBody(): void
}

/** Receives a body as it arrives. */
export interface BodySink {
  /** The range is valid only during the call. False: full, `IncomingBody.resume()` will follow. */
  bodyChunk(buffer: Buffer, start: number, end: number): boolean
  bodyEnd(): void
  bodyError(error: Error): void
  /** Other code cancelled the body: no more bytes follow. */
  bodyCancelled?(): void
}

/** Observes the bytes of a body without changing them. */
export interface BodyObserver {
  /** The range is valid only during the call. */
  seen(buffer: Buffer, start: number, end: number): void
  /** The body ended, failed, or its reader cancelled it. */
  over(): void
}

interface Awaited {
  readonly bytes: number
  readonly done: () => void
}

/** Bytes that an iterator holds before the peer is paused. */
const ITERATOR_BYTES_MAX = 65_536
const CANCELLED = 'body was cancelled'

type State = 'Open' | 'Ended' | 'Failed' | 'Cancelled'

export class IncomingBody implements StreamBody {
  readonly length: number | undefined
  /** Set before the end of the body by a source that may have trailers (chunked, HTTP/2). */
  trailers: HeaderList | undefined = undefined
  trailerNames: string | undefined = undefined
  mayHaveTrailers = false
  readonly #source: BodySource
  #state: State = 'Open'
  #error: Error | undefined = undefined
  #isTaken = false
  #sink: BodySink | undefined = undefined
  #observer: BodyObserver | undefined = undefined
  /**
   * Owned copies; before a sink exists, at most the bytes of one read, since the source is paused then, or those that
   * `awaitBytes` requested.
   */
  #queue: HeldBytes | undefined = undefined
  /** The read buffer, borrowed until `settle`: most small bodies are forwarded during the call and never copied. */
  #loan: Buffer | undefined = undefined
  #loanStart = 0
  #loanEnd = 0
  /** Latin1 text of the complete body, if it was read before it is taken. */
  #text: string | undefined = undefined
  /** A caller waits for bytes without reading them. */
  #awaited: Awaited | undefined = undefined

  constructor(source: BodySource, length: number | undefined) {
    this.#source = source
    this.length = length
  }

  /** No reader has started. */
  get isUntouched(): boolean {
    return !this.#isTaken
  }

  /** More bytes may arrive. */
  get isOpen(): boolean {
    return this.#state === 'Open'
  }

  get isEnded(): boolean {
    return this.#state === 'Ended'
  }

  /** The peer closed the connection or sent invalid framing. */
  get isFailed(): boolean {
    return this.#state === 'Failed'
  }

  // --- for the source ---

  push(buffer: Buffer, start: number, end: number): void {
    if (start === end || this.#state !== 'Open') return
    if (this.#observer !== undefined) this.#observer.seen(buffer, start, end)
    if (this.#sink !== undefined) {
      if (!this.#sink.bodyChunk(buffer, start, end)) this.#source.pauseBody()
    } else if (this.#loan === undefined && this.#queue === undefined) {
      this.#loan = buffer
      this.#loanStart = start
      this.#loanEnd = end
    } else {
      this.#keepLoan()
      this.#queue?.append(buffer, start, end)
    }
    if (this.#awaited !== undefined && this.heldBytes >= this.#awaited.bytes) this.#tellAwaited()
  }

  /** Trailers may follow the last chunk, announced or not. */
  expectTrailers(names: string | undefined): this {
    this.mayHaveTrailers = true
    this.trailerNames = names
    return this
  }

  /** Like `end`, when the trailers have arrived or are known to be absent. */
  endWith(trailers: HeaderList | undefined): void {
    this.trailers = trailers
    this.mayHaveTrailers = trailers !== undefined
    this.end()
  }

  /** Before the read buffer is reused: copies the unread bytes, and pauses the peer. */
  settle(): void {
    if (this.#loan !== undefined) this.#keepLoan()
    if (this.#queue !== undefined && this.#state === 'Open' && this.#awaited === undefined) this.#source.pauseBody()
  }

  end(): void {
    if (this.#state !== 'Open') return
    this.#state = 'Ended'
    this.#observer?.over()
    this.#sink?.bodyEnd()
    this.#tellAwaited()
  }

  fail(error: Error): void {
    if (this.#state !== 'Open') return
    this.#state = 'Failed'
    this.#error = error
    this.#drop()
    this.#observer?.over()
    this.#sink?.bodyError(error)
    this.#tellAwaited()
  }

  /** Observes all later bytes, and those that have arrived unread. */
  observe(observer: BodyObserver): void {
    for (const chunk of this.#queue?.chunks() ?? []) observer.seen(chunk, 0, chunk.length)
    if (this.#loan !== undefined) observer.seen(this.#loan, this.#loanStart, this.#loanEnd)
    if (this.#state !== 'Open') observer.over()
    else this.#observer = this.#observer === undefined ? observer : bothOf(this.#observer, observer)
  }

  // --- for the consumer ---

  /** The complete body as latin1 text, if it has arrived and is not larger than `bytesMax`; marks it as read then. */
  takeWhole(bytesMax: number): string | undefined {
    const read = this.#text
    if (read !== undefined && read.length <= bytesMax && !this.#isTaken) {
      this.#isTaken = true
      this.#drop()
      return read
    }
    if (this.#isTaken || this.#state !== 'Ended' || this.#queue !== undefined) return this.#takeQueue(bytesMax)
    if (this.#loan === undefined) {
      this.#isTaken = true
      return ''
    }
    if (this.#loanEnd - this.#loanStart > bytesMax) return undefined
    this.#isTaken = true
    const text = this.#loan.toString('latin1', this.#loanStart, this.#loanEnd)
    this.#loan = undefined
    return text
  }

  /**
   * As `takeWhole`, for an observer: the body can still be read. undefined also if the body is empty, or did not arrive
   * in one read.
   */
  wholeText(bytesMax: number): string | undefined {
    const loan = this.#loan
    if (this.#isTaken || this.#state !== 'Ended' || this.#queue !== undefined || loan === undefined) return undefined
    if (this.#loanEnd - this.#loanStart > bytesMax) return undefined
    return (this.#text ??= loan.toString('latin1', this.#loanStart, this.#loanEnd))
  }

  /** As `takeWhole`: a string if all bytes are ASCII. */
  takeArrived(bytesMax: number): string | Buffer | undefined {
    if (this.#isTaken || this.#state !== 'Ended' || this.heldBytes > bytesMax) return undefined
    this.#isTaken = true
    this.#text = undefined
    const loan = this.#loan?.subarray(this.#loanStart, this.#loanEnd)
    if (loan !== undefined && this.#queue === undefined) {
      this.#loan = undefined
      return isAscii(loan) ? loan.toString('latin1') : Buffer.from(loan)
    }
    const bytes = this.#takeHeld()
    return isAscii(bytes) ? bytes.toString('latin1') : bytes
  }

  /** As `takeWhole`, as bytes. */
  takeBytes(bytesMax: number): Buffer | undefined {
    if (this.#isTaken || this.#state !== 'Ended' || this.heldBytes > bytesMax) return undefined
    this.#isTaken = true
    return this.#takeHeld()
  }

  /** Unread bytes that have arrived. */
  get heldBytes(): number {
    return (this.#queue?.bytes ?? 0) + (this.#loan === undefined ? 0 : this.#loanEnd - this.#loanStart)
  }

  /**
   * Calls back when this number of unread bytes has arrived, or the body ended, failed or was cancelled. One call at a
   * time. For small numbers only: the bytes are held in memory.
   */
  awaitBytes(bytes: number, done: () => void): void {
    this.#awaited = { bytes, done }
    if (this.#state === 'Open' && this.heldBytes < bytes) this.#source.resumeBody()
    else this.#tellAwaited()
  }

  #tellAwaited(): void {
    const awaited = this.#awaited
    this.#awaited = undefined
    awaited?.done()
  }

  /** @throws {Error} if the body was already read. */
  pipeTo(sink: BodySink): void {
    if (this.#isTaken) throw new Error('a body can be read only once')
    this.#isTaken = true
    this.#sink = sink
    let hasRoom = true
    for (const chunk of this.#queue?.chunks() ?? []) hasRoom = sink.bodyChunk(chunk, 0, chunk.length)
    if (this.#loan !== undefined) hasRoom = sink.bodyChunk(this.#loan, this.#loanStart, this.#loanEnd)
    this.#drop()
    if (this.#state === 'Open') {
      if (hasRoom) this.#source.resumeBody()
      else this.#source.pauseBody()
    } else if (this.#state === 'Ended') sink.bodyEnd()
    else sink.bodyError(this.#error ?? new BodyAborted(CANCELLED))
  }

  /** The sink has room again. */
  resume(): void {
    if (this.#state === 'Open') this.#source.resumeBody()
  }

  /** The sink is full outside of `bodyChunk`. */
  pause(): void {
    if (this.#state === 'Open') this.#source.pauseBody()
  }

  /** The consumer cancels; no effect after the end. */
  cancel(): void {
    const sink = this.#sink
    this.#isTaken = true
    this.#drop()
    this.#sink = undefined
    if (this.#state !== 'Open') return
    this.#state = 'Cancelled'
    this.#observer?.over()
    this.#source.cancelBody()
    this.#tellAwaited()
    sink?.bodyCancelled?.()
  }

  /** Another sink gets what has not arrived yet. The former one sees a cancellation, and loses what it has not read. */
  replaceSink(sink: BodySink): void {
    const former = this.#sink
    this.#isTaken = true
    this.#drop()
    former?.bodyCancelled?.()
    if (this.#state !== 'Open') return
    this.#sink = sink
    this.#source.resumeBody()
  }

  /** The deadline passed: cancels the source, and fails the read of the consumer. */
  interrupt(error: Error): void {
    if (this.#state !== 'Open') return
    this.fail(error)
    this.#source.cancelBody()
  }

  collect(bytesMax: number): Promise<Buffer> {
    if (this.length !== undefined && this.length > bytesMax && !this.#isTaken) {
      this.#isTaken = true
      return Promise.reject(new BodyTooLarge(bytesMax))
    }
    return new Promise((resolve, reject) => {
      this.pipeTo(new Collector({ bytesMax, resolve, reject }))
    })
  }

  tryCollect(bytesMax: number, options?: { readonly keepsPrefix?: boolean }): Promise<Buffer | undefined> {
    const isTooLong = this.length !== undefined && this.length > bytesMax
    if (isTooLong && options?.keepsPrefix !== true && !this.#isTaken) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      const onOverflow = (held: HeldBytes): void => {
        this.#sink = undefined
        this.#queue = held
        this.#isTaken = false
        resolve(undefined)
      }
      this.pipeTo(new Collector({ bytesMax, resolve, reject, onOverflow }))
    })
  }

  peek(bytesMax: number): Buffer {
    const chunks = [...(this.#queue?.chunks() ?? [])]
    if (this.#loan !== undefined) chunks.push(this.#loan.subarray(this.#loanStart, this.#loanEnd))
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    return Buffer.concat(chunks, Math.min(bytesMax, length))
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer, undefined> {
    const iterator = new BodyIterator(this)
    this.pipeTo(iterator)
    return iterator
  }

  #takeHeld(): Buffer {
    this.#text = undefined
    this.#keepLoan()
    const bytes = (this.#queue ?? new HeldBytes()).whole()
    this.#queue = undefined
    return bytes
  }

  #takeQueue(bytesMax: number): string | undefined {
    if (this.#isTaken || this.#state !== 'Ended' || this.#queue === undefined) return undefined
    if (this.#queue.bytes > bytesMax) return undefined
    this.#isTaken = true
    let text = ''
    for (const chunk of this.#queue.chunks()) text += chunk.toString('latin1')
    this.#queue = undefined
    return text
  }

  #keepLoan(): void {
    if (this.#loan !== undefined) {
      ;(this.#queue ??= new HeldBytes()).append(this.#loan, this.#loanStart, this.#loanEnd)
    }
    this.#loan = undefined
  }

  #drop(): void {
    this.#text = undefined
    this.#queue = undefined
    this.#loan = undefined
  }
}

/** Ends a body that is still arriving, for consumers that wait for more. */
export function interruptBody(body: unknown, reason: string): void {
  if (body instanceof IncomingBody) body.interrupt(new BodyAborted(reason))
}

function bothOf(one: BodyObserver, other: BodyObserver): BodyObserver {
  return {
    seen(buffer, start, end) {
      one.seen(buffer, start, end)
      other.seen(buffer, start, end)
    },
    over() {
      one.over()
      other.over()
    },
  }
}

interface CollectorOptions {
  readonly bytesMax: number
  readonly resolve: (bytes: Buffer) => void
  readonly reject: (error: Error) => void
  /** Returns all received bytes instead of a rejection, after the call that exceeded the limit. */
  readonly onOverflow?: (held: HeldBytes) => void
}

class Collector implements BodySink {
  readonly #options: CollectorOptions
  #held = new HeldBytes()
  #bytes = 0
  #isOver = false

  constructor(options: CollectorOptions) {
    this.#options = options
  }

  bodyChunk(buffer: Buffer, start: number, end: number): boolean {
    const { bytesMax, onOverflow } = this.#options
    this.#bytes += end - start
    const fits = this.#bytes <= bytesMax
    if (fits || onOverflow !== undefined) this.#held.append(buffer, start, end)
    if (!fits && !this.#isOver) this.#overflow()
    return fits
  }

  #overflow(): void {
    const { bytesMax, onOverflow, reject } = this.#options
    this.#isOver = true
    if (onOverflow !== undefined) {
      // The source is paused from now on; bytes that it has already read still belong to the body.
      queueMicrotask(() => onOverflow(this.#held))
      return
    }
    this.#held = new HeldBytes()
    reject(new BodyTooLarge(bytesMax))
  }

  bodyEnd(): void {
    if (this.#isOver) return
    this.#options.resolve(this.#held.whole())
  }

  bodyError(error: Error): void {
    if (!this.#isOver) this.#options.reject(error)
  }

  bodyCancelled(): void {
    this.bodyError(new BodyAborted(CANCELLED))
  }
}

class BodyIterator implements AsyncIterator<Buffer, undefined>, BodySink {
  readonly #body: IncomingBody
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #isEnded = false
  #error: Error | undefined = undefined
  #waiting: { resolve: (result: IteratorResult<Buffer, undefined>) => void; reject: (error: Error) => void } | undefined

  constructor(body: IncomingBody) {
    this.#body = body
  }

  bodyChunk(buffer: Buffer, start: number, end: number): boolean {
    const chunk = Buffer.from(buffer.subarray(start, end))
    if (this.#waiting !== undefined) {
      const { resolve } = this.#waiting
      this.#waiting = undefined
      resolve({ done: false, value: chunk })
      return true
    }
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    return this.#bytes < ITERATOR_BYTES_MAX
  }

  bodyEnd(): void {
    this.#isEnded = true
    this.#waiting?.resolve({ done: true, value: undefined })
    this.#waiting = undefined
  }

  bodyError(error: Error): void {
    this.#error = error
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }

  /** A pending `next` ends the iteration, also when another caller used `return` or cancelled the body. */
  bodyCancelled(): void {
    this.#chunks.length = 0
    this.#bytes = 0
    this.bodyEnd()
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) {
      this.#bytes -= chunk.length
      if (this.#bytes === 0) this.#body.resume()
      return Promise.resolve({ done: false, value: chunk })
    }
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    // After its end, another sink may have the rest of the body.
    if (!this.#isEnded) this.#body.cancel()
    return Promise.resolve({ done: true, value: undefined })
  }
}
