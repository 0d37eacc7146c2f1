// traffic.rateLimit: local limits, and the split of the field into them and global ones, which are counted apart.
import type { LocalLimit, RateLimit as RenderedLimits, TrafficPayload } from '#api/ir/types.gen.ts'
import type { FieldPath, Problem } from '#api/problem.ts'
import type { LocalRateLimit, RateLimits, RateLimitsOrConditional } from '#api/v1alpha1/gwpolicy.gen.ts'
import { type ConditionalEntry, renderConditional } from './conditional.ts'
import { denyBroken, type Emission, type FieldContext, type FieldTranslator } from './field.ts'
import { renderGlobalLimit } from './rate-limit-global.ts'

const LOCAL_SUFFIX = 'rl-local'
const GLOBAL_SUFFIX = 'rl-global'

const UNIT_MS = { Seconds: 1000, Minutes: 60_000, Hours: 3_600_000 } as const

export const rateLimit: FieldTranslator<RateLimitsOrConditional, TrafficPayload> = {
  failureMode: 'deny',
  translate: (value, context) =>
    value.conditional === undefined
      ? [...localLimits(value, context), ...globalLimit(value, context)]
      : conditionalLimits(value.conditional, context),
}

function localLimits({ local }: RateLimits, context: FieldContext): Array<Emission<TrafficPayload>> {
  const rendered = renderLimits(local, context.path)
  if (rendered === undefined) return []
  if ('reason' in rendered) return [denyBroken(context, LOCAL_SUFFIX, rendered)]
  return [{ suffix: LOCAL_SUFFIX, payload: { rateLimit: rendered } }]
}

type BrokenLimit = Pick<Problem, 'path' | 'reason' | 'message'>

/** undefined: no local limits. `path`: of the object that holds them. */
function renderLimits(local: RateLimits['local'], path: FieldPath): RenderedLimits | BrokenLimit | undefined {
  if (local === undefined || local.length === 0) return undefined
  const limits = local.map(renderLimit)
  const broken = limits.indexOf(undefined)
  if (broken === -1) return { limits: limits.filter((one) => one !== undefined) }
  const at = `${path}.local[${broken}]`
  const message = `${at} sets neither requests nor tokens; the traffic it covers is rejected`
  return { path: at, reason: 'Invalid', message }
}

/** A bucket holds the limit and the burst, and is refilled with the limit once per unit. */
function renderLimit({ requests, tokens, unit, burst = 0 }: LocalRateLimit): LocalLimit | undefined {
  const limit = requests ?? tokens
  if (limit === undefined) return undefined
  return {
    unit: requests === undefined ? 'Tokens' : 'Requests',
    tokensPerFill: limit,
    fillIntervalMs: UNIT_MS[unit],
    tokensMax: limit + burst,
  }
}

function globalLimit({ global }: RateLimits, context: FieldContext): Array<Emission<TrafficPayload>> {
  if (global === undefined) return []
  const rateLimitGlobal = renderGlobalLimit(global, `${context.path}.global`, context)
  return [{ suffix: GLOBAL_SUFFIX, payload: { rateLimitGlobal } }]
}

/** Two lists with the order and conditions of the whole: an entry without limits of a kind does not end its search. */
function conditionalLimits(
  entries: ReadonlyArray<ConditionalEntry<RateLimits>>,
  context: FieldContext,
): Array<Emission<TrafficPayload>> {
  const { conditional } = renderConditional(entries, context, ({ local, global }, path) => ({
    local: renderLimits(local, path),
    global: global === undefined ? undefined : renderGlobalLimit(global, `${path}.global`, context),
  }))
  const globals = conditional.flatMap(({ policy: { global: policy }, ...rest }) =>
    policy === undefined ? [] : [{ ...rest, policy }],
  )
  return [
    ...conditionalLocals(conditional, context),
    ...(globals.length === 0
      ? []
      : [{ suffix: GLOBAL_SUFFIX, payload: { rateLimitGlobal: { conditional: globals } } }]),
  ]
}

/** One broken entry rejects all traffic: without it a later entry would apply instead. */
function conditionalLocals(
  entries: ReadonlyArray<ConditionalEntry<{ readonly local: ReturnType<typeof renderLimits> }>>,
  context: FieldContext,
): Array<Emission<TrafficPayload>> {
  const conditional: Array<ConditionalEntry<RenderedLimits>> = []
  for (const { policy, ...rest } of entries) {
    const { local } = policy
    if (local === undefined) continue
    if ('reason' in local) return [denyBroken(context, LOCAL_SUFFIX, local)]
    conditional.push({ ...rest, policy: local })
  }
  return conditional.length === 0 ? [] : [{ suffix: LOCAL_SUFFIX, payload: { rateLimit: { conditional } } }]
}
