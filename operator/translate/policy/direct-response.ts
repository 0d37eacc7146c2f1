// traffic.directResponse. Without a status there is nothing to answer with: such an entry is left out and reported.
import type { DirectResponse as RenderedResponse, TrafficPayload } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { DirectResponseOrConditional } from '#api/v1alpha1/gwpolicy.gen.ts'
import { checkExpression } from './expression.ts'
import { type FieldContext, type FieldTranslator, reportError } from './field.ts'
import { renderHeaders } from './transformation.ts'

export const directResponse: FieldTranslator<DirectResponseOrConditional, TrafficPayload> = {
  failureMode: 'skip',
  translate: (value, context) => {
    const rendered = renderOrConditional(value, context)
    return rendered === undefined ? [] : [{ suffix: 'direct-response', payload: { directResponse: rendered } }]
  },
}

function renderOrConditional(
  value: DirectResponseOrConditional,
  context: FieldContext,
): TrafficPayload['directResponse'] {
  if (value.conditional === undefined) return renderResponse(value, context.path, context)
  const conditional = value.conditional.flatMap(({ condition, policy }, index) => {
    const path = `${context.path}.conditional[${index}]`
    if (condition !== undefined) checkExpression(condition, `${path}.condition`, context)
    const rendered = renderResponse(policy, `${path}.policy`, context)
    return rendered === undefined ? [] : [{ ...(condition !== undefined && { condition }), policy: rendered }]
  })
  return conditional.length === 0 ? undefined : { conditional }
}

function renderResponse(
  value: Omit<DirectResponseOrConditional, 'conditional'>,
  path: FieldPath,
  context: FieldContext,
): RenderedResponse | undefined {
  const { status, body, bodyExpression, headers } = value
  if (status === undefined) {
    reportError(context, { path: `${path}.status`, reason: 'Required', message: `${path}.status is required` })
    return undefined
  }
  if (bodyExpression !== undefined) checkExpression(bodyExpression, `${path}.bodyExpression`, context)
  return {
    status,
    ...(body !== undefined && { body }),
    ...(bodyExpression !== undefined && { bodyExpression }),
    ...(headers !== undefined && { headers: renderHeaders(headers, `${path}.headers`, context) }),
  }
}
