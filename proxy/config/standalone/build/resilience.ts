// Retry, delay, buffer, mirrors and health, as fields of the contract.
import type {
  Delay as RenderedDelay,
  Health as RenderedHealth,
  RequestMirror,
  Retry as RenderedRetry,
  TrafficBuffer,
} from '#api/ir/types.gen.ts'
import { parseDuration } from '#api/units/duration.ts'
import { pathTo } from '../field-path.ts'
import type { BufferFields, DelayFields, HealthFields, MirrorFields, RetryFields } from '../schema/resilience.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { serviceOf } from './simple-policies.ts'

const PERCENT = 100
/** Shares of requests are kept to a millionth. */
const SHARES = 1_000_000

export function renderRetry({ attempts = 1, backoff, codes, precondition, condition }: RetryFields): RenderedRetry {
  return { attempts, codes, ...defined({ backoffMs: backoff === 0 ? undefined : backoff, precondition, condition }) }
}

export function renderDelay(delay: DelayFields): RenderedDelay {
  if ('conditional' in delay) return { expression: delay.conditional.reduceRight(chosenDelay, '0') }
  const parsed = parseDuration(delay.duration)
  return 'ms' in parsed ? { ms: parsed.ms } : { expression: delay.duration }
}

type DelayEntry = Extract<DelayFields, { readonly conditional: unknown }>['conditional'][number]

/** Lines of their own keep comments of an expression apart from the rest. A condition that fails is not met. */
function chosenDelay(rest: string, { condition, duration }: DelayEntry): string {
  const parsed = parseDuration(duration)
  const own = 'ms' in parsed ? String(parsed.ms) : `(\n${duration}\n)`
  return condition === undefined ? own : `coalesce(\n${condition}\n, false) == true ? ${own} : ${rest}`
}

export function renderBuffer({ request, response }: BufferFields): TrafficBuffer {
  return defined({ request: ifSet(request, renderBody), response: ifSet(response, renderBody) })
}

function renderBody({
  maxBytes,
  failureMode,
}: NonNullable<BufferFields['request']>): NonNullable<TrafficBuffer['request']> {
  const mode = failureMode === 'failOpen' ? 'FailOpen' : 'FailClosed'
  return { failureMode: mode, ...defined({ bytesMax: maxBytes }) }
}

export function renderMirror(
  { backend, percentage }: MirrorFields,
  path: string,
  context: BuildContext,
): RequestMirror {
  const ref = serviceOf(backend, pathTo(path, 'backend'), context)
  return { ref, numerator: Math.round(percentage * SHARES), denominator: SHARES }
}

export function renderHealth({ unhealthyExpression, eviction }: HealthFields): RenderedHealth {
  return defined({ unhealthyCondition: unhealthyExpression, eviction: ifSet(eviction, renderEviction) })
}

function renderEviction(eviction: NonNullable<HealthFields['eviction']>): NonNullable<RenderedHealth['eviction']> {
  const { duration, restoreHealth, consecutiveFailures, healthThreshold } = eviction
  return defined({
    durationMs: duration === 0 ? undefined : duration,
    restoreHealth: ifSet(restoreHealth, percent),
    consecutiveFailures,
    healthThreshold: ifSet(healthThreshold, percent),
  })
}

function percent(fraction: number): number {
  return Math.round(fraction * PERCENT)
}
