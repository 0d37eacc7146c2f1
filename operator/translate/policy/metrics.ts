// frontend.metrics: harmless. An invalid expression is kept, and so is one of several fields: its label is `unknown`.
import type { FrontendPayload } from '#api/ir/types.gen.ts'
import type { Metrics } from '#api/v1alpha1/gwpolicy.gen.ts'
import { checkSingleValue } from './expression.ts'
import type { FieldTranslator } from './field.ts'

export const metrics: FieldTranslator<Metrics, FrontendPayload> = {
  failureMode: 'skip',
  translate: ({ attributes }, context) => {
    const add = attributes.add.map(({ name, expression }, index) => {
      checkSingleValue(expression, `${context.path}.attributes.add[${index}].expression`, context)
      return { name, expression }
    })
    return [{ suffix: 'frontend-metrics', payload: { metrics: { add } } }]
  },
}
