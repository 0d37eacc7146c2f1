// One line for every request at the end of its response: fields, order and formats of the data-plane supplement,
// section 6.3. Independent of the destination; never prints header values.
import type { Exchange } from '../exchange/exchange.ts'
import type { ExchangePlace } from '../exchange/facts.ts'
import type { Refusal } from '../http/handler.ts'
import {
  addFields,
  addHttp,
  addOutcome,
  addPlace,
  addSource,
  fieldRule,
  socketAddress,
  type FieldRule,
  type FieldSink,
} from './fields.ts'
import { createLineBuilder } from './line-builder.ts'
import type { LogFormat } from './logger.ts'
import { requestIdOf } from './request-id.ts'
import { microsAt, nowMicros } from './timestamp.ts'

/** The compiled `frontend.accessLog` policy of a place. Created by `accessLogRule`. */
export interface AccessLogRule extends FieldRule {
  /** An additional export with its own filter and fields. */
  readonly exporter?: LogExporter | undefined
}

export interface LogExporter {
  /** `endMs`: `performance.now()` of the end. */
  log(exchange: Exchange, endMs: number): void
  /** A connection with forwarded bytes. */
  connection(exchange: Exchange, endMs: number): void
}

export interface RefusedRequest extends Refusal {
  /** The place, as far as known. */
  readonly place?: RefusalPlace | undefined
}

/** `listener` is undefined if several share the port, because only the request selects one. */
export interface RefusalPlace extends Pick<ExchangePlace, 'gatewayNamespace' | 'gatewayName'> {
  readonly listener: string | undefined
}

export interface AccessLog {
  /** `endMs`: `performance.now()` of the end of the response, if the caller has it. */
  log(exchange: Exchange, rule?: AccessLogRule, endMs?: number): void
  /** A connection with forwarded bytes: like `log`, without the fields of requests. */
  connection(exchange: Exchange, rule?: AccessLogRule, endMs?: number): void
  /** A request or a connection that was rejected before there was an exchange. */
  refused(info: RefusedRequest): void
}

export function accessLogRule(
  policy: Parameters<typeof fieldRule>[0] & { readonly exporter?: LogExporter | undefined },
): AccessLogRule {
  return { ...fieldRule(policy), exporter: policy.exporter }
}

export interface AccessLogOptions {
  readonly format: LogFormat
  readonly write: (line: string) => void
  /** Adds `connection.id` and `request.id`: at level debug only. */
  readonly isVerbose?: () => boolean
}

export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { write, isVerbose = never } = options
  const line = createLineBuilder(options.format)
  /** Fields of a place as text. Places exist as long as their configuration. */
  const placeFields = new WeakMap<ExchangePlace, string>()

  function addPlaceOnce(place: ExchangePlace | undefined, dropped: ReadonlySet<string> | undefined): void {
    if (place === undefined) return
    if (dropped !== undefined) {
      addPlace(line, place)
      return
    }
    const known = placeFields.get(place)
    if (known !== undefined) {
      line.raw(known)
      return
    }
    const start = line.length
    addPlace(line, place)
    placeFields.set(place, line.since(start))
  }

  return {
    log(exchange, rule, endMs = performance.now()) {
      if (rule?.filter !== undefined && !rule.filter(exchange)) return
      line.begin(microsAt(endMs), rule?.dropped)
      if (isVerbose()) {
        line.number('connection.id', exchange.connection.id)
        line.plain('request.id', requestIdOf(exchange))
      }
      addPlaceOnce(exchange.place, rule?.dropped)
      addHttp(line, exchange)
      addOutcome(line, exchange, endMs - exchange.startMs)
      if (rule !== undefined) addFields(line, rule, exchange)
      write(line.end())
    },
    connection(exchange, rule, endMs = performance.now()) {
      if (rule?.filter !== undefined && !rule.filter(exchange)) return
      line.begin(microsAt(endMs), rule?.dropped)
      if (isVerbose()) line.number('connection.id', exchange.connection.id)
      addPlaceOnce(exchange.place, rule?.dropped)
      addSource(line, exchange)
      line.text('tls.sni', exchange.connection.sni)
      addOutcome(line, exchange, endMs - exchange.startMs)
      if (rule !== undefined) addFields(line, rule, exchange)
      write(line.end())
    },
    refused(info) {
      line.begin(nowMicros(), undefined)
      if (info.place !== undefined) addGateway(line, info.place)
      line.plain('src.addr', socketAddress(info.sourceAddress, info.sourcePort))
      line.number('http.status', info.status)
      line.quoted('error', info.detail)
      line.plain('reason', info.reason ?? 'InvalidRequest')
      write(line.end())
    },
  }
}

function addGateway(line: FieldSink, { gatewayNamespace, gatewayName, listener }: RefusalPlace): void {
  line.plain('gateway', `${gatewayNamespace}/${gatewayName}`)
  line.plain('listener', listener)
}

function never(): boolean {
  return false
}
