// What the stages of a request tell its trace. An exchange without a watcher has none. trace/exchange-trace.ts
// implements it; `E` is the exchange, which this file does not import.
import type { components } from '#api/admin/types.gen.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { OutgoingBody } from '../message/body.ts'
import type { HeaderList } from '../message/headers.ts'
import type { HttpResponse } from '../message/message.ts'
import type { ExchangePlace } from './facts.ts'

type TraceEvent = components['schemas']['TraceEvent']
export type TraceMessage = TraceEvent['message']
export type Severity = TraceEvent['severity']

/** A rule of an authorization policy as it was evaluated. */
export type TracedRule = components['schemas']['TraceRule']

export interface TracedMoment {
  readonly severity?: Severity
  /** `performance.now()` at which what is told began; unset for an instant. */
  readonly startMs?: number | undefined
}

/** What is sent, where it is not the request of the exchange itself. */
export interface SentRequest {
  readonly method?: string
  readonly pathAndQuery?: string
  readonly host?: string
  readonly headers?: HeaderList
}

export interface TracedCall {
  /** `host:port` */
  readonly target: string
  /** How it is reached. */
  readonly details?: string
  readonly sent?: SentRequest
  /** The body as it is sent, where it is not the body of the request. */
  readonly body?: OutgoingBody
}

export interface TracedEvaluation<E> {
  readonly expression: CelExpression
  readonly exchange: E
  /** What the caller gets when the expression fails, from the error. */
  readonly failed: (error: unknown) => unknown
  readonly isCredential: boolean
}

/** Has policies that were merged. */
export interface PolicyHolder {
  /** As the compiler had them. */
  readonly effective?: object | undefined
}

export interface TracedListener {
  readonly place: ExchangePlace
  readonly chain: PolicyHolder
}

export interface TracedRoute {
  /** Of the rendered configuration. */
  readonly key: string
  readonly plan: TracedListener
}

export interface TracedBackend extends PolicyHolder {
  readonly name: string
  /** Policies that stand on the reference of the rule. */
  readonly inline?: object | undefined
}

export interface RequestTrace<E> {
  // Stages of the pipeline, in their order.

  listenerFound(listener: TracedListener): void
  /** No listener is for the host; or the server name chose `chosen`, which is not. */
  listenerMissed(exchange: E, chosen: Pick<TracedListener, 'place'> | undefined): void
  /** `selected`: undefined when no route matches. */
  routeSelected(exchange: E, evaluatedRoutes: readonly string[], selected: TracedRoute | undefined): void
  /** `all`: what was chosen from. */
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
  /** The response goes out after this. */
  finalResponse(exchange: E): void
  finished(exchange: E, isComplete: boolean): void

  // Calls of backends.

  /** Before the request leaves: its last state, the call, and its body. */
  backendStart(exchange: E, call: TracedCall): void
  callStart(target: string, details?: string): void
  /** Once for each call that was started; without one it tells nothing. */
  backendResult(result: { readonly status: number | undefined; readonly error: string | undefined }): void
  upstreamAnswered(exchange: E, upstream: Pick<HttpResponse, 'status' | 'headers'>): void

  // Policies.

  policySelection(phase: NonNullable<TraceMessage['phase']>, holder: PolicyHolder, names?: object): void
  /** The policy that runs now says what it decides and why. Never with a credential in it. */
  note(text: string): void
  /** The policy that runs now has nothing to do with this request. */
  skip(reason: string): void
  /** After one policy ran: what it did, and the state it left. `isResponse`: it ran on the response. */
  policyRan(exchange: E, field: string, ran: { readonly startMs: number; readonly isResponse: boolean }): void
  /** The value of an expression, or `failed`. A credential is hidden here and in all later events. */
  evaluate(evaluation: TracedEvaluation<E>): unknown
  authorization(rules: readonly TracedRule[], isAllowed: boolean): void

  write(message: TraceMessage, moment?: TracedMoment): void
  /** For a call of its own beneath this request: its events carry `name`. */
  scoped(name: string): RequestTrace<E>
}
