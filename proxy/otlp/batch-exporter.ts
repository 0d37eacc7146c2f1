// Gathers records of one destination and sends them in batches, off the request path. Bounded: what does not fit is
// dropped and counted. Knows neither what it sends nor how (transport.ts).

/** Data-plane supplement section 7.8: the defaults of the OpenTelemetry SDKs. */
export const QUEUE_MAX = 2048
export const BATCH_MAX = 512
export const BATCH_DELAY_MS = 5000
export const EXPORT_TIMEOUT_MS = 10_000
/** A batch that a collector puts off is sent this often in all. */
const TRIES_MAX = 5
const LAST_TRIES_MAX = 2
const BACKOFF_MS = 1000
const BACKOFF_FACTOR = 2
const BACKOFF_MS_MAX = 30_000

/** What became of one batch. */
export type SendOutcome =
  /** `rejected`: records that the collector did not take. */
  | { readonly kind: 'Accepted'; readonly rejected: number }
  /** The export may be retried, after `afterMs` if the collector requests a delay. */
  | { readonly kind: 'Later'; readonly afterMs: number | undefined; readonly detail: string }
  | { readonly kind: 'Refused'; readonly detail: string }

export type ExportResult = 'exported' | 'rejected' | 'failed' | 'dropped'

export interface ExporterUser<T> {
  /** Never throws and never rejects. */
  send(batch: readonly T[], timeoutMs: number): Promise<SendOutcome>
  /** `detail`: why, for the log. */
  counted(result: ExportResult, count: number, detail?: string): void
}

export class BatchExporter<T> {
  /** Replaced when a configuration has another way to the same destination. */
  user: ExporterUser<T>
  readonly #delayMs: number
  #queue: T[] = []
  #timer: NodeJS.Timeout | undefined = undefined
  #running: Promise<void> | undefined = undefined
  /** Aborted when nothing may wait any longer. */
  readonly #closing = new AbortController()
  #isClosed = false
  #deadlineMs = Infinity

  constructor(user: ExporterUser<T>, delayMs: number) {
    this.user = user
    this.#delayMs = delayMs
  }

  add(record: T): void {
    if (this.#isClosed || this.#queue.length >= QUEUE_MAX) {
      this.user.counted('dropped', 1, 'the queue is full')
      return
    }
    this.#queue.push(record)
    if (this.#queue.length >= BATCH_MAX) this.#start()
    else this.#timer ??= setTimeout(() => this.#start(), this.#delayMs).unref()
  }

  /** Sends what is there; resolves when it is gone, one way or the other. */
  async flush(): Promise<void> {
    this.#start()
    await this.#running
  }

  /** The last flush: what is left after `timeoutMs` is dropped and counted. Adds nothing afterwards. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true
    this.#deadlineMs = performance.now() + timeoutMs
    this.#closing.abort()
    await this.flush()
    this.#drop('no time was left')
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#running !== undefined || this.#queue.length === 0) return
    this.#running = this.#run().finally(() => {
      this.#running = undefined
      // Records that came meanwhile wait for their own time.
      if (this.#queue.length >= BATCH_MAX) this.#start()
      else if (this.#queue.length > 0) this.#timer ??= setTimeout(() => this.#start(), this.#delayMs).unref()
    })
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 && performance.now() < this.#deadlineMs) {
      const batch = this.#queue.splice(0, BATCH_MAX)
      await this.#sendWhole(batch)
    }
  }

  async #sendWhole(batch: readonly T[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const timeoutMs = Math.min(EXPORT_TIMEOUT_MS, this.#deadlineMs - performance.now())
      const outcome = await this.user.send(batch, timeoutMs)
      if (outcome.kind === 'Accepted') {
        const rejected = Math.min(outcome.rejected, batch.length)
        if (rejected > 0) this.user.counted('rejected', rejected, 'the collector rejected them')
        if (rejected < batch.length) this.user.counted('exported', batch.length - rejected)
        return
      }
      const waitMs = outcome.kind === 'Later' ? (outcome.afterMs ?? backoffMs(attempt)) : 0
      // A shutdown does not wait for a collector that is away: one more try, at once.
      const triesMax = this.#isClosed ? LAST_TRIES_MAX : TRIES_MAX
      if (outcome.kind === 'Refused' || attempt >= triesMax || waitMs > BACKOFF_MS_MAX) {
        this.user.counted('failed', batch.length, outcome.detail)
        return
      }
      await pause(waitMs, this.#closing.signal)
    }
  }

  #drop(reason: string): void {
    if (this.#queue.length > 0) this.user.counted('dropped', this.#queue.length, reason)
    this.#queue = []
  }
}

/** Exponential with full jitter above half, so that many proxies do not come back at one time. */
function backoffMs(attempt: number): number {
  const whole = Math.min(BACKOFF_MS * BACKOFF_FACTOR ** (attempt - 1), BACKOFF_MS_MAX)
  return whole * (0.5 + Math.random() / 2)
}

/** Ends early when nothing may wait any longer; keeps no process alive. */
function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, waitMs).unref()
    signal.addEventListener('abort', end, { once: true })
  })
}
