// The worker's side of watching: the watches that wait for a request, and the choice of the one a request goes to.
// While there is no watcher, requests only read `isArmed`.
import type { MessagePort } from 'node:worker_threads'
import { compilePermissive } from '#api/cel/compile.ts'
import { environmentWith } from '#api/cel/user-functions.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { variablesOf } from '../cel/variables.ts'
import { CredentialNames } from '../log/credential-names.ts'
import { redactText } from '../message/redact.ts'
import { ExchangeTrace } from './exchange-trace.ts'
import type { InspectRequest, TraceReport } from './messages.ts'
import { Redactor } from './redactor.ts'
import { TraceWriter, type TraceSink } from './trace-writer.ts'

interface Watch {
  /** Requests for which the expression failed, and that are not reported yet. */
  failures: number
  /** `performance.now()` */
  toldMs: number
  readonly port: MessagePort
  readonly expression: CelExpression | undefined
  readonly claim: Int32Array
}

/** Between two notes to a watcher whose expression fails. */
const FAILURE_INTERVAL_MS = 1000

export class TraceTap {
  /** A watcher waits for a request. */
  isArmed = false
  readonly #claimant: number
  /** In the order in which they get requests. */
  #watches: ReadonlySet<Watch> = new Set<Watch>()
  #config: RenderedConfig | undefined = undefined
  #names: CredentialNames | undefined = undefined

  constructor(workerId: number) {
    this.#claimant = workerId + 1
  }

  /** The configuration in force. Its names of credentials are only collected while a client watches. */
  setConfig(config: RenderedConfig): void {
    this.#config = config
    this.#names = this.isArmed ? CredentialNames.of(config) : undefined
  }

  arm(request: Extract<InspectRequest, { kind: 'trace' }>, port: MessagePort): void {
    const { expression, claim, isFirst = false } = request
    const watch: Watch = {
      failures: 0,
      toldMs: -Infinity,
      port,
      expression:
        expression === undefined
          ? undefined
          : compilePermissive(expression, environmentWith(this.#config?.customFunctions)),
      claim: new Int32Array(claim),
    }
    this.#watches = new Set(isFirst ? [watch, ...this.#watches] : [...this.#watches, watch])
    this.isArmed = true
    if (this.#config !== undefined) this.#names ??= CredentialNames.of(this.#config)
    // Closed by main when the watcher left or another worker was faster.
    port.on('close', () => this.#disarm(watch))
    // Without a listener for messages the port would not notice.
    port.on('message', () => undefined)
    post(port, { type: 'armed' })
  }

  /** Gives the request to the first watch that matches it and that no other worker has claimed. */
  offer(exchange: Exchange, bodyBytesMax: number): void {
    for (const watch of this.#watches) {
      if (watch.expression !== undefined && !this.#isMatch(watch, watch.expression, exchange)) continue
      const names = this.#names ?? new CredentialNames()
      this.#disarm(watch)
      if (Atomics.compareExchange(watch.claim, 0, 0, this.#claimant) !== 0) continue
      const writer = new TraceWriter({
        sink: sinkOf(watch.port),
        originMs: exchange.startMs,
        redactor: new Redactor(names),
      })
      post(watch.port, { type: 'claimed' })
      const trace = new ExchangeTrace(writer, { bodyBytesMax })
      exchange.trace = trace
      trace.started(exchange)
      return
    }
  }

  /** An expression that fails matches no request. The watcher gets the reason. */
  #isMatch(watch: Watch, expression: CelExpression, exchange: Exchange): boolean {
    try {
      const value = expression.evaluate(variablesOf(exchange))
      if (typeof value === 'boolean') return value
      this.#failed(watch, 'its value is not a boolean', exchange)
    } catch (error) {
      this.#failed(watch, error, exchange)
    }
    return false
  }

  #failed(watch: Watch, error: unknown, exchange: Exchange): void {
    watch.failures++
    const now = performance.now()
    if (now - watch.toldMs < FAILURE_INTERVAL_MS) return
    post(watch.port, { type: 'failed', message: this.#failureText(error, exchange), count: watch.failures })
    watch.failures = 0
    watch.toldMs = now
  }

  /** What failed may quote values of the request. */
  #failureText(error: unknown, { request }: Exchange): string {
    const redactor = new Redactor(this.#names ?? new CredentialNames())
    redactor.headers(request.headers)
    redactor.query(request.query)
    return redactor.text(redactText(error instanceof Error ? error.message : String(error)))
  }

  #disarm(watch: Watch): void {
    this.#watches = new Set([...this.#watches].filter((one) => one !== watch))
    this.isArmed = this.#watches.size > 0
    if (!this.isArmed) this.#names = undefined
  }
}

/** Sending to a port whose other end is closed does nothing: a watcher that left costs no more than this. */
function sinkOf(port: MessagePort): TraceSink {
  return {
    event: (json) => post(port, { type: 'event', json }),
    end() {
      post(port, { type: 'end' })
      port.close()
    },
  }
}

function post(port: MessagePort, report: TraceReport): void {
  port.postMessage(report)
}
