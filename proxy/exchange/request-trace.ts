// The events that the stages of a request report to its trace. An exchange without a watcher has no trace.
// trace/exchange-trace.ts implements it; `E` is the exchange, which this file does not import.
import type { components } from '#api/admin/types.gen.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { OutgoingBody } from '../message/body.ts'
import type { HeaderList } from '../message/headers.ts'
import type { HttpResponse } from '../message/message.ts'
import type { ExchangePlace } from './facts.ts'

type TraceEvent = components['schemas']['TraceEvent']
export type TraceMessage = TraceEvent['message']
export type Severity = TraceEvent['severity']

/** The result of a rule of an authorization policy. */
export type TracedRule = components['schemas']['TraceRule']

export interface TracedMoment {
  readonly severity?: Severity
  /** `performance.now()` at the start of the reported event; unset for an instant. */
  readonly startMs?: number | undefined
}

/** The request that is sent, if it is not the request of the exchange itself. */
export interface SentRequest {
  readonly method?: string
  readonly pathAndQuery?: string
  readonly host?: string
  readonly headers?: HeaderList
}

export interface TracedCall {
  /** `host:port` */
  readonly target: string
  /** The transport. */
  readonly details?: string
  readonly sent?: SentRequest
  /** The body that is sent, if it is not the body of the request. */
  readonly body?: OutgoingBody
}

export interface TracedEvaluation<E> {
  readonly expression: CelExpression
  readonly exchange: E
  /** The value for the caller if the expression fails, derived from the error. */
  readonly failed: (error: unknown) => unknown
  readonly isCredential: boolean
}

/** Has policies that were merged. */
export interface PolicyHolder {
  /** The values from the compiler. */
  readonly effective?: object | undefined
}

export interface TracedListener {
  readonly place: ExchangePlace
  readonly chain: PolicyHolder
}

export interface TracedRoute {
  /** From the rendered configuration. */
  readonly key: string
  readonly plan: TracedListener
}

export interface TracedBackend extends PolicyHolder {
  readonly name: string
  /** Policies of the backend reference of the rule. */
  readonly inline?: object | undefined
}

export interface RequestTrace<E> {
  // Stages of the pipeline, in their order.

  listenerFound(listener: TracedListener): void
  /** No listener matches the host; or the server name selected `chosen`, which does not match. */
  listenerMissed(exchange: E, chosen: Pick<TracedListener, 'place'> | undefined): void
  /** `selected`: undefined when no route matches. */
  routeSelected(exchange: E, evaluatedRoutes: readonly string[], selected: TracedRoute | undefined): void
  /** `all`: the candidates. */
  backendSelected(
    exchange: E,
    backend: TracedBackend,
    all: readonly { readonly weight: number; readonly value: Pick<TracedBackend, 'name'> }[],
  ): void
  callBackend(
    exchange: E,
    handler: (exchange: E, done: (exchange: E) => void) => void,
    done: (exchange: E) => void,
  ): void
  /** The response is sent after this call. */
  finalResponse(exchange: E): void
  finished(exchange: E, isComplete: boolean): void

  // Calls of backends.

  /** Before the request is sent: its last state, the call, and its body. */
  backendStart(exchange: E, call: TracedCall): void
  callStart(target: string, details?: string): void
  /** Once for each started call; no effect without one. */
  backendResult(result: { readonly status: number | undefined; readonly error: string | undefined }): void
  upstreamAnswered(exchange: E, upstream: Pick<HttpResponse, 'status' | 'headers'>): void

  // Policies.

  policySelection(phase: NonNullable<TraceMessage['phase']>, holder: PolicyHolder, names?: object): void
  /** The current policy reports its decision and the reason. Never with a credential. */
  note(text: string): void
  /** The current policy does not apply to this request. */
  skip(reason: string): void
  /** After a policy ran: its result, and the new state. `isResponse`: it ran on the response. */
  policyRan(exchange: E, field: string, ran: { readonly startMs: number; readonly isResponse: boolean }): void
  /** The value of an expression, or `failed`. A credential is hidden in this and all later events. */
  evaluate(evaluation: TracedEvaluation<E>): unknown
  authorization(rules: readonly TracedRule[], isAllowed: boolean): void
  /** The body of the response is a credential: later events do not contain it. */
  omitResponseBody(): void

  write(message: TraceMessage, moment?: TracedMoment): void
  /** For a separate call of this request: its events have `name`. */
  scoped(name: string): RequestTrace<E>
}
