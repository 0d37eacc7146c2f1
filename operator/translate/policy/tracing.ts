// frontend.tracing: harmless. Invalid expressions are kept: sampling then samples nothing, attributes are left out. A
// collector that does not exist gets nothing.
import type { FrontendPayload } from '#api/ir/types.gen.ts'
import type { Tracing } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { FieldTranslator } from './field.ts'
import { addedExpressions, checkedExpressions, logAttributes } from './log-attributes.ts'
import { otlpTarget } from './otlp-target.ts'

export const tracing: FieldTranslator<Tracing, FrontendPayload> = {
  failureMode: 'skip',
  translate: (value, context) => {
    const { attributes, resources } = value
    return [
      {
        suffix: 'frontend-tracing',
        payload: {
          tracing: {
            target: otlpTarget(value, context.path, context),
            ...checkedExpressions(value, ['randomSampling', 'clientSampling'], { ...context, moment: 'routing' }),
            ...checkedExpressions(value, ['filter'], context),
            ...logAttributes(attributes, `${context.path}.attributes`, context),
            ...(resources !== undefined && {
              resources: addedExpressions(resources, `${context.path}.resources`, { ...context, moment: 'start' }),
            }),
          },
        },
      },
    ]
  },
}
