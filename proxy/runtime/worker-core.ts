// The life of one worker, apart from its thread: prepares and commits configurations, counts, logs, drains. Answers
// every message of main; never decides about other workers.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { runInSlices, type Steps } from '#api/incremental/steps.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { EndpointStore, type EndpointBuffer } from '../backend/endpoint-store.ts'
import { routeShares } from '../cel/budget.ts'
import { type CompiledConfig, ConfigError } from '../config/compiled.ts'
import { ConfigChanges } from '../config/config-changes.ts'
import { explainRoute } from '../config/explain-route.ts'
import { connectionsMade } from '../socket/connection-id.ts'
import { createAccessLog } from '../log/access-log.ts'
import { parseLevelFilter } from '../log/level-filter.ts'
import { TokenShare } from '../credentials/token-share.ts'
import { WorkerTokenStore } from '../credentials/token-store.ts'
import { createLogger } from '../log/logger.ts'
import { SeriesTable } from '../metrics/buffer.ts'
import { Recorder } from '../metrics/recorder.ts'
import { TicketSecrets } from '../tls/ticket-secrets.ts'
import { Inspector } from '../trace/inspector.ts'
import { TraceTap } from '../trace/tap.ts'
import { type OpenedBinds, BindSet } from './bind-set.ts'
import type { RateLimitStore } from '../chain/rate-limits.ts'
import type { ConfigChange, CoreMessage, WorkerSettings, WorkerToMain } from './messages.ts'
import { DescriptorRoom } from './descriptor-room.ts'
import { DescriptorWatch } from './descriptor-watch.ts'
import { HeapRelease, ownHeap, QuietTime } from './heap-release.ts'
import { LoadStart } from './load-start.ts'
import { credentialObserver } from './credential-observer.ts'
import { createObserver } from './observer.ts'
import { Pulse } from '../overload/pulse.ts'
import { NOTHING_RECEIVED, receivedSteps } from './received-config.ts'
import type { ConnectionCounts } from '../upstream/client.ts'
import { endpointConnections } from '../upstream/endpoint-connections.ts'
import { rejectionReason } from './rejection-reason.ts'
import type { WorkerParts } from './worker-parts.ts'
import { defects } from '../exchange/defects.ts'
import { logDefects } from './defect-log.ts'

const GAUGE_INTERVAL_MS = 1000
/** How often a draining worker looks whether its connections are gone. */
const DRAIN_POLL_MS = 20
/**
 * With a minimum, other systems have to notice that this proxy ends, and may be late: it stops accepting when
 * no client came for so long. A client that is accepted has as much time before the rest is cut.
 */
const DRAIN_QUIET_MS = 1000
/**
 * Counted in looks, not by the clock: whoever came while the thread stood still is seen in the turn after, and must not
 * find it gone.
 */
const DRAIN_QUIET_LOOKS = DRAIN_QUIET_MS / DRAIN_POLL_MS
const NANOS = 1e9
/** Requests run between slices; one with its connection to a backend waits for a few of them. */
const SLICE_MS = 4
/** Within the time main gives beyond the drain. */
const LAST_EXPORT_MS_MIN = 500

interface Prepared {
  readonly compiled: CompiledConfig
  readonly config: RenderedConfig
  readonly opened: OpenedBinds
}

export interface WorkerCoreOptions {
  readonly settings: WorkerSettings
  readonly parts: WorkerParts
  readonly send: (message: WorkerToMain) => void
  /** Takes log lines. */
  readonly write: (line: string) => void
}

export class WorkerCore {
  readonly #send: (message: WorkerToMain) => void
  readonly #settings: WorkerSettings
  readonly #parts: WorkerParts
  readonly #loggers
  readonly #log
  readonly #table
  readonly #recorder
  readonly #observer
  readonly #client
  readonly #grpc
  readonly #hbone
  readonly #dynamic
  readonly #tokenShare = new TokenShare((message) => this.#send(message))
  readonly #tokens: WorkerTokenStore
  readonly #binds
  readonly #changes = new ConfigChanges()
  readonly #tap: TraceTap
  readonly #inspector: Inspector
  readonly #gauges: NodeJS.Timeout
  readonly #pulse: Pulse
  readonly #descriptors: DescriptorWatch
  readonly #heapRelease = new HeapRelease(ownHeap())
  readonly #quietTime = new QuietTime()
  readonly #loadStart = new LoadStart()
  #current: CompiledConfig | undefined = undefined
  /** The source of `#current`. */
  #config = NOTHING_RECEIVED.config
  #prepared: Prepared | undefined = undefined
  #received = NOTHING_RECEIVED
  /** Generation that need not be compiled any more. */
  #superseded = 0
  #rateLimits: RateLimitStore | undefined = undefined
  readonly #tellOfUnknownKey = (source: string): void => this.#send({ type: 'unknownKey', source })
  /** Messages are handled one after the other. */
  #work: Promise<void> = Promise.resolve()

  constructor({ settings, parts, send, write }: WorkerCoreOptions) {
    this.#send = send
    this.#settings = settings
    this.#parts = parts
    const filter = parseLevelFilter(settings.logLevel)
    if ('problem' in filter) throw new Error(`log level: ${filter.problem}`)
    this.#loggers = createLogger({ format: settings.logFormat, filter, write })
    this.#log = this.#loggers.module('worker')
    logDefects(this.#log)
    this.#table = new SeriesTable(settings.metricsBuffer)
    this.#recorder = new Recorder(this.#table)
    this.#tokens = new WorkerTokenStore({
      share: this.#tokenShare,
      observer: credentialObserver({ recorder: this.#recorder, logger: this.#loggers.module('credentials'), send }),
    })
    const requestLogger = this.#loggers.module('request')
    const isVerbose = (): boolean => requestLogger.isEnabled('debug')
    this.#observer = createObserver({
      recorder: this.#recorder,
      accessLog: settings.accessLog ? createAccessLog({ format: settings.logFormat, write, isVerbose }) : undefined,
      requestLogger,
      exportLogger: this.#loggers.module('otlp'),
    })
    const { connected } = this.#observer
    this.#client = parts.createClient(connected)
    this.#grpc = parts.createGrpc(connected)
    this.#hbone = parts.createHbone?.(connected)
    this.#dynamic = parts.createDynamic?.(settings.dynamicForwardAllow, connected)
    this.#binds = new BindSet({
      createServer: parts.createServer,
      context: { observer: this.#observer, tickets: settings.tickets && new TicketSecrets(settings.tickets) },
      address: {
        host: settings.listenAddress,
        reusePort: settings.reusePort,
        hasRoom: () => this.#descriptors.hasRoom(),
      },
    })
    this.#tap = new TraceTap(settings.workerId)
    this.#inspector = new Inspector({
      tap: this.#tap,
      openConnections: () => this.#binds.openConnections,
      running: () => this.#binds.running(),
      connections: (labels) => ({
        ports: this.#binds.portConnections(),
        endpoints: endpointConnections(this.#client.pools(), labels),
      }),
      explainRoute: (question) => this.#current && explainRoute(question, this.#current, this.#config),
    })
    const { beats, overload: limits } = settings
    this.#pulse = new Pulse({ beats, limits, logger: this.#log })
    this.#descriptors = new DescriptorWatch({
      room: new DescriptorRoom({ workers: settings.workers }),
      closeIdle: (atMost) => this.#binds.closeIdle(atMost),
      logger: this.#log,
    })
    this.#gauges = this.#startGauges()
  }

  receive(message: CoreMessage): void {
    if (message.type === 'logLevel') {
      this.#setLogLevel(message.directive)
      return
    }
    if (message.type === 'inspect') {
      this.#inspector.receive(message.request, message.port)
      return
    }
    if (message.type === 'token' || message.type === 'tokenRefused') {
      this.#tokenShare.receive(message)
      return
    }
    if (message.type === 'supersede') {
      this.#superseded = message.generation
      return
    }
    // A failure here is a bug of the worker: it must die and be replaced, not continue with half a configuration.
    this.#work = this.#work.then(() => this.#handle(message))
  }

  close(): void {
    clearInterval(this.#gauges)
    this.#heapRelease.defer()
    this.#pulse.close()
    this.#descriptors.close()
    this.#binds.close()
    this.#client.close()
    this.#grpc.close()
    this.#hbone?.close()
    this.#dynamic?.client.close()
  }

  #setLogLevel(directive: string): void {
    const filter = parseLevelFilter(directive)
    if (!('problem' in filter)) this.#loggers.setFilter(filter)
  }

  async #handle(
    message: Exclude<CoreMessage, { type: 'logLevel' | 'inspect' | 'token' | 'tokenRefused' | 'supersede' }>,
  ): Promise<void> {
    switch (message.type) {
      case 'config':
        await this.#prepare(message)
        if (message.isCommitted && this.#prepared !== undefined) this.#commit(message.generation)
        break
      case 'commit':
        this.#commit(message.generation)
        break
      case 'abort':
        this.#dropPrepared()
        break
      case 'drain':
        await this.#drain(message.minMs, message.maxMs)
        break
    }
  }

  async #prepare(message: ConfigChange & { readonly isCommitted: boolean }): Promise<void> {
    this.#dropPrepared()
    // A collection would delay the configuration, and keeps what was sent.
    this.#heapRelease.defer()
    const { generation } = message
    // Before any step that may fail: the base of the next change.
    const before = this.#received
    this.#received = await inSlices(receivedSteps(before, message), () => turn())
    const { config, secrets, rateLimits, endpoints } = this.#received
    if (rateLimits !== before.rateLimits) this.#rateLimits = undefined
    try {
      const load = this.#parts.partSteps && (await inSlices(this.#parts.partSteps(config), () => turn()))
      await load?.()
      const environment = {
        client: this.#client,
        grpc: this.#grpc,
        hbone: this.#hbone,
        rateLimits: (this.#rateLimits ??= this.#parts.createRateLimits(rateLimits)),
        endpoints: this.#endpointStore(endpoints),
        tokens: this.#tokens,
        place: this.#settings.place,
        observer: this.#observer,
        tap: this.#tap,
        sessionKeys: this.#settings.sessionKeys,
        mcpSessionTtlMs: this.#settings.mcpSessionTtlMs,
        mcpAccess: this.#settings.mcpAccess,
        changes: this.#changes,
        ...(this.#dynamic && { dynamic: this.#dynamic }),
        enterBind: this.#binds.enter.bind(this.#binds),
        unknownKey: this.#tellOfUnknownKey,
        bodyIdleTimeoutMs: this.#settings.bodyIdleTimeoutMs,
        connections: this.#settings.connections,
        shedder: this.#pulse.shedder,
        otlp: this.#settings.otlp,
      }
      const input = { generation, config, secrets }
      const compiled = await inSlices(this.#parts.compileSteps(input, environment, this.#current), async () => {
        await turn()
        if (this.#superseded === generation) throw new ConfigError('a newer configuration replaces it')
      })
      this.#prepared = { compiled, config, opened: await this.#binds.open(compiled) }
      if (!message.isCommitted) this.#send({ type: 'prepared', generation, warnings: compiled.warnings })
    } catch (error) {
      this.#send({ type: 'rejected', generation, message: rejectionReason(error) })
    }
  }

  #endpointStore(shared: EndpointBuffer): EndpointStore {
    const store = new EndpointStore(shared, this.#settings.workerId)
    // The first one of this thread: what is pending under its number belonged to a worker that died.
    if (this.#current === undefined && this.#prepared === undefined) store.forgetPending()
    return store
  }

  #commit(generation: number): void {
    const prepared = this.#prepared
    if (prepared?.compiled.generation !== generation) throw new Error(`generation ${generation} was not prepared`)
    this.#prepared = undefined
    this.#binds.swap(prepared.compiled, prepared.opened)
    prepared.compiled.otlp.takeOver(this.#current?.otlp)
    for (const plans of prepared.compiled.listeners.values()) plans.putInForce(prepared.compiled.context)
    this.#current = prepared.compiled
    this.#config = prepared.config
    const { targets } = prepared.compiled.index
    this.#changes.announce((key) => targets.backend(key))
    this.#tap.setConfig(prepared.config)
    this.#recorder.configChanged()
    this.#log.debug('configuration applied', { generation, worker: this.#settings.workerId })
    this.#send({ type: 'applied', generation, warnings: prepared.compiled.warnings })
  }

  #dropPrepared(): void {
    if (this.#prepared !== undefined) this.#binds.abandon(this.#prepared.opened)
    this.#prepared = undefined
  }

  /**
   * Serves as usual for the minimum; then every response ends its connection. Without a minimum no client comes here by
   * mistake: no connection is accepted any more. With one, listeners stay open until no client came for a second,
   * however long open connections last, and at the latest a second before the maximum, counted from the start, when the
   * rest is cut.
   */
  async #drain(minMs: number, maxMs: number): Promise<void> {
    const start = performance.now()
    void this.#current?.otlp.flush()
    if (minMs === 0) await this.#stopAccepting()
    await delay(Math.min(minMs, Math.max(0, maxMs - DRAIN_QUIET_MS)))
    this.#binds.drain()
    if (minMs > 0) await this.#quiet(start + maxMs - DRAIN_QUIET_MS)
    await this.#stopAccepting()
    await this.#empty(start + maxMs)
    const cut = this.#binds.openConnections
    if (cut > 0) this.#log.warn('connections closed at the end of the drain time', { connections: cut })
    // What the last requests left; a collector that is away must not hold up the end.
    await this.#current?.otlp.close(Math.max(LAST_EXPORT_MS_MIN, maxMs - (performance.now() - start)))
    this.close()
    this.#send({ type: 'drained' })
  }

  /** A close resets what waits to be accepted, so it comes right after the event loop has taken all of it. */
  async #stopAccepting(): Promise<void> {
    await turn()
    await turn()
    this.#binds.stopAccepting()
  }

  /** Resolves when this number of consecutive checks saw no new connection; or at the end. */
  async #quiet(end: number): Promise<void> {
    let made = connectionsMade()
    for (let quiet = 0; quiet < DRAIN_QUIET_LOOKS && performance.now() < end; quiet++) {
      await delay(DRAIN_POLL_MS)
      if (connectionsMade() !== made) quiet = 0
      made = connectionsMade()
    }
  }

  /** Resolves when there is no connection; or at the end. What was accepted last is seen in the turn after. */
  async #empty(end: number): Promise<void> {
    do await delay(DRAIN_POLL_MS)
    while (this.#binds.openConnections > 0 && performance.now() < end)
  }

  #startGauges(): NodeJS.Timeout {
    const delays = monitorEventLoopDelay({ resolution: 10 })
    delays.enable()
    let utilization = performance.eventLoopUtilization()
    const table = this.#table
    return setInterval(() => {
      table.setGauge('loopDelayP50Seconds', delays.percentile(50) / NANOS)
      table.setGauge('loopDelayP99Seconds', delays.percentile(99) / NANOS)
      table.setGauge('loopDelayMaxSeconds', delays.max / NANOS)
      delays.reset()
      const load = performance.eventLoopUtilization(utilization).utilization
      const { activeRequests } = this.#binds
      const { requests } = this.#recorder
      this.#loadStart.look(requests)
      const isQuiet = this.#quietTime.look({ utilization: load, activeRequests, requests })
      this.#heapRelease.look({ isQuiet, hadLoad: this.#loadStart.hasStarted })
      table.setGauge('loopUtilization', load)
      utilization = performance.eventLoopUtilization()
      // Not process.memoryUsage: it opens a file, and fails where no file descriptor is left.
      const heap = getHeapStatistics()
      table.setGauge('heapUsedBytes', heap.used_heap_size)
      table.setGauge('heapTotalBytes', heap.total_heap_size)
      table.setGauge('openConnections', this.#binds.openConnections)
      table.setGauge('activeRequests', activeRequests)
      const pools = [this.#client, ...(this.#dynamic === undefined ? [] : [this.#dynamic.client])]
      const sum = (of: (pool: ConnectionCounts) => number): number => pools.reduce((all, pool) => all + of(pool), 0)
      table.setGauge(
        'upstreamOpen',
        sum(({ openConnections }) => openConnections) + this.#grpc.openSessions + (this.#hbone?.openConnections ?? 0),
      )
      table.setGauge(
        'upstreamIdle',
        sum(({ idleConnections }) => idleConnections),
      )
      const { isActive, shed } = this.#pulse.shedder
      table.setGauge('overloadActive', Number(isActive))
      table.setGauge('overloadShed', shed)
      table.setGauge('celExceeded', routeShares.exceeded)
      table.setGauge('defects', defects.count)
      table.setGauge('descriptorRefused', this.#descriptors.refused)
      table.setGauge('descriptorClosed', this.#descriptors.closed)
    }, GAUGE_INTERVAL_MS).unref()
  }
}

/** The work on a new configuration. */
function inSlices<T>(steps: Steps<T>, pause: () => Promise<unknown>): Promise<T> {
  return runInSlices(steps, { sliceMs: SLICE_MS, nowMs: () => performance.now(), pause })
}
