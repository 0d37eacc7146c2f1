// The exporters of one configuration, one for each destination and resource, so that listeners share them. A
// destination that the next configuration also has keeps its queue; any other exports its remaining records.
import { create } from '@bufbuild/protobuf'
import type { Attribute } from './attributes.ts'
import { BatchExporter, type ExporterUser, type ExportResult } from './batch-exporter.ts'
import { LogsService } from './gen/opentelemetry/proto/collector/logs/v1/logs_service.gen.ts'
import { TraceService } from './gen/opentelemetry/proto/collector/trace/v1/trace_service.gen.ts'
import type { LogRecord } from './gen/opentelemetry/proto/logs/v1/logs.gen.ts'
import type { Span } from './gen/opentelemetry/proto/trace/v1/trace.gen.ts'
import { sendBatch, type OtlpChannel, type OtlpSignal } from './transport.ts'

export type Signal = 'traces' | 'logs'

export interface ExportOutcome {
  readonly signal: Signal
  readonly result: ExportResult
  readonly count: number
  readonly detail: string | undefined
}

export interface Destination {
  /** What makes destinations differ, from the configuration: no address of a running endpoint. */
  readonly key: string
  readonly channel: OtlpChannel
  readonly resource: readonly Attribute[]
  readonly version: string
  /** Of the process: the same for as long as it lives. */
  readonly delayMs: number
}

/** Takes records; returns at once. */
export interface RecordSink<T> {
  add(record: T): void
}

const SCOPE_NAME = 'gw'
/** For what a destination that went out of the configuration has left. */
const RETIRE_MS = 10_000

interface Entry<T> {
  readonly exporter: BatchExporter<T>
  /** Of this configuration; in force once it is. */
  readonly user: ExporterUser<T>
}

export class OtlpHub {
  #previous: OtlpHub | undefined
  readonly #exported: (outcome: ExportOutcome) => void
  readonly #traces = new Map<string, Entry<Span>>()
  readonly #logs = new Map<string, Entry<LogRecord>>()

  constructor(previous: OtlpHub | undefined, exported: (outcome: ExportOutcome) => void) {
    this.#previous = previous
    this.#exported = exported
  }

  traces(destination: Destination): RecordSink<Span> {
    const known = this.#previous === undefined ? undefined : this.#previous.#traces.get(destination.key)
    return this.#entry(this.#traces, destination, known, () => this.#spanUser(destination))
  }

  logs(destination: Destination): RecordSink<LogRecord> {
    const known = this.#previous === undefined ? undefined : this.#previous.#logs.get(destination.key)
    return this.#entry(this.#logs, destination, known, () => this.#logUser(destination))
  }

  /** The configuration is in force. `previous` may be another one than it was compiled after. */
  takeOver(previous: OtlpHub | undefined): void {
    for (const { exporter, user } of this.#traces.values()) exporter.user = user
    for (const { exporter, user } of this.#logs.values()) exporter.user = user
    this.#previous = undefined
    if (previous === undefined) return
    const kept = new Set<unknown>([...this.#entries()].map(({ exporter }) => exporter))
    for (const { exporter } of previous.#entries()) if (!kept.has(exporter)) void exporter.close(RETIRE_MS)
  }

  /** Sends what is there. */
  async flush(): Promise<void> {
    await Promise.all([...this.#entries()].map(({ exporter }) => exporter.flush()))
  }

  async close(timeoutMs: number): Promise<void> {
    await Promise.all([...this.#entries()].map(({ exporter }) => exporter.close(timeoutMs)))
  }

  *#entries(): Iterable<{ readonly exporter: { flush(): Promise<void>; close(timeoutMs: number): Promise<void> } }> {
    yield* this.#traces.values()
    yield* this.#logs.values()
  }

  #entry<T>(
    entries: Map<string, Entry<T>>,
    { key, delayMs }: Destination,
    known: Entry<T> | undefined,
    makeUser: () => ExporterUser<T>,
  ): BatchExporter<T> {
    const own = entries.get(key)
    if (own !== undefined) return own.exporter
    const user = makeUser()
    const exporter = known?.exporter ?? new BatchExporter(user, delayMs)
    entries.set(key, { exporter, user })
    return exporter
  }

  #spanUser({ channel, resource, version }: Destination): ExporterUser<Span> {
    const signal: OtlpSignal<typeof TraceService.method.export.input, typeof TraceService.method.export.output> = {
      method: TraceService.method.export,
      rejected: ({ partialSuccess }) => Number(partialSuccess?.rejectedSpans ?? 0n),
    }
    return {
      send: (spans, timeoutMs) => {
        const scopeSpans = [{ scope: { name: SCOPE_NAME, version }, spans: [...spans] }]
        const message = create(signal.method.input, {
          resourceSpans: [{ resource: { attributes: [...resource] }, scopeSpans }],
        })
        return sendBatch(channel, signal, message, timeoutMs)
      },
      counted: (result, count, detail) => this.#exported({ signal: 'traces', result, count, detail }),
    }
  }

  #logUser({ channel, resource, version }: Destination): ExporterUser<LogRecord> {
    const signal: OtlpSignal<typeof LogsService.method.export.input, typeof LogsService.method.export.output> = {
      method: LogsService.method.export,
      rejected: ({ partialSuccess }) => Number(partialSuccess?.rejectedLogRecords ?? 0n),
    }
    return {
      send: (records, timeoutMs) => {
        const scopeLogs = [{ scope: { name: SCOPE_NAME, version }, logRecords: [...records] }]
        const message = create(signal.method.input, {
          resourceLogs: [{ resource: { attributes: [...resource] }, scopeLogs }],
        })
        return sendBatch(channel, signal, message, timeoutMs)
      },
      counted: (result, count, detail) => this.#exported({ signal: 'logs', result, count, detail }),
    }
  }
}
