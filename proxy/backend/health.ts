// What the end of a request says about its endpoint: scores always, evictions where a health policy asks for them
// (data-plane supplement section 5.2; the threshold counts after the bad answer, as the specification has it).
import type { Health } from '#api/ir/types.gen.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { Exchange } from '../exchange.ts'
import { IncomingBody } from '../http/incoming-body.ts'
import { Tunnel } from '../http/tunnel.ts'
import { isTrue, readsBody } from '../policy/evaluate.ts'
import { retryAfterMs } from './retry-after.ts'

export interface CompiledHealth {
  readonly condition: CelExpression | undefined
  readonly readsResponseBody: boolean
  /** With an `eviction` block there is always a duration. */
  readonly hasEviction: boolean
  readonly durationMs: number | undefined
  /** 0–1. */
  readonly restoreHealth: number | undefined
  readonly consecutiveFailures: number | undefined
  /** 0–1. */
  readonly healthThreshold: number | undefined
}

/** Default of `eviction.duration` (specification, Limits). */
const EVICTION_MS = 3000
/** Durations grow with each eviction, and backends may ask for any: after a day an endpoint is worth another try. */
const EVICTION_MS_MAX = 24 * 3600 * 1000
const TOO_MANY_REQUESTS = 429

export function compileHealth(health: Health, expression: (source: string) => CelExpression): CompiledHealth {
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

/**
 * Settles the endpoint that the exchange is charged to, once. `isComplete`: nothing broke on the way to the client.
 * A client that leaves says nothing about the endpoint.
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
    // How long a client keeps a tunnel says nothing about the endpoint.
    const endMs = exchange.response?.body instanceof Tunnel ? exchange.upstreamHeadMs : undefined
    state.succeeded((endMs ?? performance.now()) - startMs)
  } else {
    const failures = state.failed()
    if (health !== undefined && isDue(health, failures, state.health)) {
      const baseMs = evictionMs(exchange, health)
      if (baseMs !== undefined) state.evict(baseMs, EVICTION_MS_MAX, health.restoreHealth)
    }
  }
}

/** undefined: the endpoint is not to blame and not to praise. */
function judge(exchange: Exchange, isComplete: boolean, health: CompiledHealth | undefined): boolean | undefined {
  const { response, reason, upstreamStatus } = exchange
  if (response === undefined) return undefined
  if (!isComplete) return response.body instanceof IncomingBody && response.body.isFailed ? true : undefined
  if (upstreamStatus === 0) return reason === 'UpstreamFailure' || reason === 'Timeout' ? true : undefined
  if (health?.condition !== undefined) return isTrue(health.condition, exchange)
  const { grpcStatus } = response
  return upstreamStatus >= 500 || (grpcStatus !== undefined && grpcStatus !== '0')
}

function isDue({ consecutiveFailures, healthThreshold }: CompiledHealth, failures: number, health: number): boolean {
  if (consecutiveFailures === undefined && healthThreshold === undefined) return true
  if (consecutiveFailures !== undefined && failures >= consecutiveFailures) return true
  return healthThreshold !== undefined && health < healthThreshold
}

/** undefined: nobody says for how long, and the policy asks for no eviction. */
function evictionMs(exchange: Exchange, { durationMs, hasEviction }: CompiledHealth): number | undefined {
  if (durationMs !== undefined) return durationMs
  const { response, upstreamStatus, retry } = exchange
  if (response !== undefined && upstreamStatus === TOO_MANY_REQUESTS) {
    const asked = retryAfterMs(response.headers, Date.now())
    if (asked !== undefined) return asked
  }
  return retry?.backoffMs ?? (hasEviction ? EVICTION_MS : undefined)
}

function fraction(percent: number | undefined): number | undefined {
  return percent === undefined ? undefined : percent / 100
}
