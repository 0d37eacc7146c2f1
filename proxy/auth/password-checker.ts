// Calls the password thread: one for each worker, started by the first check. Bounded; if the thread
// dies, its pending checks return "not checked", and the next check starts a new thread.
import { Worker } from 'node:worker_threads'
import type { PasswordHash } from '#api/credentials/htpasswd.ts'
import type { PasswordAnswer, PasswordQuestion } from './password-thread.ts'

/** Too many checks are waiting, or the thread died: the result is unknown. */
export const NOT_CHECKED = 'notChecked'
export type PasswordResult = boolean | typeof NOT_CHECKED

/** At 80 ms each (bcrypt, cost 10) the last one waits five seconds. */
const WAITING_MAX = 64
const HEAP_MEGABYTES_MAX = 64

const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './password-thread.ts' : './password-thread.js',
  import.meta.url,
)

export class PasswordChecker {
  readonly #entry: URL
  readonly #waiting = new Map<number, (result: PasswordResult) => void>()
  #worker: Worker | undefined = undefined
  #lastId = 0

  constructor(entry: URL = ENTRY) {
    this.#entry = entry
  }

  check(password: string, hash: PasswordHash): Promise<PasswordResult> {
    if (this.#waiting.size >= WAITING_MAX) return Promise.resolve(NOT_CHECKED)
    const worker = (this.#worker ??= this.#start())
    const question: PasswordQuestion = { id: ++this.#lastId, password, hash }
    return new Promise((resolve) => {
      this.#waiting.set(question.id, resolve)
      worker.postMessage(question)
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, {
      name: 'gw-password',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
    })
    worker.on('message', ({ id, isRight }: PasswordAnswer) => {
      this.#waiting.get(id)?.(isRight)
      this.#waiting.delete(id)
    })
    // The cause does not matter to the waiting checks; without a listener the error would end this thread as well.
    worker.on('error', () => {})
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      for (const resolve of this.#waiting.values()) resolve(NOT_CHECKED)
      this.#waiting.clear()
    })
    // The thread never keeps the process alive: a waiting request has a connection that does.
    worker.unref()
    return worker
  }
}
