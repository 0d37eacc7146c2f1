// frontend.accessLog: harmless. An invalid attribute is kept and left out of each entry; a missing collector
// gets nothing.
import type { FrontendPayload, OtlpAccessLog as RenderedOtlp } from '#api/ir/types.gen.ts'
import type { AccessLog } from '#api/v1alpha1/gwpolicy.gen.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext, FieldTranslator } from './field.ts'
import { logAttributes, type RenderedAttributes } from './log-attributes.ts'
import { otlpTarget } from './otlp-target.ts'

export const accessLog: FieldTranslator<AccessLog, FrontendPayload> = {
  failureMode: 'skip',
  translate: ({ filter, attributes, otlp }, context) => {
    if (filter !== undefined) checkExpression(filter, `${context.path}.filter`, context)
    const own: Parent = {
      ...(filter !== undefined && { filter }),
      ...logAttributes(attributes, `${context.path}.attributes`, context),
    }
    if (Object.keys(own).length === 0 && otlp === undefined) return []
    const rendered = otlp === undefined ? undefined : renderOtlp(otlp, own, context)
    return [
      {
        suffix: 'frontend-logging',
        payload: { accessLog: { ...own, ...(rendered !== undefined && { otlp: rendered }) } },
      },
    ]
  },
}

type Parent = RenderedAttributes & { readonly filter?: string }

/** Filter and attributes are those of the line, unless the export has its own. */
function renderOtlp(otlp: NonNullable<AccessLog['otlp']>, parent: Parent, context: FieldContext): RenderedOtlp {
  const path = `${context.path}.otlp`
  const { filter: ownFilter, attributes } = otlp
  if (ownFilter !== undefined) checkExpression(ownFilter, `${path}.filter`, context)
  const filter = ownFilter ?? parent.filter
  const { add, remove } = attributes === undefined ? parent : logAttributes(attributes, `${path}.attributes`, context)
  return {
    target: otlpTarget(otlp, path, context),
    ...(filter !== undefined && { filter }),
    ...(add !== undefined && { add }),
    ...(remove !== undefined && { remove }),
  }
}
