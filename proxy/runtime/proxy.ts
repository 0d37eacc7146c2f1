// The proxy process: owns configuration, admin, metrics and readiness on the main thread and the pool of workers that
// carry the traffic. What the workers run is given from outside (main.ts; tests), nothing of it is imported here.
import { setTimeout as delay } from 'node:timers/promises'
import { keepItemsOfNewLists } from '#api/ir/keep-items.ts'
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import { startAdminServer } from '../admin/admin-server.ts'
import { configDump, type ConfigDumpInput } from '../admin/config-dump.ts'
import { limits } from '../admin/limits.ts'
import { overview } from '../admin/overview.ts'
import type { HttpListener, ListenAddress } from '../admin/http-listener.ts'
import type { SourceEditor } from '../admin/source-editing.ts'
import { LiveView } from '../admin/live-view.ts'
import { memoryReport } from '../admin/memory.ts'
import { TrafficHistory } from '../admin/traffic-history.ts'
import { type Readiness, startReadinessServer } from '../admin/readiness-server.ts'
import { startStatsServer } from '../admin/stats-server.ts'
import { parseLevelFilter } from '../log/level-filter.ts'
import { type LineWriter, createLineWriter, FLUSH_MS_MAX } from '../log/line-writer.ts'
import { type Logger, type LoggerRoot, createLogger } from '../log/logger.ts'
import { modelPrices } from '../llm/cost/model-prices.ts'
import type { OfferedCatalog } from '../llm/cost/offered-catalog.ts'
import type { TraitsRow } from '../llm/traits/traits.ts'
import { messageOf } from '../exchange/diagnosis.ts'
import type { MeshMember, TroubleListener } from '../mesh/mesh-member.ts'
import { MetricsAggregate } from '../metrics/aggregate.ts'
import { expositionOnDemand } from '../metrics/exposition-on-demand.ts'
import { processMetrics } from '../metrics/process-metrics.ts'
import { readFigures } from '../backend/endpoint-store.ts'
import { SharedEndpoints } from '../backend/shared-endpoints.ts'
import { SharedRateLimits } from '../policy/limits/shared-rate-limits.ts'
import { CertificateWatch } from '../tls/certificate-watch.ts'
import { createTicketSecrets, rotateTicketSecrets, TICKET_PERIOD_MS } from '../tls/ticket-secrets.ts'
import { TraceHub } from '../trace/hub.ts'
import { busyPort } from './busy-port.ts'
import { warnOfFewDescriptors } from './descriptor-room.ts'
import { meshMember } from './mesh-member.ts'
import type { HeapRelease } from './heap-release.ts'
import type { RestartHistory } from './restart-policy.ts'
import type { ProxyPorts, RunningProxy } from './running-proxy.ts'
import type { ProxySettings } from './settings.ts'
import { shownSettings } from './shown-settings.ts'
import { BUILD } from '../config/build-info.ts'
import { workerOptions } from './worker-options.ts'
import { WorkerPool } from './worker-pool.ts'
import { type Applied, type ApplyResult, SUPERSEDED } from '../config/apply-result.ts'

export interface ProxyParts {
  /** Module of the worker threads. */
  readonly workerEntry: URL
  /** When a dead worker may come back; one for each worker. */
  readonly restartHistory: () => RestartHistory
  /** In front of the built-in traits of models. */
  readonly modelTraits?: readonly TraitsRow[]
  /** Of the main thread; whoever shares it with something else leaves it out. */
  readonly heapRelease?: HeapRelease
}

/** @throws {StartError} when a port of its own cannot be opened. */
export async function runProxy(settings: ProxySettings, parts: ProxyParts): Promise<RunningProxy> {
  const proxy = new ProxyProcess(settings, parts)
  await proxy.start()
  return proxy
}

class ProxyProcess implements RunningProxy {
  readonly closed: Promise<void>
  readonly #settings: ProxySettings
  readonly #lines: LineWriter
  readonly #loggers: LoggerRoot
  readonly #log: Logger
  readonly #aggregate = new MetricsAggregate()
  readonly #traffic = new TrafficHistory(this.#aggregate)
  readonly #pool: WorkerPool
  readonly #traces = new TraceHub(() => this.#pool.serving())
  readonly #live = new LiveView({
    workers: () => this.#pool.serving(),
    config: () => this.#applied?.config,
    endpoints: () => this.#memory?.endpoints.shared,
  })
  readonly #servers: HttpListener[] = []
  readonly #tickets = createTicketSecrets()
  readonly #certificates: CertificateWatch
  #mesh: MeshMember | undefined = undefined
  readonly #rotating = setInterval(() => this.rotateTickets(), TICKET_PERIOD_MS).unref()
  readonly #heapRelease: HeapRelease | undefined
  readonly #forced = new AbortController()
  readonly #setClosed: () => void
  #editor: SourceEditor | undefined = undefined
  #ports: ProxyPorts = { admin: 0, stats: 0, readiness: 0 }
  #generation = 0
  #applied: Applied | undefined = undefined
  /** What the workers share; that of the configuration in force. */
  #memory: { readonly rateLimits: SharedRateLimits; readonly endpoints: SharedEndpoints } | undefined = undefined
  #rejected: string | undefined = undefined
  #catalog: OfferedCatalog | undefined = undefined
  readonly #counts = { applied: 0, rejected: 0 }
  #unknownKey: ((source: string) => void) | undefined = undefined
  #isStarted = false
  /** All workers have served a configuration once. */
  #wasWhole = false
  #isStopping = false
  /** Lines of an unplanned exit. */
  readonly #flushAtExit = (): void => this.#lines.flushSync()
  /** Applies run one after the other. */
  #work: Promise<unknown> = Promise.resolve()

  constructor(settings: ProxySettings, parts: ProxyParts) {
    this.#settings = settings
    this.#heapRelease = parts.heapRelease
    const filter = parseLevelFilter(settings.logLevel)
    if ('problem' in filter) throw new Error(`log level: ${filter.problem}`)
    this.#lines = createLineWriter(settings.logFd)
    this.#loggers = createLogger({ format: settings.logFormat, filter, write: (line) => this.#lines.write(line) })
    this.#log = this.#loggers.module('proxy')
    this.#certificates = new CertificateWatch(this.#loggers.module('certificates'))
    this.#pool = new WorkerPool({
      count: settings.workers,
      entry: parts.workerEntry,
      hangMs: settings.workerHangMs,
      worker: workerOptions(settings, { tickets: this.#tickets, modelTraits: parts.modelTraits ?? [] }),
      logLevel: () => this.#loggers.directive,
      restartHistory: parts.restartHistory,
      lines: this.#lines,
      aggregate: this.#aggregate,
      logger: this.#loggers.module('workers'),
      onStarted: (worker) => this.#traces.workerStarted(worker),
      onUnknownKey: (source) => this.#unknownKey?.(source),
    })
    this.#loggers.onChange(() => this.#pool.setLogLevel(this.#loggers.directive))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    this.#setClosed = resolve
  }

  useEditor(editor: SourceEditor): void {
    this.#editor = editor
  }

  get adminAddress(): ListenAddress {
    return { host: this.#settings.admin.host, port: this.#ports.admin }
  }

  get ports(): ProxyPorts {
    return this.#ports
  }

  get mcpSessionTtlMs(): number {
    return this.#settings.mcpSessionTtlMs
  }

  logger(module: string): Logger {
    return this.#loggers.module(module)
  }

  async start(): Promise<void> {
    try {
      this.#mesh = await meshMember(this.#settings.mesh, this.#loggers.module('mesh'), () => this.#refresh())
      await this.#openServers()
      await this.#pool.start()
    } catch (error) {
      await this.#close()
      throw error
    }
    this.#isStarted = true
    this.#mesh?.start()
    process.on('exit', this.#flushAtExit)
    this.#log.info('started', { version: BUILD.version, workers: this.#settings.workers, ...this.#ports })
    warnOfFewDescriptors(this.#log)
  }

  apply(config: RenderedConfig, secrets: RenderedSecrets, reported: readonly string[] = []): Promise<ApplyResult> {
    this.#heapRelease?.defer()
    const result = this.#work
      .then(() => this.#apply(config, secrets, reported))
      .finally(() => this.#heapRelease?.schedule())
    this.#work = result.catch(() => undefined)
    return result
  }

  /** The configuration in force again, with the certificate of the mesh that there is now. */
  #refresh(): void {
    this.#work = this.#work
      .then(() => {
        if (this.#applied === undefined || this.#isStopping) return undefined
        const { config, secrets, reported } = this.#applied
        return this.#apply(config, secrets, reported)
      })
      .catch((error: unknown) =>
        this.#log.error('the certificate of the mesh was not applied', { error: messageOf(error) }),
      )
  }

  supersede(): void {
    this.#pool.supersede()
  }

  setModelCatalog(offered: OfferedCatalog): void {
    this.#pool.setModelCatalog(offered.catalog)
    this.#catalog = offered
  }

  rotateTickets(): void {
    rotateTicketSecrets(this.#tickets)
  }

  onUnknownKey(listener: (source: string) => void): void {
    this.#unknownKey = listener
  }

  onMeshTrouble(listener: TroubleListener): void {
    this.#mesh?.onTrouble(listener)
  }

  stop(options: { readonly isForced: boolean } = { isForced: false }): Promise<void> {
    if (options.isForced) this.#forced.abort()
    if (!this.#isStopping) {
      this.#isStopping = true
      const { minMs, maxMs } = this.#settings.drain
      this.#log.info('shutting down', { min_ms: minMs, max_ms: maxMs, forced: options.isForced })
      void this.#stop()
    }
    return this.closed
  }

  async #stop(): Promise<void> {
    await this.#pool.stop(this.#settings.drain, this.#forced.signal)
    this.#log.info('stopped')
    await this.#close()
  }

  async #close(): Promise<void> {
    clearInterval(this.#rotating)
    this.#traffic.close()
    this.#live.close()
    this.#heapRelease?.defer()
    this.#certificates.close()
    this.#mesh?.close()
    await this.#pool.terminate()
    await Promise.all(this.#servers.map((server) => server.close()))
    // The reader of the output may be gone: that must not keep the process alive.
    await Promise.race([this.#lines.flush(), delay(FLUSH_MS_MAX, undefined, { ref: false })])
    process.off('exit', this.#flushAtExit)
    this.#setClosed()
  }

  async #apply(given: RenderedConfig, secrets: RenderedSecrets, reported: readonly string[]): Promise<ApplyResult> {
    const generation = ++this.#generation
    const config = this.#applied === undefined ? given : keepItemsOfNewLists(this.#applied.config, given)
    if (this.#isStopping) return this.#reject(generation, 'Stopping', 'the proxy is shutting down')
    const busy = await busyPort(config.binds, this.#applied?.config.binds, this.#settings.listenAddress)
    if (busy !== undefined) return this.#reject(generation, 'PortInUse', busy)
    const memory = {
      rateLimits: this.#memory?.rateLimits.after(config) ?? SharedRateLimits.of(config),
      endpoints: this.#memory?.endpoints.after(config) ?? SharedEndpoints.of(config, this.#settings.workers),
    }
    const [rateLimits, endpoints] = [memory.rateLimits.shared, memory.endpoints.shared]
    const change = {
      type: 'config',
      generation,
      config,
      secrets: this.#withMesh(secrets),
      rateLimits,
      endpoints,
    } as const
    const result = await this.#pool.apply(change)
    if ('problem' in result) {
      return result.isSuperseded === true ? SUPERSEDED : this.#reject(generation, 'Rejected', result.problem)
    }
    this.#memory = memory
    this.#applied = { generation, config, secrets, reported }
    this.#rejected = undefined
    this.#counts.applied++
    this.#log.info('configuration applied', {
      generation,
      routes: config.routes.length,
      warnings: result.warnings.length,
    })
    const isReported = (warning: string): boolean => reported.some((message) => warning.endsWith(`: ${message}`))
    for (const warning of result.warnings.filter((one) => !isReported(one)))
      this.#log.warn('configuration', { generation, warning })
    this.#certificates.take(config, secrets)
    return { generation, warnings: result.warnings }
  }

  #withMesh(secrets: RenderedSecrets): RenderedSecrets {
    return this.#mesh?.addTo(secrets) ?? secrets
  }

  #reject(generation: number, reason: string, message: string): ApplyResult {
    this.#counts.rejected++
    this.#rejected = message
    const rest = this.#applied === undefined ? 'no earlier configuration exists' : 'the last valid one stays in use'
    this.#log.error(`configuration rejected, ${rest}`, { generation, reason, error: message })
    return { problem: { path: 'config', reason, message, severity: 'error' } }
  }

  async #openServers(): Promise<void> {
    const { admin, stats, readiness } = this.#settings
    const add = async (starting: Promise<HttpListener>): Promise<number> => {
      const server = await starting
      this.#servers.push(server)
      return server.port
    }
    const exposition = expositionOnDemand(this.#aggregate, [
      ...processMetrics(this.#facts(), this.#aggregate),
      ...this.#certificates.metrics(),
      ...(this.#mesh?.metrics() ?? []),
    ])
    this.#ports = {
      admin: await add(
        startAdminServer(admin, {
          loggers: this.#loggers,
          needsToken: this.#settings.servesTenants,
          configDump: () => configDump(this.#dumped()),
          overview: () => overview(this.#dumped()),
          memory: () => memoryReport(this.#workerBuffers(), this.#aggregate),
          effectivePolicies: async (route) =>
            this.#applied &&
            (await import('../config/effective-policies.ts')).effectivePolicies(this.#applied.config, route),
          modelPrices: () => modelPrices(this.#catalog),
          limits: () =>
            limits(
              { config: this.#applied?.config, buckets: this.#memory?.rateLimits.shared, aggregate: this.#aggregate },
              Date.now(),
            ),
          modelUsage: (sinceMs) => this.#traffic.modelUsage(sinceMs),
          traffic: () => this.#traffic.shown(this.#workerBuffers().map(({ buffer }) => buffer)),
          debug: {
            traces: this.#traces,
            customFunctions: () => this.#applied?.config.customFunctions,
            live: this.#live,
            mcpAccess: async (question) =>
              (await import('../config/mcp-access.ts')).mcpAccess(this.#applied?.config, question),
            send: {
              isAllowed: this.#settings.uiActions,
              binds: () => this.#applied?.config.binds ?? [],
              listenAddress: this.#settings.listenAddress,
              traces: this.#traces,
              log: this.#loggers.module('admin'),
            },
          },
          edits: { isAllowed: this.#settings.uiEdits, editor: () => this.#editor, log: this.#loggers.module('admin') },
          shutdown: () => void this.stop(),
        }),
      ),
      stats: await add(startStatsServer(stats, exposition)),
      readiness: await add(startReadinessServer(readiness, () => this.#readiness())),
    }
  }

  /**
   * Ready for the first time when every worker has opened its ports for a configuration. Afterwards one is enough: the
   * kernel gives a dead worker no connections, and to leave the Service would end what the others serve.
   */
  #readiness(): Readiness {
    const pending: string[] = []
    if (!this.#isStarted) pending.push('proxy')
    else if (this.#wasWhole ? this.#pool.serving().length === 0 : !this.#pool.isWhole()) pending.push('workers')
    else this.#wasWhole ||= this.#applied !== undefined
    if (this.#applied === undefined) pending.push('configuration')
    return { pending, rejected: this.#rejected }
  }

  #workerBuffers(): { slot: number; name: string; buffer: SharedArrayBuffer }[] {
    const workers = this.#pool.serving()
    return workers.map(({ slot, settings: { metricsBuffer: buffer } }) => ({ slot, name: `worker-${slot}`, buffer }))
  }

  #facts(): Parameters<typeof processMetrics>[0] {
    return {
      version: BUILD.version,
      configGeneration: () => this.#applied?.generation ?? 0,
      configApplied: () => this.#counts.applied,
      configRejected: () => this.#counts.rejected,
      workerRestarts: () => this.#pool.restarts,
      workerHangs: () => this.#pool.hangs,
      workersWanted: this.#pool.count,
      traceEventsDropped: () => this.#traces.dropped,
      fetchedCredentials: () => this.#pool.credentials.counts(),
      workers: () => this.#workerBuffers(),
    }
  }

  #dumped(): ConfigDumpInput {
    return {
      config: this.#applied?.config,
      certificates: this.#certificates.shown(),
      credentials: this.#pool.credentials.shown(),
      figures: (key) => this.#memory && readFigures(this.#memory.endpoints.shared, key),
      listenAddress: this.#settings.listenAddress,
      place: this.#settings.place,
      version: BUILD,
      settings: shownSettings(this.#settings, {
        mesh: this.#mesh,
        catalog: this.#catalog,
        configGeneration: this.#applied?.generation ?? 0,
      }),
    }
  }
}
