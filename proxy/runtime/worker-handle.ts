// One running worker thread for the main thread: requests with answers, and its end. Independent of restarts.
import { Worker, type MessagePort } from 'node:worker_threads'
import { compiledCodeVariables } from '#api/compiled-code.ts'
import { configDelta } from '#api/ir/config-delta.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import { LayeredMap } from '#api/incremental/layered-map.ts'
import type { TokenMessage } from '../credentials/shared-tokens.ts'
import type { CredentialMessage } from '../credentials/token-observer.ts'
import type { InspectRequest } from '../trace/messages.ts'
import { slicedChange } from './sliced-change.ts'
import type { ConfigMessage, MainToWorker, SharedChange, WorkerSettings, WorkerToMain } from './messages.ts'

export interface WorkerExit {
  readonly type: 'exited'
  /** What killed it, as a sentence without a stack. */
  readonly cause: string
  readonly stack: string | undefined
}
export interface WorkerTimeout {
  readonly type: 'timeout'
}
export type WorkerReply = WorkerToMain | WorkerExit | WorkerTimeout

interface Waiter {
  readonly accepts: (message: WorkerToMain) => boolean
  readonly resolve: (reply: WorkerReply) => void
}

/** The last message to a worker, as far as the next message contains only the difference. */
interface Sent {
  readonly config: ConfigMessage['config']
  readonly secrets: ConfigMessage['secrets'] | undefined
  readonly rateLimits: Memory
  readonly endpoints: Memory
}

interface Memory {
  readonly buffer: SharedArrayBuffer | undefined
  readonly slots: LayeredMap<number>
}

/**
 * What requests allocate is gone when they are: 8 MiB at a time are enough, as in the image. V8 by itself lets the
 * young generation grow to 48 MiB. `--max-semi-space-size` wins over it.
 */
const YOUNG_MIB = 24

const NO_MEMORY: Memory = { buffer: undefined, slots: LayeredMap.of() }

/** What a worker says without being asked. */
export interface WorkerEvents {
  readonly log: () => void
  readonly unknownKey: (source: string) => void
  readonly token: (message: TokenMessage) => void
  readonly credential: (message: CredentialMessage) => void
}

export class WorkerHandle {
  readonly slot: number
  readonly settings: WorkerSettings
  /** Resolves when the thread is gone; never rejects. */
  readonly exited: Promise<WorkerExit>
  /** Generation this worker serves. */
  appliedGeneration = 0
  /** It came up with a configuration (or there was none) and takes part in the next one. */
  isServing = false
  readonly #worker: Worker
  readonly #waiters = new Set<Waiter>()
  /** Whether or not it was put in force. */
  #sent: Sent = { config: emptyConfig(), secrets: undefined, rateLimits: NO_MEMORY, endpoints: NO_MEMORY }
  #exit: WorkerExit | undefined = undefined

  constructor(entry: URL, settings: WorkerSettings, events: WorkerEvents) {
    this.slot = settings.workerId
    this.settings = settings
    this.#worker = new Worker(entry, {
      workerData: settings,
      env: { ...process.env, ...compiledCodeVariables() },
      name: `gw-worker-${settings.workerId}`,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
    })
    let failure: unknown
    this.#worker.on('error', (error: unknown) => {
      failure = error
    })
    this.exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        const exit: WorkerExit = {
          type: 'exited',
          cause: failure === undefined ? `exit code ${code}` : describe(failure),
          stack: failure instanceof Error ? failure.stack : undefined,
        }
        this.#exit = exit
        for (const waiter of this.#waiters) waiter.resolve(exit)
        this.#waiters.clear()
        resolve(exit)
      })
    })
    this.#worker.on('message', (message: WorkerToMain) => {
      if (message.type === 'log') events.log()
      else if (message.type === 'unknownKey') events.unknownKey(message.source)
      else if (isTokenMessage(message)) events.token(message)
      else if (message.type === 'credentialFetched' || message.type === 'credentialRefused') events.credential(message)
      else this.#answer(message)
    })
  }

  get isAlive(): boolean {
    return this.#exit === undefined
  }

  post(message: MainToWorker): void {
    this.#worker.postMessage(message)
  }

  inspect(request: InspectRequest, port: MessagePort): void {
    const message: MainToWorker = { type: 'inspect', request, port }
    this.#worker.postMessage(message, [port])
  }

  started(timeoutMs: number): Promise<WorkerReply> {
    return this.#expect((message) => message.type === 'started', timeoutMs)
  }

  prepare(message: ConfigMessage, timeoutMs: number): Promise<WorkerReply> {
    const reply = this.#expectEither('prepared', message.generation, timeoutMs)
    this.#send(message, false)
    return reply
  }

  commit(generation: number, timeoutMs: number): Promise<WorkerReply> {
    const reply = this.#applied(generation, timeoutMs)
    this.post({ type: 'commit', generation })
    return reply
  }

  /** Both at once, where no other worker has a say. */
  prepareAndCommit(message: ConfigMessage, timeoutMs: number): Promise<WorkerReply> {
    const reply = this.#applied(message.generation, timeoutMs)
    this.#send(message, true)
    return reply
  }

  async #applied(generation: number, timeoutMs: number): Promise<WorkerReply> {
    const answer = await this.#expectEither('applied', generation, timeoutMs)
    if (answer.type === 'applied') this.appliedGeneration = generation
    return answer
  }

  #send(message: ConfigMessage, isCommitted: boolean): void {
    const { type, generation, config, secrets, rateLimits, endpoints } = message
    const sent = this.#sent
    const { message: change, transfer } = slicedChange({
      type,
      generation,
      delta: configDelta(sent.config, config),
      secrets: secrets === sent.secrets ? undefined : secrets,
      rateLimits: { ...rateLimits, ...changeOf(sent.rateLimits, rateLimits) },
      endpoints: { ...endpoints, ...changeOf(sent.endpoints, endpoints) },
    })
    const sendable: MainToWorker = { ...change, isCommitted }
    this.#worker.postMessage(sendable, transfer)
    this.#sent = { config, secrets, rateLimits, endpoints }
  }

  async drain(times: { minMs: number; maxMs: number }, timeoutMs: number): Promise<WorkerReply> {
    const reply = this.#expect((answer) => answer.type === 'drained', timeoutMs)
    this.post({ type: 'drain', ...times })
    return reply
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }

  /** Or `rejected`. */
  #expectEither(type: 'prepared' | 'applied', generation: number, timeoutMs: number): Promise<WorkerReply> {
    return this.#expect(
      (answer) => (answer.type === type || answer.type === 'rejected') && answer.generation === generation,
      timeoutMs,
    )
  }

  #expect(accepts: Waiter['accepts'], timeoutMs: number): Promise<WorkerReply> {
    if (this.#exit !== undefined) return Promise.resolve(this.#exit)
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter)
        resolve({ type: 'timeout' })
      }, timeoutMs)
      const waiter: Waiter = {
        accepts,
        resolve: (reply) => {
          clearTimeout(timer)
          resolve(reply)
        },
      }
      this.#waiters.add(waiter)
    })
  }

  #answer(message: WorkerToMain): void {
    for (const waiter of this.#waiters) {
      if (!waiter.accepts(message)) continue
      this.#waiters.delete(waiter)
      waiter.resolve(message)
    }
  }
}

function isTokenMessage(message: WorkerToMain): message is TokenMessage {
  return message.type === 'tokenClaimed' || message.type === 'tokenFetched' || message.type === 'tokenRefused'
}

function changeOf(sent: Memory, { buffer, slots }: Memory): Pick<SharedChange<Memory>, 'buffer' | 'slots'> {
  return { buffer: buffer === sent.buffer ? undefined : buffer, slots: slots.since(sent.slots) }
}

function describe(failure: unknown): string {
  return failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure)
}
