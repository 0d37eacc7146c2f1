// Calls the thread of edit-thread.ts, one call after the other. The thread starts with the first call and ends when no
// page has asked for a minute: it holds credentials, and the memory of a whole load. Bounded in calls and in time.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { reasonText } from '../output.ts'
import type { EditAnswer, EditCall, EditQuestion } from './edit-thread.ts'

export interface EditWorkerOptions {
  /** Of `gw run -f`. */
  readonly path: string
  readonly stateOf: () => EditQuestion['state']
  /** For tests. */
  readonly entry?: URL
  readonly idleMs?: number
  readonly answerMs?: number
}

const WAITING_MAX = 16
const ANSWER_MS_MAX = 30_000
const IDLE_MS = 60_000
const HEAP_MEGABYTES_MAX = 1024

const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './edit-thread.ts' : './edit-thread.js', import.meta.url)

export class EditWorker {
  readonly #options: EditWorkerOptions
  #thread: Worker | undefined = undefined
  #idle: ReturnType<typeof setTimeout> | undefined = undefined
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: EditWorkerOptions) {
    this.#options = options
  }

  /**
   * The value of the thread. A call whose signal is aborted before its turn is not made.
   * @throws {Error} The thread failed, or too many calls wait.
   */
  ask(call: EditCall, signal?: AbortSignal): Promise<unknown> {
    if (this.#waiting >= WAITING_MAX) {
      return Promise.reject(new Error(`${WAITING_MAX} requests about the files wait: try again in some seconds`))
    }
    this.#waiting++
    clearTimeout(this.#idle)
    const asked = this.#last
      .then(() => {
        signal?.throwIfAborted()
        return this.#ask(call)
      })
      .finally(() => {
        this.#waiting--
        if (this.#waiting === 0)
          this.#idle = setTimeout(() => void this.close(), this.#options.idleMs ?? IDLE_MS).unref()
      })
    this.#last = asked.catch(() => undefined)
    return asked
  }

  /** Ends the thread; the next call starts another one. */
  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const thread = this.#thread
    this.#thread = undefined
    await thread?.terminate()
  }

  async #ask(call: EditCall): Promise<unknown> {
    const thread = (this.#thread ??= this.#start())
    const answer = await this.#answerOf(thread, { call, state: this.#options.stateOf() })
    if ('problem' in answer) throw new Error(answer.problem)
    return answer.value
  }

  async #answerOf(thread: Worker, question: EditQuestion): Promise<EditAnswer> {
    const ms = this.#options.answerMs ?? ANSWER_MS_MAX
    const limit = AbortSignal.timeout(ms)
    try {
      thread.postMessage(question)
      // Rejects with the error of the thread.
      const [answer] = await once(thread, 'message', { signal: limit })
      // Sent by edit-thread.ts only.
      return answer as EditAnswer
    } catch (error) {
      await this.close()
      const reason = limit.aborted ? `no answer within ${ms / 1000} seconds` : reasonText(error)
      throw new Error(`the thread that works on the files has ended: ${reason}`, { cause: error })
    }
  }

  #start(): Worker {
    const thread = new Worker(this.#options.entry ?? ENTRY, {
      name: 'gw-edit',
      workerData: this.#options.path,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
    })
    // Without a listener, an error between two calls would end this thread as well.
    thread.on('error', () => {})
    thread.on('exit', () => {
      if (this.#thread === thread) this.#thread = undefined
    })
    // The connection of the page keeps the process alive.
    thread.unref()
    return thread
  }
}
