// Messages between the workers of this process. Each worker reads the channel that has its name; ids of what a worker
// keeps begin with its name.
import { randomUUID } from 'node:crypto'
import { BroadcastChannel } from 'node:worker_threads'
import { isRecord } from '#api/json.ts'

/** Channels to other workers, also to those that have ended and those of other replicas; the oldest is closed. */
const CHANNELS_MAX = 64

export class WorkerChannels<T extends object> {
  /** Of this worker. */
  readonly worker: string = randomUUID()
  readonly #prefix: string
  readonly #receive: (message: T) => void
  readonly #others = new Map<string, BroadcastChannel>()
  #own: BroadcastChannel | undefined = undefined

  constructor(prefix: string, receive: (message: T) => void) {
    this.#prefix = prefix
    this.#receive = receive
  }

  newId(): string {
    return `${this.worker}.${randomUUID()}`
  }

  /** From now on, messages of other workers arrive. Channels do not keep a worker alive. */
  open(): void {
    if (this.#own !== undefined) return
    this.#own = new BroadcastChannel(this.#prefix + this.worker)
    this.#own.unref()
    this.#own.onmessage = ({ data }: { readonly data: unknown }) => {
      // Only this class posts to these channels.
      if (isRecord(data)) this.#receive(data as T)
    }
  }

  post(worker: string, message: T): void {
    let channel = this.#others.get(worker)
    if (channel === undefined) {
      channel = new BroadcastChannel(this.#prefix + worker)
      channel.unref()
      this.#others.set(worker, channel)
      this.#closeOldest()
    }
    channel.postMessage(message)
  }

  #closeOldest(): void {
    const [oldest] = this.#others
    if (this.#others.size <= CHANNELS_MAX || oldest === undefined) return
    oldest[1].close()
    this.#others.delete(oldest[0])
  }
}

/** The worker that an id begins with; undefined: it is not an id of a worker. */
export function workerOf(id: string): string | undefined {
  return /^([0-9a-f-]{36})\.[0-9a-f-]{36}$/.exec(id)?.[1]
}
