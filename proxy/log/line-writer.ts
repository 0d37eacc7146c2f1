// Writes log lines of all threads to one file descriptor, in order and never two writes at a time, so that lines of
// different workers cannot mix. Runs in the main thread.
import { write as fsWrite, writeSync } from 'node:fs'
import type { LineRingReader } from './line-ring.ts'
import { LINE_BYTES_MAX, lineRingReader } from './line-ring.ts'

/** While lines arrive, rings are read at this interval; no wake for every line. */
const DRAIN_INTERVAL_MS = 5
/** Waiting lines of the main thread; beyond it the main thread waits for the descriptor. */
const QUEUED_BYTES_MAX = 8 * 1024 * 1024
/** Lines of rings in one write: 100 MB/s at the interval above. Rings with more fill up and block their writers. */
const SPACE_BYTES = 2 * LINE_BYTES_MAX
/** A full pipe returns EAGAIN: the pause before the next try. */
const RETRY_MS = 2
/** The limit for a synchronous write to a descriptor without a reader. */
const SYNC_MS_MAX = 2000
/** For the last lines of a process whose reader may be gone. */
export const FLUSH_MS_MAX = 2000
const ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])

export interface LineWriter {
  /** A line of the main thread itself. */
  write(line: string): void
  /** Starts reading a worker's ring. */
  attach(ring: SharedArrayBuffer): void
  /** Reads the rest of a dead worker's ring and removes the ring. */
  detach(ring: SharedArrayBuffer): void
  /** The writer of a ring has lines, and the reader sleeps. */
  wake(): void
  /** Writes all lines synchronously. For the end of the process. */
  flushSync(): void
  /** Resolves when all previous lines are written. */
  flush(): Promise<void>
}

export function createLineWriter(fd: number): LineWriter {
  return new FdLineWriter(fd)
}

class FdLineWriter implements LineWriter {
  readonly #fd: number
  readonly #rings = new Map<SharedArrayBuffer, LineRingReader>()
  #queue: Buffer[] = []
  #queuedBytes = 0
  /**
   * Lines from rings to the descriptor. Reused: with a new buffer for each write, V8 would collect the whole heap about
   * once a second.
   */
  readonly #space = Buffer.allocUnsafeSlow(SPACE_BYTES)
  #isWriting = false
  #timer: NodeJS.Timeout | undefined = undefined
  #waiters: (() => void)[] = []
  /** The descriptor failed (EPIPE, EBADF): lines are discarded, the proxy continues to serve. */
  #isBroken = false
  /** Lines were lost after the last successful write, and this was reported. */
  #isLosing = false

  constructor(fd: number) {
    this.#fd = fd
  }

  write(line: string): void {
    this.#push(Buffer.from(line, 'utf8'))
    // The queue is limited for the main thread too: it waits for the descriptor.
    if (this.#queuedBytes > QUEUED_BYTES_MAX && !this.#isWriting) this.flushSync()
    else this.#pump()
  }

  attach(ring: SharedArrayBuffer): void {
    this.#rings.set(ring, lineRingReader(ring))
    this.wake()
  }

  detach(ring: SharedArrayBuffer): void {
    const rest = this.#rings.get(ring)?.take()
    this.#rings.delete(ring)
    if (rest !== undefined) this.#push(rest)
    this.#pump()
  }

  wake(): void {
    this.#drain()
  }

  flush(): Promise<void> {
    this.#collect()
    this.#pump()
    if (this.#isIdle()) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiters.push(resolve)
    })
  }

  flushSync(): void {
    this.#collect()
    for (const chunk of this.#takeQueue()) if (!this.#isBroken) this.#writeAllSync(chunk)
  }

  #isIdle(): boolean {
    return this.#queue.length === 0 && !this.#isWriting
  }

  #push(chunk: Buffer): void {
    this.#queue.push(chunk)
    this.#queuedBytes += chunk.length
  }

  #takeQueue(): readonly Buffer[] {
    const taken = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    return taken
  }

  /** Reads all lines of the rings into the queue. */
  #collect(): void {
    for (const ring of this.#rings.values()) {
      const chunk = ring.take()
      if (chunk !== undefined) this.#push(chunk)
    }
  }

  /** While lines arrive, they are written at intervals; the rings wait during a write. */
  #drain(): void {
    if (this.#timer !== undefined) return
    const isActive = this.#isWriting || this.#writeRings()
    if (!isActive && this.#sleep()) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#drain()
    }, DRAIN_INTERVAL_MS)
    this.#timer.unref()
  }

  #sleep(): boolean {
    let isAsleep = true
    for (const ring of this.#rings.values()) if (!ring.sleep()) isAsleep = false
    return isAsleep
  }

  /** True if a ring had lines. No other write runs. */
  #writeRings(): boolean {
    let length = 0
    this.#turn()
    for (const ring of this.#rings.values()) {
      if (SPACE_BYTES - length < LINE_BYTES_MAX) break
      length += ring.takeInto(this.#space.subarray(length))
    }
    if (length === 0) return false
    if (!this.#isBroken) this.#writeAsync(this.#space.subarray(0, length))
    return true
  }

  /** Starts with another ring each time, so that a busy ring leaves room for the others. */
  #turn(): void {
    const [first] = this.#rings
    if (first === undefined) return
    this.#rings.delete(first[0])
    this.#rings.set(...first)
  }

  /** Writes the queue, unless a write runs, which continues with the queue at its end. */
  #pump(): void {
    if (this.#isWriting || this.#queue.length === 0) return
    const queued = this.#takeQueue()
    const [only] = queued
    if (!this.#isBroken && only !== undefined) this.#writeAsync(queued.length === 1 ? only : Buffer.concat(queued))
    this.#settle()
  }

  #writeAsync(chunk: Buffer): void {
    this.#isWriting = true
    fsWrite(this.#fd, chunk, 0, chunk.length, null, (error, written) => {
      const isLost = error !== null && error.code !== 'EAGAIN' && error.code !== 'EINTR'
      if (isLost) this.#lost(error)
      else if (error === null) this.#isLosing = false
      const taken = error === null ? written : 0
      const rest = chunk.subarray(isLost ? chunk.length : taken)
      if (rest.length === 0) {
        this.#isWriting = false
        this.#pump()
        this.#settle()
      } else if (error === null) this.#writeAsync(rest)
      else setTimeout(() => this.#writeAsync(rest), RETRY_MS)
    })
  }

  /** A full disk may have room again; any other error is final. */
  #lost(error: unknown): void {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (!ROOM.has(code)) this.#isBroken = true
    if (this.#isLosing) return
    this.#isLosing = true
    const until = this.#isBroken ? 'from now on' : 'until there is room'
    tellOnStderr(`gw: cannot write the log (${code}): log lines are lost ${until}\n`, this.#fd)
  }

  #settle(): void {
    if (!this.#isIdle()) return
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }

  #writeAllSync(chunk: Buffer): void {
    let at = 0
    const deadline = performance.now() + SYNC_MS_MAX
    while (at < chunk.length && performance.now() < deadline) {
      try {
        at += writeSync(this.#fd, chunk, at)
      } catch (error) {
        if (!isRetryable(error)) {
          this.#lost(error)
          return
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
      }
    }
  }
}

const STDERR = 2

/** Reports that the log itself does not work. */
function tellOnStderr(line: string, brokenFd: number): void {
  if (brokenFd === STDERR) return
  try {
    writeSync(STDERR, line)
  } catch {
    // stderr does not work either.
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EINTR')
}
