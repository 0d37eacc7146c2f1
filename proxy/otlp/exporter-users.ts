// The senders of exporters: batches of spans and log records as requests of OTLP.
import { create } from '@bufbuild/protobuf'
import type { ExporterUser } from './batch-exporter.ts'
import { LogsService } from './gen/opentelemetry/proto/collector/logs/v1/logs_service.gen.ts'
import { TraceService } from './gen/opentelemetry/proto/collector/trace/v1/trace_service.gen.ts'
import type { LogRecord } from './gen/opentelemetry/proto/logs/v1/logs.gen.ts'
import type { Span } from './gen/opentelemetry/proto/trace/v1/trace.gen.ts'
import type { Destination, Exported } from './destination.ts'
import { sendBatch, type OtlpSignal } from './transport.ts'

const SCOPE_NAME = 'gw'

export function spanUser({ channel, resource, version }: Destination, exported: Exported): ExporterUser<Span> {
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
    counted: (result, count, detail) => exported({ signal: 'traces', result, count, detail }),
  }
}

export function logUser({ channel, resource, version }: Destination, exported: Exported): ExporterUser<LogRecord> {
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
    counted: (result, count, detail) => exported({ signal: 'logs', result, count, detail }),
  }
}
