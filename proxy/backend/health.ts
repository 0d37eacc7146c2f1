// The effect of the end of a request on its endpoint: scores always, evictions if a health policy requires them
// (data-plane supplement section 5.2; the threshold is compared after the failed response, as specified).
import type { Health } from '#api/ir/types.gen.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import { derive } from '../exchange/derive.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { EndpointRecord, EvictionCause, HealthRule } from '../exchange/slots.ts'
import { IncomingBody } from '../message/incoming-body.ts'
import type { HttpRequest, HttpResponse } from '../message/message.ts'
import { Tunnel } from '../socket/tunnel.ts'
import { isTrue, readsBody } from '../cel/evaluate.ts'
import { retryAfterMs } from './retry-after.ts'

/** Default of `eviction.duration` (specification, Limits). */
export const EVICTION_MS = 3000
const DAY_MS = 24 * 3600 * 1000
/** Durations grow with each eviction without a bound (data-plane supplement section 5.2); this is the store's limit. */
const EVICTION_MS_MAX = 200 * DAY_MS
/** Backends may request any time; after a day one is tried again. */
const ASKED_MS_MAX = DAY_MS
const TOO_MANY_REQUESTS = 429

export function compileHealth(health: Health, expression: (source: string) => CelExpression): HealthRule {
  const { unhealthyCondition, eviction } = health
  const condition = unhealthyCondition === undefined ? undefined : expression(unhealthyCondition)
  return {
    condition,
    readsResponseBody: readsBody([condition], 'response'),
    hasEviction: eviction !== undefined,
    durationMs: eviction?.durationMs,
    restoreHealth: fraction(eviction?.restoreHealth),
    consecutiveFailures: eviction?.consecutiveFailures,
    healthThreshold: fraction(eviction?.healthThreshold),
  }
}

/** For connections other than HTTP: only a failure to connect counts against an endpoint. */
export function connectionHealth({ health }: { readonly health?: Health }): HealthRule | undefined {
  if (health?.eviction === undefined) return undefined
  const { unhealthyCondition: _, ...rest } = health
  return compileHealth(rest, NO_EXPRESSIONS)
}

const NO_EXPRESSIONS = (): never => {
  throw new Error('connections have no condition')
}

/**
 * Settles the endpoint that the exchange is charged to, once. `isComplete`: nothing broke on the way to the client.
 * A client that disconnects has no effect on the endpoint.
 */
export function endEndpoint(exchange: Exchange, isComplete: boolean): void {
  const { usedEndpoint, health } = exchange
  if (usedEndpoint === undefined) return
  exchange.usedEndpoint = undefined
  const isUnhealthy = judge(exchange, isComplete, health)
  const { state } = usedEndpoint
  if (isUnhealthy === undefined) state.release()
  else if (!isUnhealthy) {
    const startMs = exchange.retryAttempt === 0 ? exchange.startMs : (exchange.upstreamStartMs ?? exchange.startMs)
    // How long a client keeps a tunnel does not affect the endpoint.
    const endMs = exchange.response?.body instanceof Tunnel ? exchange.upstreamHeadMs : undefined
    state.succeeded((endMs ?? performance.now()) - startMs)
  } else {
    const { response, upstreamStatus, retry } = exchange
    const answer = response && { status: upstreamStatus, headers: response.headers, grpcStatus: response.grpcStatus }
    const isEvicted = chargeFailure(state, health, { answer, backoffMs: retry?.backoffMs })
    report(exchange, isEvicted ? 'failed and is evicted' : 'failed')
  }
}

function report({ trace, endpoint = '' }: Exchange, what: string): void {
  trace?.write({ type: 'policyEvent', kind: 'health', details: `${endpoint} ${what}` }, { severity: 'warn' })
}

export interface BadCall {
  /** undefined: there was none. */
  readonly answer?: Pick<HttpResponse, 'status' | 'headers' | 'grpcStatus'> | undefined
  /** Of a call over gRPC that ended with an error. */
  readonly grpcStatus?: number | undefined
  /** Between tries, where there are some. */
  readonly backoffMs?: number | undefined
}

/** Counts a failed call; evicts if the policy requires it. True: it was evicted. */
export function chargeFailure(state: EndpointRecord, health: HealthRule | undefined, call: BadCall = {}): boolean {
  const failures = state.failed()
  const rule = health && dueRule(health, failures, state.health)
  if (health === undefined || rule === undefined) return false
  const baseMs = evictionMs(call, health)
  if (baseMs === undefined || !state.evict(baseMs, EVICTION_MS_MAX, health.restoreHealth)) return false
  state.noteEviction({ rule, failures, ...outcomeOf(call) })
  return true
}

function outcomeOf({ answer, grpcStatus }: BadCall): Pick<EvictionCause, 'outcome' | 'status'> {
  if (grpcStatus !== undefined) return { outcome: 'grpcStatus', status: grpcStatus }
  // The response to the client after a failure of the connection is that of the gateway.
  if (answer === undefined || answer.status === 0) return { outcome: 'noResponse', status: 0 }
  const isGrpc = answer.grpcStatus !== undefined && answer.grpcStatus !== '0'
  return isGrpc
    ? { outcome: 'grpcStatus', status: Number(answer.grpcStatus) }
    : { outcome: 'status', status: answer.status }
}

export interface OwnCall {
  /** The exchange of the client, for which the call is made. */
  readonly exchange: Exchange
  readonly request: HttpRequest
  readonly response: HttpResponse
  readonly latencyMs: number
}

/** The response to a call of the proxy itself, with the condition evaluated on that call. */
export function chargeAnswer(state: EndpointRecord, health: HealthRule | undefined, call: OwnCall): void {
  const { response, latencyMs } = call
  if (isBadAnswer(health?.condition, call)) chargeFailure(state, health, { answer: response })
  else state.succeeded(latencyMs)
}

function isBadAnswer(condition: CelExpression | undefined, { exchange, request, response }: OwnCall): boolean {
  if (condition === undefined) return isErrorStatus(response)
  const own = derive(exchange, { request })
  own.response = response
  return isTrue(condition, own)
}

/** undefined: neither success nor failure of the endpoint. */
function judge(exchange: Exchange, isComplete: boolean, health: HealthRule | undefined): boolean | undefined {
  const { response, reason, upstreamStatus } = exchange
  if (response === undefined) return undefined
  if (!isComplete) return response.body instanceof IncomingBody && response.body.isFailed ? true : undefined
  if (upstreamStatus === 0) return reason === 'UpstreamFailure' || reason === 'Timeout' ? true : undefined
  if (health?.condition !== undefined) return isTrue(health.condition, exchange)
  return upstreamStatus >= 500 || hasGrpcError(response)
}

function isErrorStatus(response: HttpResponse): boolean {
  return response.status >= 500 || hasGrpcError(response)
}

function hasGrpcError({ grpcStatus }: HttpResponse): boolean {
  return grpcStatus !== undefined && grpcStatus !== '0'
}

/** undefined: the endpoint stays. */
function dueRule(
  { consecutiveFailures, healthThreshold }: HealthRule,
  failures: number,
  health: number,
): EvictionCause['rule'] | undefined {
  if (consecutiveFailures === undefined && healthThreshold === undefined) return 'failure'
  if (consecutiveFailures !== undefined && failures >= consecutiveFailures) return 'consecutiveFailures'
  return healthThreshold !== undefined && health < healthThreshold ? 'healthThreshold' : undefined
}

/** undefined: there is no duration, and the policy requires no eviction. */
function evictionMs({ answer, backoffMs }: BadCall, { durationMs, hasEviction }: HealthRule): number | undefined {
  if (durationMs !== undefined) return durationMs
  if (answer?.status === TOO_MANY_REQUESTS) {
    const asked = retryAfterMs(answer.headers, Date.now())
    if (asked !== undefined) return Math.min(asked, ASKED_MS_MAX)
  }
  return backoffMs ?? (hasEviction ? EVICTION_MS : undefined)
}

function fraction(percent: number | undefined): number | undefined {
  return percent === undefined ? undefined : percent / 100
}
