// frontend.metrics: harmless. A broken expression is kept: its label is `unknown`.
import type { FrontendPayload } from '#api/ir/types.gen.ts'
import type { Metrics } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { FieldTranslator } from './field.ts'
import { addedExpressions } from './log-attributes.ts'

export const metrics: FieldTranslator<Metrics, FrontendPayload> = {
  failureMode: 'skip',
  translate: ({ attributes }, context) => [
    {
      suffix: 'frontend-metrics',
      payload: { metrics: { add: addedExpressions(attributes.add, `${context.path}.attributes.add`, context) } },
    },
  ],
}
