// frontend.accessLog: harmless. A broken attribute is kept and omitted from each line; OTLP export is not run yet.
import type { FrontendPayload } from '#api/ir/types.gen.ts'
import type { AccessLog } from '#api/v1alpha1/gwpolicy.gen.ts'
import { checkExpression } from './expression.ts'
import { type FieldTranslator, reportNotProgrammed } from './field.ts'

export const accessLog: FieldTranslator<AccessLog, FrontendPayload> = {
  failureMode: 'skip',
  translate: ({ filter, attributes, otlp }, context) => {
    if (otlp !== undefined) reportNotProgrammed(context, 'otlp')
    if (filter !== undefined) checkExpression(filter, `${context.path}.filter`, context)
    for (const [index, { expression }] of (attributes?.add ?? []).entries()) {
      checkExpression(expression, `${context.path}.attributes.add[${index}].expression`, context)
    }
    if (filter === undefined && attributes === undefined) return []
    const { add, remove } = attributes ?? {}
    return [
      {
        suffix: 'frontend-logging',
        payload: {
          accessLog: {
            ...(filter !== undefined && { filter }),
            ...(add !== undefined && { add: add.map(({ name, expression }) => ({ name, expression })) }),
            ...(remove !== undefined && { remove: [...remove] }),
          },
        },
      },
    ]
  },
}
