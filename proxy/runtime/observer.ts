// Everything observable about an exchange comes from here: one reading of the clock feeds metrics and access log.
import type { ExchangeObserver } from '../config/compiled.ts'
import type { Exchange } from '../exchange.ts'
import type { AccessLog, AccessLogRule } from '../log/access-log.ts'
import type { Logger } from '../log/logger.ts'
import type { Recorder } from '../metrics/recorder.ts'
import type { ConnectionObserver } from '../tcp/observer.ts'

export interface RuntimeObserver extends ExchangeObserver, ConnectionObserver {
  /** `rule`: the compiled access log policy of the exchange's place. */
  finished(exchange: Exchange, isComplete: boolean, rule?: AccessLogRule): void
}

export interface ObserverParts {
  readonly recorder: Recorder
  /** undefined: switched off. */
  readonly accessLog: AccessLog | undefined
  /** Logger of the module `request`: its level switches access lines. */
  readonly requestLogger: Logger
}

export function createObserver({ recorder, accessLog, requestLogger }: ObserverParts): RuntimeObserver {
  return {
    finished(exchange, isComplete, rule) {
      const endMs = performance.now()
      if (!isComplete) exchange.errorDetail ??= 'the connection broke before the response was complete'
      recorder.finished(exchange, endMs)
      if (accessLog !== undefined && requestLogger.isEnabled('info')) accessLog.log(exchange, rule, endMs)
    },
    mirrored(durationMs) {
      recorder.called({ kind: 'Mirror', subtype: 'Http', durationMs })
    },
    handshakeFinished: (result) => recorder.handshake(result),
    handshakeFailed(failure) {
      recorder.handshakeFailed()
      requestLogger.debug('TLS handshake failed', {
        'src.addr': `${failure.sourceAddress}:${failure.sourcePort}`,
        ...(failure.serverName !== undefined && { 'tls.sni': failure.serverName }),
        error: failure.detail,
      })
    },
    connectionFinished(exchange, { rule, receivedBytes }) {
      const endMs = performance.now()
      recorder.connectionFinished(exchange, { endMs, receivedBytes })
      if (accessLog !== undefined && requestLogger.isEnabled('info')) accessLog.connection(exchange, rule, endMs)
    },
    refused(info) {
      recorder.refused(info.status)
      if (accessLog !== undefined && requestLogger.isEnabled('info')) accessLog.refused(info)
    },
  }
}
