// traffic.rateLimit: local limits, and the split of the field into them and global ones. Conditional local limits are
// not run yet and refuse what they cover.
import type { LocalLimit, TrafficPayload } from '#api/ir/types.gen.ts'
import type { LocalRateLimit, RateLimits, RateLimitsOrConditional } from '#api/v1alpha1/gwpolicy.gen.ts'
import { type ConditionalEntry, renderConditional } from './conditional.ts'
import { denyBroken, denyNotProgrammed, type Emission, type FieldContext, type FieldTranslator } from './field.ts'
import { renderGlobalLimit } from './remote-rate-limit.ts'

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
  if (local === undefined || local.length === 0) return []
  const limits = local.map(renderLimit)
  const broken = limits.indexOf(undefined)
  if (broken !== -1) {
    const path = `${context.path}.local[${broken}]`
    const message = `${path} sets neither requests nor tokens; the traffic it covers is refused`
    return [denyBroken(context, LOCAL_SUFFIX, { path, reason: 'Invalid', message })]
  }
  return [{ suffix: LOCAL_SUFFIX, payload: { localRateLimit: { limits: limits.filter((one) => one !== undefined) } } }]
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
  const remoteRateLimit = renderGlobalLimit(global, `${context.path}.global`, context)
  return [{ suffix: GLOBAL_SUFFIX, payload: { remoteRateLimit } }]
}

/** Two lists, each with the order and conditions of the whole: an entry without `global` does not end its search. */
function conditionalLimits(
  entries: ReadonlyArray<ConditionalEntry<RateLimits>>,
  context: FieldContext,
): Array<Emission<TrafficPayload>> {
  const hasLocal = entries.some(({ policy }) => policy.local !== undefined)
  const conditional = renderConditional(entries, context, ({ global }, path) =>
    global === undefined ? undefined : renderGlobalLimit(global, `${path}.global`, context),
  ).conditional.flatMap(({ policy, ...rest }) => (policy === undefined ? [] : [{ ...rest, policy }]))
  return [
    ...(hasLocal ? [denyNotProgrammed(context, LOCAL_SUFFIX, 'conditional')] : []),
    ...(conditional.length === 0 ? [] : [{ suffix: GLOBAL_SUFFIX, payload: { remoteRateLimit: { conditional } } }]),
  ]
}
