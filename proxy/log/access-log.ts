// One line for every request when its response is over: fields, order and formats of the data-plane supplement,
// section 6.3. Does not decide where lines go; never prints header values.
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

/** The compiled `frontend.accessLog` policy of a place. Make it with `accessLogRule`. */
export interface AccessLogRule extends FieldRule {
  /** Goes its own way besides the line: filter and fields are its own. */
  readonly exporter?: LogExporter | undefined
}

export interface LogExporter {
  /** `endMs`: `performance.now()` of the end. */
  log(exchange: Exchange, endMs: number): void
  /** A connection whose bytes were passed on. */
  connection(exchange: Exchange, endMs: number): void
}

export interface RefusedRequest extends Refusal {
  /** Where, as far as it was known. */
  readonly place?: RefusalPlace | undefined
}

/** `listener` is undefined where several share the port, for only the request would have said which. */
export interface RefusalPlace extends Pick<ExchangePlace, 'gatewayNamespace' | 'gatewayName'> {
  readonly listener: string | undefined
}

export interface AccessLog {
  /** `endMs`: `performance.now()` of the end of the response, when the caller knows it. */
  log(exchange: Exchange, rule?: AccessLogRule, endMs?: number): void
  /** A connection whose bytes were passed on: as `log`, without what only requests have. */
  connection(exchange: Exchange, rule?: AccessLogRule, endMs?: number): void
  /** A request or a connection that was refused before there was an exchange. */
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
  /** Adds `connection.id` and `request.id`: wanted at level debug only. */
  readonly isVerbose?: () => boolean
}

export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { write, isVerbose = never } = options
  const line = createLineBuilder(options.format)
  /** Fields of a place as text. Places live as long as their configuration. */
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
