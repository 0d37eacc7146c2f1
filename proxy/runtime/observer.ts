// Everything observable about an exchange comes from here: one reading of the clock feeds metrics and access log.
import { REQUEST_STEPS_MAX } from '../cel/budget.ts'
import type { ExchangeObserver, ObservedListener } from '../pipeline/observer.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AccessLog } from '../log/access-log.ts'
import { redactText } from '../message/redact.ts'
import type { Logger } from '../log/logger.ts'
import type { Recorder } from '../metrics/recorder.ts'
import type { ConnectionObserver } from '../metrics/tcp-observer.ts'
import { Sparing } from './sparing.ts'

/** Limits the log lines about an unreachable collector or a listener that rejects everything. */
const TOLD_INTERVAL_MS = 30_000

export interface RuntimeObserver extends ExchangeObserver, ConnectionObserver {
  finished(exchange: Exchange, isComplete: boolean, listener?: ObservedListener): void
}

export interface ObserverParts {
  readonly recorder: Recorder
  /** undefined: switched off. */
  readonly accessLog: AccessLog | undefined
  /** Logger of the module `request`: its level switches access lines. */
  readonly requestLogger: Logger
  readonly exportLogger: Logger
}

/** Logs, metrics and spans have steps of their own: what the request used up must not hide it. */
function end(exchange: Exchange, endMs: number): void {
  exchange.isOver = true
  exchange.endMs = endMs
  exchange.celStepsLeft = REQUEST_STEPS_MAX
}

export function createObserver({ recorder, accessLog, requestLogger, exportLogger }: ObserverParts): RuntimeObserver {
  /** Metrics count them all; the log only says that it happens. */
  const isLossDue = atIntervals()
  const isFaultDue = atIntervals()
  const handshakes = new Sparing()
  return {
    finished(exchange, isComplete, listener) {
      const rule = listener?.accessLog
      const endMs = performance.now()
      if (!isComplete) exchange.errorDetail ??= 'the connection closed before the response was complete'
      end(exchange, endMs)
      recorder.finished(exchange, endMs, listener?.metricLabels)
      if (accessLog !== undefined && requestLogger.isEnabled('info')) accessLog.log(exchange, rule, endMs)
      rule?.exporter?.log(exchange, endMs)
      if (exchange.span !== undefined) exchange.span.finish(exchange, endMs)
    },
    called: (call) => recorder.called(call),
    mcpSession: (event, server) => recorder.mcpSession(event, server),
    connected: (transport, durationMs) => recorder.connected(transport, durationMs),
    transferred: (bytes) => recorder.transferred(bytes),
    exported({ signal, result, count, detail }) {
      recorder.exported(signal, result, count)
      if (result === 'exported' || !isLossDue()) return
      const error = redactText(detail ?? '')
      exportLogger.warn('failed to export spans or log records', { signal, result, count, error })
    },
    handshakeFinished: (result) => recorder.handshake(result),
    handshakeFailed(failure) {
      recorder.handshakeFailed()
      const isFault = failure.isOwnFault === true && isFaultDue()
      const level = isFault ? 'error' : handshakes.isDue() ? 'info' : 'debug'
      if (!requestLogger.isEnabled(level)) return
      const notLogged = level === 'info' ? handshakes.leftOut() : 0
      requestLogger[level]('TLS handshake failed', {
        'src.addr': `${failure.sourceAddress}:${failure.sourcePort}`,
        ...(failure.serverName !== undefined && { 'tls.sni': failure.serverName }),
        error: failure.detail,
        ...(notLogged > 0 && { 'not.logged': notLogged }),
      })
    },
    connectionFinished(exchange, { rule, metricLabels, receivedBytes }) {
      const endMs = performance.now()
      end(exchange, endMs)
      recorder.connectionFinished(exchange, { endMs, metricLabels, receivedBytes })
      if (accessLog !== undefined && requestLogger.isEnabled('info')) accessLog.connection(exchange, rule, endMs)
      rule?.exporter?.connection(exchange, endMs)
    },
    refused(info) {
      recorder.refused(info.status)
      if (accessLog !== undefined && requestLogger.isEnabled('info')) accessLog.refused(info)
    },
  }
}

/** True for the first call, and then once an interval. */
function atIntervals(): () => boolean {
  let lastMs = -Infinity
  return () => {
    const nowMs = performance.now()
    if (nowMs - lastMs < TOLD_INTERVAL_MS) return false
    lastMs = nowMs
    return true
  }
}
