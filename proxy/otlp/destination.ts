// Where records go: one collector for spans or log records, with what is sent about the process.
import type { Attribute } from './attributes.ts'
import type { ExportResult } from './batch-exporter.ts'
import type { OtlpChannel } from './transport.ts'

export type Signal = 'traces' | 'logs'

export type Exported = (outcome: ExportOutcome) => void

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
