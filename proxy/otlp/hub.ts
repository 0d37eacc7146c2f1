// The exporters of one configuration, one for each destination and resource, so that listeners share them. A
// destination that the next configuration also has keeps its queue; any other exports its remaining records.
import { BatchExporter, type ExporterUser } from './batch-exporter.ts'
import type { Destination, Exported, RecordSink } from './destination.ts'
import type { LogRecord } from './gen/opentelemetry/proto/logs/v1/logs.gen.ts'
import type { Span } from './gen/opentelemetry/proto/trace/v1/trace.gen.ts'
import { OTLP } from './late-otlp.ts'

/** For what a destination that went out of the configuration has left. */
const RETIRE_MS = 10_000

interface Entry<T> {
  readonly exporter: BatchExporter<T>
  /** Of this configuration; in force once it is. */
  readonly user: ExporterUser<T>
}

export class OtlpHub {
  #previous: OtlpHub | undefined
  readonly #exported: Exported
  readonly #traces = new Map<string, Entry<Span>>()
  readonly #logs = new Map<string, Entry<LogRecord>>()

  constructor(previous: OtlpHub | undefined, exported: Exported) {
    this.#previous = previous
    this.#exported = exported
  }

  traces(destination: Destination): RecordSink<Span> {
    const known = this.#previous === undefined ? undefined : this.#previous.#traces.get(destination.key)
    return this.#entry(this.#traces, destination, known, () => OTLP.get().spanUser(destination, this.#exported))
  }

  logs(destination: Destination): RecordSink<LogRecord> {
    const known = this.#previous === undefined ? undefined : this.#previous.#logs.get(destination.key)
    return this.#entry(this.#logs, destination, known, () => OTLP.get().logUser(destination, this.#exported))
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
}
