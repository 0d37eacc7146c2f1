// traffic.retry, and the `retry` of an HTTPRoute rule. An invalid precondition allows no retry, and an invalid
// condition requests none: both fail when the proxy evaluates them.
import type { Retry as RenderedRetry, TrafficPayload } from '#api/ir/types.gen.ts'
import type { Retry } from '#api/v1alpha1/gwpolicy.gen.ts'
import { durationMs } from '../duration.ts'
import { checkExpression } from './expression.ts'
import type { FieldTranslator } from './field.ts'

/** More count as this many. */
const ATTEMPTS_MAX = 255

export const retry: FieldTranslator<Retry, TrafficPayload> = {
  failureMode: 'skip',
  translate: (value, context) => {
    const { precondition, condition } = value
    if (precondition !== undefined) checkExpression(precondition, `${context.path}.precondition`, context)
    if (condition !== undefined) {
      checkExpression(condition, `${context.path}.condition`, { ...context, moment: 'response' })
    }
    const rendered = renderRetry(value)
    if (rendered === undefined) return []
    const expressions = {
      ...(precondition !== undefined && { precondition }),
      ...(condition !== undefined && { condition }),
    }
    return [{ suffix: 'retry', payload: { retry: { ...rendered, ...expressions } } }]
  },
}

/** The fields that Gateway API has as well. undefined: without attempts there are no retries. */
export function renderRetry({
  attempts,
  codes,
  backoff,
}: Pick<Retry, 'attempts' | 'codes' | 'backoff'>): RenderedRetry | undefined {
  if (attempts === undefined || attempts < 1) return undefined
  const backoffMs = backoff === undefined ? 0 : durationMs(backoff)
  return {
    attempts: Math.min(attempts, ATTEMPTS_MAX),
    ...(codes !== undefined && codes.length > 0 && { codes: [...codes] }),
    ...(backoffMs && { backoffMs }),
  }
}
