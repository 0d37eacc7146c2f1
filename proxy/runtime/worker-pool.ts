// Keeps N workers alive and of one mind: a configuration is prepared by all before any of them commits it, at once
// where there is only one; a dead worker is replaced and brought up to what is in force. Never touches traffic.
import { setTimeout as delay } from 'node:timers/promises'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { ModelCatalog } from '../llm/cost/catalog.ts'
import { createLineRing } from '../log/line-ring.ts'
import type { LineWriter } from '../log/line-writer.ts'
import type { Logger } from '../log/logger.ts'
import type { MetricsAggregate } from '../metrics/aggregate.ts'
import { createMetricsBuffer } from '../metrics/buffer.ts'
import { CredentialList } from '../credentials/credential-list.ts'
import { SharedTokens } from '../credentials/shared-tokens.ts'
import { countsTokens, readTokenTables } from '../llm/tokens/tables.ts'
import type { CatalogMessage, ConfigMessage, MainToWorker, TokenTablesMessage, WorkerSettings } from './messages.ts'
import { createBeats, PULSE_MS, readBeats } from '../overload/pulse.ts'
import type { RestartHistory } from './restart-policy.ts'
import { Watchdog } from './watchdog.ts'
import type { WorkerExit, WorkerReply } from './worker-handle.ts'
import { WorkerHandle } from './worker-handle.ts'

/** A thread that does not come up, or a configuration that does not compile in this time, counts as failed. */
const START_MS_MAX = 30_000
const PREPARE_MS_MAX = 30_000
const COMMIT_MS_MAX = 30_000
/** Workers that may die on a configuration before it is refused. */
const FIRST_TRIES_MAX = 2
const SERVING_POLL_MS = 10
/** Beyond the drain time, for the answer. */
const DRAIN_SLACK_MS = 1000

export type WorkerOptions = Omit<WorkerSettings, 'workerId' | 'metricsBuffer' | 'logRing' | 'logLevel' | 'beats'>

export interface WorkerPoolOptions {
  readonly count: number
  /** Module each thread runs. */
  readonly entry: URL
  readonly worker: WorkerOptions
  /** A worker that stands still for so long is replaced; 0: never. */
  readonly hangMs: number
  readonly logLevel: () => string
  /** One for each slot; see restart-policy.ts. */
  readonly restartHistory: () => RestartHistory
  readonly lines: LineWriter
  readonly aggregate: MetricsAggregate
  readonly logger: Logger
  /** A worker is up and will serve soon. */
  readonly onStarted?: (worker: WorkerHandle) => void
  readonly onUnknownKey: (source: string) => void
}

/** `isSuperseded`: `supersede` was called meanwhile. */
export type PoolResult =
  | { readonly warnings: readonly string[] }
  | { readonly problem: string; readonly isSuperseded?: boolean }

interface Prepared {
  readonly handles: readonly WorkerHandle[]
  readonly warnings: readonly string[]
}

type Preparing = (handle: WorkerHandle, message: ConfigMessage) => Promise<WorkerReply>

interface Slot {
  readonly index: number
  readonly history: RestartHistory
  handle: WorkerHandle | undefined
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #slots: Slot[]
  readonly #stopping = new AbortController()
  readonly #tokens = new SharedTokens()
  readonly credentials = new CredentialList()
  #current: ConfigMessage | undefined = undefined
  #catalog: CatalogMessage | undefined = undefined
  #tokenTables: TokenTablesMessage | undefined = undefined
  /** The generation that workers prepare now; 0: none. */
  #preparing = 0
  #superseded = 0
  #restarts = 0
  #hangs = 0
  #watching: NodeJS.Timeout | undefined = undefined

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#slots = Array.from({ length: options.count }, (_, index) => ({
      index,
      history: options.restartHistory(),
      handle: undefined,
    }))
  }

  get restarts(): number {
    return this.#restarts
  }

  /** Workers that were ended because they stood still. */
  get hangs(): number {
    return this.#hangs
  }

  get count(): number {
    return this.#slots.length
  }

  /** Workers that serve, in slot order. */
  serving(): WorkerHandle[] {
    return this.#slots.flatMap(({ handle }) => (handle?.isServing === true && handle.isAlive ? [handle] : []))
  }

  /** Every worker serves what is in force. */
  isWhole(): boolean {
    const generation = this.#current?.generation ?? 0
    const serving = this.serving()
    return serving.length === this.count && serving.every(({ appliedGeneration }) => appliedGeneration === generation)
  }

  /** Resolves when every worker is up. @throws when one of them cannot start. */
  async start(): Promise<void> {
    const failures = await Promise.all(this.#slots.map((slot) => this.#spawn(slot)))
    const failure = failures.find((text) => text !== undefined)
    if (failure === undefined) {
      this.#watch()
      return
    }
    await this.terminate()
    throw new Error(`a worker cannot start: ${failure}`)
  }

  /** All or nothing. Calls must not overlap. */
  async apply(message: ConfigMessage): Promise<PoolResult> {
    const problem = await this.#sendTokenTables(message.config)
    if (problem !== undefined) return { problem }
    this.#preparing = message.generation
    const result = this.count === 1 ? await this.#tryFirst(message, this.#putInForce) : await this.#prepareAll(message)
    const isSuperseded = this.#superseded === message.generation
    this.#preparing = 0
    if ('problem' in result) return { ...result, isSuperseded }
    this.#current = message
    const waiting = result.handles.filter(({ appliedGeneration }) => appliedGeneration !== message.generation)
    await Promise.all(waiting.map((handle) => this.#commit(handle, message.generation)))
    // Workers that came up in between have only what was in force then.
    await Promise.all(this.serving().map((handle) => this.#bringUp(handle)))
    return { warnings: result.warnings }
  }

  /** One worker tries it first: a configuration that kills or hangs its compiler must not take all of them at once. */
  async #prepareAll(message: ConfigMessage): Promise<Prepared | { readonly problem: string }> {
    const first = await this.#tryFirst(message, this.#prepare)
    return 'problem' in first ? first : this.#prepareOthers(message, first)
  }

  /** A death may have another cause, so a second worker tries before the configuration is blamed. */
  async #tryFirst(message: ConfigMessage, prepare: Preparing): Promise<Prepared | { readonly problem: string }> {
    let problem = 'no worker is running; the configuration could not be checked'
    for (let attempt = 0; attempt < FIRST_TRIES_MAX; attempt++) {
      await this.#someServing()
      const [first] = this.serving()
      if (first === undefined) break
      const reply = await prepare(first, message)
      if (reply.type === 'prepared' || reply.type === 'applied') return { handles: [first], warnings: reply.warnings }
      problem = problemOf(reply)
      if (reply.type === 'rejected') break
    }
    return { problem }
  }

  async #prepareOthers(message: ConfigMessage, first: Prepared): Promise<Prepared | { readonly problem: string }> {
    const others = this.serving().filter((handle) => !first.handles.includes(handle))
    const replies = await Promise.all(others.map((handle) => this.#prepare(handle, message)))
    const refusal = replies.find((reply) => reply.type === 'rejected')
    // Whoever died meanwhile comes back with what is in force then.
    const handles = [...first.handles, ...others.filter((_, i) => replies[i]?.type === 'prepared')]
    if (refusal === undefined) return { handles, warnings: first.warnings }
    for (const handle of handles) if (handle.isAlive) handle.post({ type: 'abort', generation: message.generation })
    return { problem: problemOf(refusal) }
  }

  readonly #prepare: Preparing = async (handle, message) => {
    const reply = await handle.prepare(message, PREPARE_MS_MAX)
    // A worker that hangs in its compiler serves no requests.
    if (reply.type === 'timeout') await handle.terminate()
    return reply
  }

  /** For a worker without a waiting caller. */
  readonly #putInForce: Preparing = async (handle, message) => {
    const reply = await handle.prepareAndCommit(message, PREPARE_MS_MAX + COMMIT_MS_MAX)
    if (reply.type === 'timeout') await handle.terminate()
    return reply
  }

  async #someServing(): Promise<void> {
    const deadline = performance.now() + START_MS_MAX
    while (this.serving().length === 0 && performance.now() < deadline && !this.#stopping.signal.aborted) {
      await delay(SERVING_POLL_MS)
    }
  }

  /** A newer configuration is there: the one that is being prepared, if any, need not be. */
  supersede(): void {
    if (this.#preparing === 0) return
    this.#superseded = this.#preparing
    this.#postToAll({ type: 'supersede', generation: this.#preparing })
  }

  setLogLevel(directive: string): void {
    this.#postToAll({ type: 'logLevel', directive })
  }

  /** Also for workers that start later. */
  setModelCatalog(catalog: ModelCatalog | undefined): void {
    this.#catalog = { type: 'modelCatalog', catalog }
    this.#postToAll(this.#catalog)
  }

  /** Also for workers that start later. The problem, if they cannot be read. */
  async #sendTokenTables(config: RenderedConfig): Promise<string | undefined> {
    if (this.#tokenTables !== undefined || !countsTokens(config)) return undefined
    try {
      this.#tokenTables = { type: 'tokenTables', tables: await readTokenTables() }
    } catch (error) {
      return `the vocabularies for tokenize cannot be read: ${error instanceof Error ? error.message : String(error)}`
    }
    this.#postToAll(this.#tokenTables)
    return undefined
  }

  #postToAll(message: MainToWorker): void {
    for (const { handle } of this.#slots) if (handle?.isAlive === true) handle.post(message)
  }

  /** Drains all workers and ends them. `signal` cuts it short. */
  async stop(times: { minMs: number; maxMs: number }, signal: AbortSignal): Promise<void> {
    this.#stopping.abort()
    const timeoutMs = Math.max(times.minMs, times.maxMs) + DRAIN_SLACK_MS
    const drained = Promise.all(this.serving().map((handle) => handle.drain(times, timeoutMs)))
    await Promise.race([drained, aborted(signal)])
    await this.terminate()
  }

  async terminate(): Promise<void> {
    this.#stopping.abort()
    clearInterval(this.#watching)
    await Promise.all(
      this.#slots.map(async ({ handle }) => {
        await handle?.terminate()
        await handle?.exited
      }),
    )
  }

  /** A worker that serves and does not turn is ended; its exit brings the next one, as after any other death. */
  #watch(): void {
    const { hangMs, logger } = this.#options
    if (hangMs === 0) return
    const watchdog = new Watchdog({ hangMs, intervalMs: PULSE_MS })
    const ended = new WeakSet<WorkerHandle>()
    this.#watching = setInterval(() => {
      const serving = this.serving().filter((handle) => !ended.has(handle))
      const threads = serving.map((handle) => ({ key: handle, handle, beats: readBeats(handle.settings.beats) }))
      for (const { thread, stillMs } of watchdog.look(performance.now(), threads)) {
        ended.add(thread.handle)
        this.#hangs++
        logger.error('worker does not respond and is terminated', {
          worker: thread.handle.slot,
          still_ms: Math.round(stillMs),
        })
        void thread.handle.terminate()
      }
    }, PULSE_MS).unref()
  }

  /** What went wrong, undefined when the worker serves. */
  async #spawn(slot: Slot): Promise<string | undefined> {
    const { entry, worker, lines, aggregate, logLevel } = this.#options
    const settings: WorkerSettings = {
      ...worker,
      workerId: slot.index,
      logLevel: logLevel(),
      metricsBuffer: createMetricsBuffer(),
      logRing: createLineRing(),
      beats: createBeats(),
    }
    lines.attach(settings.logRing)
    aggregate.attach(settings.metricsBuffer)
    const { onUnknownKey: unknownKey } = this.#options
    const handle: WorkerHandle = new WorkerHandle(entry, settings, {
      log: () => lines.wake(),
      unknownKey,
      token: (message) => this.#tokens.receive(handle, message),
      credential: (message) => this.credentials.receive(message),
    })
    slot.handle = handle
    this.#tokens.joined(handle)
    void handle.exited.then((exit) => this.#exited(slot, handle, exit))
    const reply = await handle.started(START_MS_MAX)
    if (reply.type === 'started') {
      // A change of levels while the thread came up would otherwise be lost.
      handle.post({ type: 'logLevel', directive: logLevel() })
      if (this.#catalog !== undefined) handle.post(this.#catalog)
      if (this.#tokenTables !== undefined) handle.post(this.#tokenTables)
      this.#options.onStarted?.(handle)
      await this.#bringUp(handle)
    } else if (reply.type === 'timeout') await handle.terminate()
    return handle.isServing ? undefined : problemOf(reply)
  }

  /** Brings a worker to the configuration in force, which may change meanwhile. A worker that cannot follow must go. */
  async #bringUp(handle: WorkerHandle): Promise<void> {
    while (handle.isAlive && this.#current !== undefined && handle.appliedGeneration !== this.#current.generation) {
      const message = this.#current
      const reply = await this.#putInForce(handle, message)
      if (reply.type !== 'applied') {
        const { logger } = this.#options
        logger.error('worker rejects the current configuration', { worker: handle.slot, error: problemOf(reply) })
        await handle.terminate()
        return
      }
    }
    handle.isServing = handle.isAlive
  }

  async #commit(handle: WorkerHandle, generation: number): Promise<void> {
    const reply = await handle.commit(generation, COMMIT_MS_MAX)
    // A worker that hangs here would serve an old configuration for ever.
    if (reply.type === 'timeout') await handle.terminate()
  }

  #exited(slot: Slot, handle: WorkerHandle, exit: WorkerExit): void {
    const { lines, aggregate } = this.#options
    handle.isServing = false
    this.#tokens.left(handle)
    lines.detach(handle.settings.logRing)
    aggregate.detach(handle.settings.metricsBuffer)
    if (slot.handle === handle) slot.handle = undefined
    if (this.#stopping.signal.aborted) return
    void this.#replace(slot, exit)
  }

  async #replace(slot: Slot, exit: WorkerExit): Promise<void> {
    const { logger } = this.#options
    const diedAt = performance.now()
    const waitMs = slot.history.died(diedAt)
    this.#restarts++
    logger.error('worker exited unexpectedly and is replaced', {
      worker: slot.index,
      cause: exit.cause,
      wait_ms: waitMs,
    })
    if (exit.stack !== undefined) logger.debug('stack of the dead worker', { worker: slot.index, stack: exit.stack })
    if (waitMs > 0) await delay(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
    if (this.#stopping.signal.aborted) return
    const failure = await this.#spawn(slot)
    const tookMs = Math.round(performance.now() - diedAt)
    // A spawn that failed ends in another exit, which is counted and answered by itself.
    if (failure === undefined) logger.info('worker replaced', { worker: slot.index, took_ms: tookMs })
  }
}

function problemOf(reply: WorkerReply): string {
  if (reply.type === 'rejected') return reply.message
  if (reply.type === 'exited') return `a worker died while applying it (${reply.cause})`
  if (reply.type === 'timeout') return 'a worker did not answer in time'
  return `unexpected answer ${reply.type}`
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
