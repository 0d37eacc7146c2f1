// Main's side of watching: arms every worker for a watcher, passes on the events of the one that got a request,
// disarms the others. Knows neither HTTP nor workers, only ports.
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { CLAIM_BYTES, type InspectRequest, type TraceReport, type WatchClaim } from './messages.ts'
import type { TraceEvent } from './trace-writer.ts'

/** A thread that can be asked about itself. */
export interface Inspectable {
  /** Number of the worker. */
  readonly slot: number
  inspect(request: InspectRequest, port: MessagePort): void
}

/** Each call returns at once; a watcher that is behind has to drop what it is given. */
export interface Watcher {
  /** All workers that run are armed. Once. */
  ready(): void
  event(json: string): void
  /** The expression failed for that many more requests. */
  failed(message: string, count: number): void
  /** Nothing follows. */
  end(): void
}

/** Every waiting watch costs each worker an expression for each request. */
const WATCHES_MAX = 16

export class TraceHub {
  readonly #workers: () => readonly Inspectable[]
  readonly #watches = new Set<Watch>()
  /** Events that watchers who were behind did not get. */
  dropped = 0

  constructor(workers: () => readonly Inspectable[]) {
    this.#workers = workers
  }

  /** undefined: there are too many already. `isFirst`: other watches do not get its request. */
  watch(expression: string | undefined, watcher: Watcher, isFirst = false): { stop(): void } | undefined {
    if (this.#watches.size >= WATCHES_MAX) return undefined
    const watch = new Watch(
      { expression, isFirst },
      {
        ...watcher,
        end: () => {
          this.#watches.delete(watch)
          watcher.end()
        },
      },
    )
    this.#watches.add(watch)
    // After the answer of this call is in the caller's hands.
    setImmediate(() => watch.begin(this.#workers()))
    return {
      stop: () => {
        this.#watches.delete(watch)
        watch.stop()
      },
    }
  }

  /** A worker that came later, in the place of a dead one. */
  workerStarted(worker: Inspectable): void {
    for (const watch of this.#watches) watch.arm(worker)
  }
}

/** As a claimant: the watch is over. */
const UNCLAIMED = -1

interface Armed {
  readonly port: MessagePort
  isReady: boolean
}

interface WantedRequest {
  readonly expression: string | undefined
  readonly isFirst: boolean
}

class Watch {
  readonly #wanted: WantedRequest
  readonly #watcher: Watcher
  readonly #claim: WatchClaim = new SharedArrayBuffer(CLAIM_BYTES)
  readonly #armed = new Map<Inspectable, Armed>()
  #isReady = false
  #isOver = false

  constructor(wanted: WantedRequest, watcher: Watcher) {
    this.#wanted = wanted
    this.#watcher = watcher
  }

  begin(workers: readonly Inspectable[]): void {
    if (this.#isOver) return
    for (const worker of workers) this.arm(worker)
    this.#tellReady()
  }

  arm(worker: Inspectable): void {
    if (this.#isOver || this.#claimant() !== 0 || this.#armed.has(worker)) return
    const { port1, port2 } = new MessageChannel()
    this.#armed.set(worker, { port: port1, isReady: false })
    port1.on('message', (report: TraceReport) => this.#reported(worker, report))
    port1.on('close', () => this.#closed(worker))
    worker.inspect({ kind: 'trace', ...this.#wanted, claim: this.#claim }, port2)
  }

  stop(): void {
    this.#isOver = true
    // From here on no worker can take a request for it, even one that has not heard yet.
    Atomics.compareExchange(new Int32Array(this.#claim), 0, 0, UNCLAIMED)
    for (const { port } of this.#armed.values()) port.close()
    this.#armed.clear()
  }

  #reported(worker: Inspectable, report: TraceReport): void {
    if (this.#isOver) return
    if (report.type === 'armed') this.#ready(worker)
    else if (report.type === 'failed') this.#watcher.failed(report.message, report.count)
    else if (report.type === 'claimed') this.#keepOnly(worker)
    else if (report.type === 'event') this.#watcher.event(report.json)
    else this.#end()
  }

  #ready(worker: Inspectable): void {
    const armed = this.#armed.get(worker)
    if (armed !== undefined) armed.isReady = true
    this.#tellReady()
  }

  /** A request that comes after this is seen, on whichever worker. */
  #tellReady(): void {
    if (this.#isReady) return
    for (const { isReady } of this.#armed.values()) if (!isReady) return
    this.#isReady = true
    this.#watcher.ready()
  }

  #keepOnly(winner: Inspectable): void {
    for (const [worker, { port }] of this.#armed) {
      if (worker === winner) continue
      this.#armed.delete(worker)
      port.close()
    }
  }

  /** The worker died. The request that it traced is lost; a watch that still waits continues with the other workers. */
  #closed(worker: Inspectable): void {
    if (this.#isOver || !this.#armed.delete(worker)) return
    if (this.#claimant() !== worker.slot + 1) {
      this.#tellReady()
      return
    }
    this.#watcher.event(JSON.stringify(WORKER_DIED))
    this.#end()
  }

  #end(): void {
    this.stop()
    this.#watcher.end()
  }

  #claimant(): number {
    return Atomics.load(new Int32Array(this.#claim), 0)
  }
}

const WORKER_DIED: TraceEvent = {
  eventStart: null,
  eventEnd: 0,
  severity: 'error',
  message: { type: 'requestFinished', error: 'the worker that had the request died' },
}
