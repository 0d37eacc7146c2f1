// The answer of `/limits`: local rate limits with what is left now, and global ones with the decisions of their
// service. Reads shared memory, and changes nothing in it.
import type { components } from '#api/admin/types.gen.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type {
  BackendReference,
  RateLimitGlobalOrConditional,
  RateLimitOrConditional,
  RenderedConfig,
} from '#api/ir/types.gen.ts'
import { redactTree } from '#api/credentials/redact-tree.ts'
import type { MetricsAggregate, TotalSeries } from '../metrics/aggregate.ts'
import { LIMIT_CALLS, LIMIT_STATE } from '../metrics/internal-families.ts'
import { identifiedLimits } from '../policy/limits/limit-identity.ts'
import { keyedLimits, type RateLimitBuffer, readBucket } from '../policy/limits/rate-limit-store.ts'

type Schemas = components['schemas']
type LocalLimit = Schemas['LocalLimitState']
type GlobalLimit = Schemas['GlobalLimitState']
type ReportedLimit = Schemas['ReportedLimit']

/** The nearest to their end. */
const LOCAL_MAX = 500
/** With most requests. */
const GLOBAL_MAX = 100
/** Of one global limit: the nearest to their end. */
const REPORTED_MAX = 100

const EMPTY: RenderedConfig = emptyConfig()
const UNITS = ['', 'Second', 'Minute', 'Hour', 'Day', 'Month', 'Year'] as const

export interface LimitsInput {
  readonly config: RenderedConfig | undefined
  /** undefined: no configuration is in force. */
  readonly buckets: RateLimitBuffer | undefined
  /** Is refreshed. */
  readonly aggregate: MetricsAggregate
}

export function limits({ config = EMPTY, buckets, aggregate }: LimitsInput, nowMs: number): Schemas['Limits'] {
  aggregate.refresh()
  const counts = countsOf(aggregate, nowMs)
  const [local, global]: [LocalLimit[], GlobalLimit[]] = [[], []]
  for (const { rateLimit, rateLimitGlobal, ...place } of limited(config)) {
    if (rateLimit !== undefined && buckets !== undefined)
      local.push(...localLimits(place, rateLimit, { buckets, nowMs }))
    if (rateLimitGlobal !== undefined) global.push(...globalLimits(place, rateLimitGlobal, counts))
  }
  local.sort((a, b) => leftOf(a) - leftOf(b) || b.rejected - a.rejected)
  global.sort((a, b) => decisionsOf(b) - decisionsOf(a))
  return redactTree({
    local: local.slice(0, LOCAL_MAX),
    global: global.slice(0, GLOBAL_MAX),
    omitted: Math.max(0, local.length - LOCAL_MAX) + Math.max(0, global.length - GLOBAL_MAX),
  })
}

type Place = Pick<LocalLimit, 'source' | 'target'> & {
  /** Of the policy, as buckets have it. */
  readonly policyKey: string
}

interface Limited extends Place {
  readonly rateLimit: RateLimitOrConditional | undefined
  readonly rateLimitGlobal: RateLimitGlobalOrConditional | undefined
}

function* limited({ policies, routes }: RenderedConfig): Generator<Limited> {
  for (const { key, target, policy } of policies) {
    const { rateLimit, rateLimitGlobal } = policy.traffic ?? {}
    if (rateLimit === undefined && rateLimitGlobal === undefined) continue
    yield { source: { kind: 'policy', key }, target: { ...target }, policyKey: key, rateLimit, rateLimitGlobal }
  }
  for (const { key, inlinePolicies } of routes) {
    const { rateLimit, rateLimitGlobal } = inlinePolicies ?? {}
    if (rateLimit === undefined && rateLimitGlobal === undefined) continue
    yield { source: { kind: 'rule', key }, policyKey: `route/${key}`, rateLimit, rateLimitGlobal }
  }
}

function localLimits(
  { policyKey, ...place }: Place,
  payload: RateLimitOrConditional,
  { buckets, nowMs }: { readonly buckets: RateLimitBuffer; readonly nowMs: number },
): LocalLimit[] {
  return keyedLimits(policyKey, payload).flatMap(({ policy, ...condition }, entry) =>
    policy.flatMap(({ key, limit }, index): LocalLimit[] => {
      const state = readBucket(buckets, { key, limit }, nowMs)
      // It belongs to a configuration that is not in force.
      if (state === undefined) return []
      const own = `limits[${index}]`
      return [
        {
          ...place,
          path: 'conditional' in payload ? `rateLimit.conditional[${entry}].policy.${own}` : `rateLimit.${own}`,
          ...condition,
          unit: limit.unit,
          limit: limit.tokensPerFill,
          intervalMs: limit.fillIntervalMs,
          capacity: limit.tokensMax,
          remaining: state.remaining,
          nextFill: new Date(state.nextFillMs).toISOString(),
          rejected: state.rejected,
        },
      ]
    }),
  )
}

interface Counts {
  readonly calls: ReadonlyMap<string, Float64Array>
  readonly reported: ReadonlyMap<string, readonly ReportedLimit[]>
}

/** By the identity of the limit. */
function countsOf(aggregate: MetricsAggregate, nowMs: number): Counts {
  const calls = new Map(aggregate.series(LIMIT_CALLS).map(({ labels, totals }) => [labels['limit'] ?? '', totals]))
  const states = Map.groupBy(aggregate.series(LIMIT_STATE), ({ labels }) => labels['limit'] ?? '')
  const reported = [...states].map(
    ([limit, all]) => [limit, all.flatMap((state) => reportOf(state, nowMs)).toSorted(byRest)] as const,
  )
  return { calls, reported: new Map(reported) }
}

/** None if its interval has ended: then nothing is known about what is left. */
function reportOf({ labels, totals }: TotalSeries, nowMs: number): ReportedLimit[] {
  const [atMs = 0, capacity = 0, unit = 0, remaining = 0, resetsAtMs = 0] = totals
  if (resetsAtMs > 0 && resetsAtMs <= nowMs) return []
  return [
    {
      descriptor: Number(labels['descriptor']),
      entries: labels['entries'] ?? '',
      limit: capacity,
      interval: UNITS[unit] ?? '',
      remaining,
      at: new Date(atMs).toISOString(),
      resetsAt: resetsAtMs === 0 ? null : new Date(resetsAtMs).toISOString(),
    },
  ]
}

function globalLimits(
  { policyKey, ...place }: Place,
  payload: RateLimitGlobalOrConditional,
  { calls, reported }: Counts,
): GlobalLimit[] {
  return identifiedLimits(policyKey, payload).map(({ policy: { id, policy }, ...condition }, entry) => {
    const [allowed = 0, rejected = 0, failed = 0] = calls.get(id) ?? []
    return {
      ...place,
      path: 'conditional' in payload ? `rateLimitGlobal.conditional[${entry}].policy` : 'rateLimitGlobal',
      ...condition,
      service: serviceText(policy.service),
      domain: policy.domain,
      failureMode: policy.failureMode,
      descriptors: policy.descriptors.map(({ unit, entries, cost }) => ({
        unit,
        entries: entries.map(({ name, expression }) => ({ name, expression })),
        ...(cost !== undefined && { cost }),
      })),
      allowed,
      rejected,
      failed,
      reported: reported.get(id)?.slice(0, REPORTED_MAX) ?? [],
    }
  })
}

function serviceText({ backend, service }: BackendReference): string {
  return service === undefined ? (backend ?? 'invalid') : `${service.namespace}/${service.hostname}:${service.port}`
}

function leftOf({ remaining, capacity }: LocalLimit): number {
  return remaining / capacity
}

function decisionsOf({ allowed, rejected, failed }: GlobalLimit): number {
  return allowed + rejected + failed
}

function byRest(a: ReportedLimit, b: ReportedLimit): number {
  return a.remaining / a.limit - b.remaining / b.limit
}
