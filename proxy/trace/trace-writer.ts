// Writes the events of one traced request: time, severity, scope, redaction, and a bound on all of it.
import type { components } from '#api/admin/types.gen.ts'
import type { Severity, TracedMoment, TraceMessage } from '../exchange/request-trace.ts'
import type { Redactor } from './redactor.ts'

export type TraceEvent = components['schemas']['TraceEvent']

/** Where events of one request go. Both are calls that return at once. */
export interface TraceSink {
  event(json: string): void
  end(): void
}

/** A request with more events (an MCP conversation that never ends) loses those beyond, but for the last one. */
const EVENTS_MAX = 1024
/** The same for their text. */
const CHARACTERS_MAX = 16 * 1024 * 1024

export interface EventOptions extends TracedMoment {
  readonly scope?: readonly string[]
}

export class TraceWriter {
  readonly redactor: Redactor
  readonly #sink: TraceSink
  readonly #originMs: number
  #events = 0
  #characters = 0
  #isOver = false

  constructor(options: { sink: TraceSink; originMs: number; redactor: Redactor }) {
    this.#sink = options.sink
    this.#originMs = options.originMs
    this.redactor = options.redactor
  }

  write(message: TraceMessage, options: EventOptions = {}): void {
    if (this.#isOver || this.#events >= EVENTS_MAX || this.#characters >= CHARACTERS_MAX) return
    const json = this.#textOf(message, options)
    this.#events++
    this.#characters += json.length
    this.#sink.event(json)
  }

  /** The last event; it is never left out. */
  end(message: TraceMessage, options: EventOptions): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#sink.event(this.#textOf(message, options))
    this.#sink.end()
  }

  #textOf(message: TraceMessage, { severity = 'info', startMs, scope = [] }: EventOptions): string {
    const event: TraceEvent = {
      eventStart: startMs === undefined ? null : this.#micros(startMs),
      eventEnd: this.#micros(performance.now()),
      severity,
      ...(scope.length > 0 ? { scope: [...scope] } : {}),
      message,
    }
    return this.redactor.json(event)
  }

  #micros(ms: number): number {
    return Math.max(0, Math.round((ms - this.#originMs) * 1000))
  }
}

/** Severity of an answer with that status. */
export function severityOf(status: number | undefined): Severity {
  if (status === undefined || status >= 500) return 'error'
  return status >= 400 ? 'warn' : 'success'
}
