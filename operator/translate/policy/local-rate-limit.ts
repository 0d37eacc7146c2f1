// traffic.rateLimit: local limits run in the proxy; what it does not run yet is refused unless it may fail open.
import type { LocalLimit, TrafficPayload } from '#api/ir/types.gen.ts'
import type { LocalRateLimit, RateLimits, RateLimitsOrConditional } from '#api/v1alpha1/gwpolicy.gen.ts'
import {
  denyBroken,
  denyNotProgrammed,
  type Emission,
  type FieldContext,
  type FieldTranslator,
  reportNotProgrammed,
} from './field.ts'

const UNIT_MS = { Seconds: 1000, Minutes: 60_000, Hours: 3_600_000 } as const

export const rateLimit: FieldTranslator<RateLimitsOrConditional, TrafficPayload> = {
  failureMode: 'deny',
  translate: (value, context) =>
    value.conditional === undefined
      ? [...localLimits(value, context), ...globalLimit([value], context, 'global')]
      : conditionalLimits(
          value.conditional.map(({ policy }) => policy),
          context,
        ),
}

function localLimits({ local }: RateLimits, context: FieldContext): Array<Emission<TrafficPayload>> {
  if (local === undefined || local.length === 0) return []
  const limits = local.map(renderLimit)
  const broken = limits.indexOf(undefined)
  if (broken !== -1) {
    const path = `${context.path}.local[${broken}]`
    const message = `${path} sets neither requests nor tokens; the traffic it covers is refused`
    return [denyBroken(context, 'rl-local', { path, reason: 'Invalid', message })]
  }
  return [{ suffix: 'rl-local', payload: { localRateLimit: { limits: limits.filter((one) => one !== undefined) } } }]
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

function globalLimit(
  entries: readonly RateLimits[],
  context: FieldContext,
  subField: string,
): Array<Emission<TrafficPayload>> {
  const globals = entries.flatMap(({ global }) => (global === undefined ? [] : [global]))
  if (globals.length === 0) return []
  if (globals.some(({ failureMode }) => failureMode !== 'FailOpen')) {
    return [denyNotProgrammed(context, 'rl-global', subField)]
  }
  reportNotProgrammed(context, subField)
  return []
}

function conditionalLimits(entries: readonly RateLimits[], context: FieldContext): Array<Emission<TrafficPayload>> {
  if (entries.some(({ local }) => local !== undefined)) return [denyNotProgrammed(context, 'rl-local', 'conditional')]
  return globalLimit(entries, context, 'conditional')
}
