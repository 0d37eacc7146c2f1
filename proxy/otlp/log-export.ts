// The access log as OTLP records: the same fields as the line, a filter and attributes of its own.
import { create } from '@bufbuild/protobuf'
import type { Exchange } from '../exchange/exchange.ts'
import type { LogExporter } from '../log/access-log.ts'
import { addFields, addHttp, addOutcome, addPlace, addSource, type FieldRule } from '../log/fields.ts'
import { AttributeList, text } from './attributes.ts'
import { LogRecordSchema, SeverityNumber, type LogRecord } from './gen/opentelemetry/proto/logs/v1/logs.gen.ts'
import type { RecordSink } from './destination.ts'
import { bytesOf, nanosAt } from './request-span.ts'

export function logExporter(rule: FieldRule, sink: RecordSink<LogRecord>): LogExporter {
  const add = (exchange: Exchange, endMs: number, addOwn: (list: AttributeList) => void): void => {
    if (rule.filter !== undefined && !rule.filter(exchange)) return
    const list = new AttributeList(rule.dropped)
    if (exchange.place !== undefined) addPlace(list, exchange.place)
    addOwn(list)
    addOutcome(list, exchange, endMs - exchange.startMs)
    addFields(list, rule, exchange)
    const { span } = exchange
    sink.add(
      create(LogRecordSchema, {
        timeUnixNano: nanosAt(endMs),
        observedTimeUnixNano: nanosAt(endMs),
        severityNumber: SeverityNumber.INFO,
        severityText: 'info',
        body: text('request'),
        attributes: list.attributes,
        droppedAttributesCount: list.dropped,
        ...(span !== undefined && { traceId: bytesOf(span.traceId), spanId: bytesOf(span.spanId) }),
      }),
    )
  }
  return {
    log: (exchange, endMs) => add(exchange, endMs, (list) => addHttp(list, exchange)),
    connection: (exchange, endMs) =>
      add(exchange, endMs, (list) => {
        addSource(list, exchange)
        list.text('tls.sni', exchange.connection.sni)
      }),
  }
}
