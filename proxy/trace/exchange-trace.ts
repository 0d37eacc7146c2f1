// The trace of one request: turns reports of the pipeline, policies and backends into events (specification, "Events").
// An exchange without a watcher has no trace, so this code costs nothing then. Changes nothing of the request; its
// bodies are copied while they are forwarded.
import { messageOf } from '../exchange/diagnosis.ts'
import { Flattened } from '#api/cel/values/flattened.ts'
import { redactTree } from '#api/credentials/redact-tree.ts'
import { REDACTED } from '#api/credentials/sensitive-headers.ts'
import { routeShares } from '../cel/budget.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { LlmFacts } from '../exchange/facts.ts'
import { costOf } from '../log/fields.ts'
import type { HeaderList } from '../message/headers.ts'
import type { OutgoingBody } from '../message/body.ts'
import { Tunnel } from '../socket/tunnel.ts'
import { redactText } from '../message/redact.ts'
import { plainPolicies, routeNames, sourcesOf } from './effective.ts'
import { displayName, type PolicyLevel } from './policy-names.ts'
import { BodyRecorder, recordBody, type BodyRecord } from '../log/recorded-body.ts'
import { requestState, responseState, shown, upstreamState } from './snapshot.ts'
import type {
  PolicyHolder,
  RequestTrace,
  Severity,
  TracedBackend,
  TracedCall,
  TracedEvaluation,
  TracedListener,
  TracedMoment,
  TracedRoute,
  TracedRule,
  TraceMessage,
} from '../exchange/request-trace.ts'
import { severityOf, type EventOptions, type TraceWriter } from './trace-writer.ts'

type Handler = (exchange: Exchange, done: (exchange: Exchange) => void) => void
type Choice = { readonly weight: number; readonly value: Pick<TracedBackend, 'name'> }

type PolicyResult =
  | { readonly type: 'apply'; readonly details: string }
  | { readonly type: 'skip'; readonly reason: string }

export class ExchangeTrace implements RequestTrace<Exchange> {
  readonly #writer: TraceWriter
  readonly #bodyBytesMax: number
  readonly #scope: readonly string[]
  /** Bodies that still go by, so that the end of the request is the end of them. */
  readonly #recording = new Set<BodyRecorder>()
  #level: PolicyLevel = 'gateway'
  /** Of the policy that runs now. */
  #notes: string[] = []
  #skipReason: string | undefined = undefined
  #callStartMs: number | undefined = undefined
  #target: string | undefined = undefined
  #omitsResponseBody = false

  constructor(writer: TraceWriter, options: { readonly bodyBytesMax: number; readonly scope?: readonly string[] }) {
    this.#writer = writer
    this.#bodyBytesMax = options.bodyBytesMax
    this.#scope = options.scope ?? []
  }

  /** For a call of its own beneath this request: its events carry `name`. */
  scoped(name: string): ExchangeTrace {
    const scope = [...this.#scope, name]
    const child = new ExchangeTrace(this.#writer, { bodyBytesMax: this.#bodyBytesMax, scope })
    child.#level = 'backend'
    return child
  }

  // --- stages of the pipeline, in their order ---

  started(exchange: Exchange): void {
    this.write({ type: 'requestStarted' })
    this.requestSnapshot(exchange, 'initial request')
  }

  listenerFound({ place, chain }: TracedListener): void {
    const { gatewayNamespace, gatewayName, listener } = place
    this.policySelection('gateway', chain, { gateway: `${gatewayNamespace}/${gatewayName}`, listener })
  }

  /** No listener is for the host; or the server name chose `chosen`, which is not. */
  listenerMissed({ request, connection }: Exchange, chosen: Pick<TracedListener, 'place'> | undefined): void {
    const port = connection.localPort
    const details =
      chosen === undefined
        ? `port ${port} has no listener for the host ${request.host}`
        : `the server name of the connection chose ${chosen.place.listener}, which is not for the host ${request.host}`
    this.write({ type: 'policyEvent', kind: 'listener', details }, { severity: 'error' })
  }

  routeSelected(exchange: Exchange, evaluatedRoutes: readonly string[], selected: TracedRoute | undefined): void {
    this.requestSnapshot(exchange, 'gateway policies')
    this.#level = 'route'
    const severity = selected === undefined ? 'error' : 'info'
    const where = selected && { selectedRoute: selected.key, ...routeNames(selected.plan) }
    this.write({ type: 'routeSelection', ...where, evaluatedRoutes: [...evaluatedRoutes] }, { severity })
    if (selected !== undefined) this.policySelection('route', selected.plan.chain)
  }

  backendSelected(exchange: Exchange, backend: TracedBackend, all: readonly Choice[]): void {
    this.requestSnapshot(exchange, 'route policies')
    this.#level = 'backend'
    this.#weights(backend, all)
    this.policySelection('backend', backend, { backend: backend.name })
    // The previous snapshot has these merged in, above all others; shown separately so that their origin is visible.
    if (backend.inline !== undefined) this.policySelection('inlineBackend', { effective: backend.inline })
  }

  callBackend(exchange: Exchange, handler: Handler, done: (exchange: Exchange) => void): void {
    handler(exchange, (answered) => {
      const { response, errorDetail, reason } = answered
      const hasAnswer = response !== undefined && reason === 'Upstream'
      // LLM backends have reported both already, as received and not as translated.
      const isOpen = this.#callStartMs !== undefined
      this.backendResult({ status: hasAnswer ? response.status : undefined, error: errorDetail })
      if (isOpen && hasAnswer) this.responseSnapshot(answered, 'raw response')
      if (hasAnswer) this.responseSnapshot(answered, 'backend response ready')
      done(answered)
    })
  }

  /** The response goes out after this. */
  finalResponse(exchange: Exchange): void {
    const { response } = exchange
    this.responseSnapshot(exchange, 'final response')
    if (response === undefined || this.#omitsResponseBody) return
    response.body = this.#recorded(response.body, 'response')
  }

  omitResponseBody(): void {
    this.#omitsResponseBody = true
  }

  finished(exchange: Exchange, isComplete: boolean): void {
    for (const recorder of this.#recording) recorder.over()
    const { response, reason, errorDetail, llm } = exchange
    if (llm !== undefined) this.#usage(llm)
    const status = isComplete ? response?.status : undefined
    const hasFailed = reason !== 'Upstream' || !isComplete
    this.#writer.end(
      {
        type: 'requestFinished',
        ...(response && { status: response.status }),
        error: hasFailed && errorDetail !== undefined ? redactText(errorDetail) : null,
      },
      this.#options(severityOf(status), exchange.startMs),
    )
  }

  /** Only of a response with tokens. */
  #usage(llm: LlmFacts): void {
    const cost = costOf(llm)
    if (cost === undefined) return
    const { inputTokens, outputTokens } = llm
    this.write({
      type: 'llmUsage',
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
      costStatus: cost.status,
      ...(cost.usd && { cost: cost.usd.total }),
    })
  }

  // --- backends ---

  /** Before the request leaves: its last state, the call, and its body. */
  backendStart(exchange: Exchange, { target, details, sent, body }: TracedCall): void {
    this.write({
      type: 'requestSnapshot',
      stage: 'final request',
      requestState: requestState(exchange, this.#writer.redactor, sent),
    })
    if (exchange.usedEndpoint?.state.isEvicted === true) {
      const why = `${target} is evicted, but all other candidates are evicted too: it gets the request`
      this.write({ type: 'policyEvent', kind: 'health', details: why }, { severity: 'warn' })
    }
    this.callStart(target, details)
    // Requests are whole or come from a connection: both are recorded as they are.
    this.#recorded(body ?? exchange.request.body, 'final request')
  }

  callStart(target: string, details?: string): void {
    this.#callStartMs = performance.now()
    this.#target = target
    this.write({ type: 'backendCallStart', target, ...(details !== undefined && { details }) })
  }

  /** Once for each started call; no effect without one. */
  backendResult({ status, error }: { readonly status: number | undefined; readonly error: string | undefined }): void {
    const startMs = this.#callStartMs
    if (startMs === undefined) return
    this.#callStartMs = undefined
    const text = status === undefined ? (error ?? 'no answer') : null
    this.write(
      {
        type: 'backendCallResult',
        target: this.#target ?? '',
        ...(status !== undefined && { status }),
        error: text === null ? null : redactText(text),
      },
      { severity: severityOf(status), startMs },
    )
  }

  upstreamAnswered(exchange: Exchange, upstream: { readonly status: number; readonly headers: HeaderList }): void {
    this.backendResult({ status: upstream.status, error: undefined })
    const state = upstreamState(exchange, this.#writer.redactor, upstream)
    this.write({ type: 'responseSnapshot', stage: 'raw response', requestState: state })
  }

  policySelection(
    phase: NonNullable<TraceMessage['phase']>,
    { effective = {} }: PolicyHolder,
    names: object = {},
  ): void {
    const [effectivePolicy, sources] = [redactTree(plainPolicies(effective)), sourcesOf(effective)]
    this.write({ type: 'policySelection', phase, ...names, effectivePolicy, ...(sources && { sources }) })
  }

  /** Where there was something to choose from. */
  #weights({ name }: TracedBackend, all: readonly Choice[]): void {
    if (all.length < 2) return
    const weights = all.map(({ weight, value }) => `${value.name} ${weight}`).join(', ')
    this.write({ type: 'policyEvent', kind: 'backend', details: `selected ${name}; weights: ${weights}` })
  }

  // --- policies ---

  /** The policy that runs now says what it decides and why. Never with a credential in it. */
  note(text: string): void {
    this.#notes.push(text)
  }

  /** The policy that runs now has nothing to do with this request. */
  skip(reason: string): void {
    this.#skipReason = reason
  }

  /** After one policy ran: what it did, and the state it left. `isResponse`: it ran on the response. */
  policyRan(exchange: Exchange, field: string, ran: { readonly startMs: number; readonly isResponse: boolean }): void {
    const name = displayName(field, ran.isResponse ? undefined : this.#level)
    const { severity, ...result } = this.#resultOf(exchange, ran.isResponse)
    this.write({ type: 'policy', kind: name, result }, { severity, startMs: ran.startMs })
    if (ran.isResponse) {
      this.responseSnapshot(exchange, name)
      return
    }
    if (field === 'rateLimit') this.#rateLimit(exchange, name)
    this.requestSnapshot(exchange, name)
  }

  #resultOf(exchange: Exchange, isResponse: boolean): PolicyResult & { readonly severity: Severity } {
    const notes = this.#notes
    const reason = this.#skipReason
    this.#notes = []
    this.#skipReason = undefined
    const { details, severity } = isResponse ? APPLIED : deedOf(exchange)
    if (reason !== undefined && details === APPLIED.details) {
      return { type: 'skip', reason: redactText([...notes, reason].join('; ')), severity }
    }
    // A policy that says what it did need not say that it did something.
    const said = details === APPLIED.details && notes.length > 0 ? notes : [details, ...notes]
    return { type: 'apply', details: redactText(said.join('; ')), severity }
  }

  #rateLimit({ rateLimit }: Exchange, kind: string): void {
    if (rateLimit === undefined) return
    const { remaining, limit, resetSeconds } = rateLimit
    const details = `${remaining} of ${limit} left, reset in ${resetSeconds} s`
    this.write({ type: 'policyEvent', kind, details })
  }

  /** Evaluates for policy/evaluate.ts: the value, or `failed`. A credential is hidden here and in all later events. */
  evaluate({ expression, exchange, failed, isCredential }: TracedEvaluation<Exchange>): unknown {
    const startMs = performance.now()
    const state = requestState(exchange, this.#writer.redactor)
    const message = { type: 'cel' as const, expr: expression.source, requestState: state }
    try {
      const value = routeShares.evaluate(expression, exchange)
      if (isCredential && typeof value === 'string') this.#writer.redactor.learn(value)
      const plain = value instanceof Flattened ? value.value : value
      const result = { value: isCredential ? REDACTED : (shown(plain) ?? null) }
      this.write({ ...message, result }, { startMs })
      return value
    } catch (error) {
      const text = messageOf(error)
      this.write({ ...message, result: { error: redactText(text) } }, { severity: 'warn', startMs })
      return failed(error)
    }
  }

  authorization(rules: readonly TracedRule[], isAllowed: boolean): void {
    this.write(
      { type: 'authorizationResult', rules: [...rules], result: isAllowed ? 'allow' : 'deny' },
      { severity: isAllowed ? 'success' : 'error' },
    )
  }

  // --- writing ---

  write(message: TraceMessage, moment: TracedMoment = {}): void {
    this.#writer.write(message, { ...moment, scope: this.#scope })
  }

  requestSnapshot(exchange: Exchange, stage: string): void {
    this.write({ type: 'requestSnapshot', stage, requestState: requestState(exchange, this.#writer.redactor) })
  }

  responseSnapshot(exchange: Exchange, stage: string): void {
    this.write({ type: 'responseSnapshot', stage, requestState: responseState(exchange, this.#writer.redactor) })
  }

  #options(severity: Severity, startMs: number): EventOptions {
    return { severity, startMs, scope: this.#scope }
  }

  /** The body to use in its place. */
  #recorded(body: OutgoingBody, stage: string): OutgoingBody {
    if (body === undefined || body instanceof Tunnel) return body
    const recorder = new BodyRecorder(this.#bodyBytesMax, (record) => {
      this.#recording.delete(recorder)
      this.#body(stage, record)
    })
    this.#recording.add(recorder)
    return recordBody(body, recorder)
  }

  #body(stage: string, { bytes, isTruncated }: BodyRecord): void {
    if (bytes.length === 0) return
    const body = this.#writer.redactor.bytes(bytes).toString('base64')
    this.write({ type: 'bodySnapshot', stage, body, ...(isTruncated && { truncated: true }) })
  }
}

const APPLIED = { details: 'applied', severity: 'info' } as const

/** The effect of a policy on the request to the backend: no visible effect, or a response. */
function deedOf({ response, errorDetail }: Exchange): { readonly details: string; readonly severity: Severity } {
  if (response === undefined) return APPLIED
  const details = `answered ${response.status}`
  if (response.status < 400) return { details, severity: 'info' }
  return { details: errorDetail === undefined ? details : `${details}: ${errorDetail}`, severity: 'error' }
}
