// traffic.delay: a duration as it is written, or CEL. An invalid expression means no delay.
import type { Delay as RenderedDelay, TrafficPayload } from '#api/ir/types.gen.ts'
import type { Delay } from '#api/v1alpha1/gwpolicy.gen.ts'
import { durationMs } from '../duration.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext, FieldTranslator } from './field.ts'

export const delay: FieldTranslator<Delay, TrafficPayload> = {
  failureMode: 'skip',
  translate: ({ duration }, context) => [{ suffix: 'delay', payload: { delay: renderDelay(duration, context) } }],
}

function renderDelay(duration: string, context: FieldContext): RenderedDelay {
  const ms = durationMs(duration)
  if (ms !== undefined) return { ms }
  checkExpression(duration, `${context.path}.duration`, context)
  return { expression: duration }
}
