// traffic.transformation and backend.transformation. An invalid expression is kept and clears its header at run time.
import type { NamedExpression, Transform as RenderedTransform, TrafficPayload } from '#api/ir/types.gen.ts'
import type { Transformation as RenderedTransformation } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { TransformationOrConditional } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { Transform, Transformation } from '#api/v1alpha1/shared.gen.ts'
import { renderConditional } from './conditional.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext, FieldTranslator } from './field.ts'
import { namedExpressions } from './named-expressions.ts'

export const transformation: FieldTranslator<TransformationOrConditional, TrafficPayload> = {
  failureMode: 'keep',
  translate: (value, context) => [
    { suffix: 'transformation', payload: { transformation: renderOrConditional(value, context) } },
  ],
}

type Rendered = NonNullable<TrafficPayload['transformation']>

function renderOrConditional(value: TransformationOrConditional, context: FieldContext): Rendered {
  if (value.conditional === undefined) return renderTransformation(value, context.path, context)
  return renderConditional(value.conditional, context, (policy, path) => renderTransformation(policy, path, context))
}

export function renderTransformation(
  { request, response }: Transformation,
  path: FieldPath,
  context: FieldContext,
): RenderedTransformation {
  return {
    ...(request !== undefined && { request: renderTransform(request, `${path}.request`, context) }),
    ...(response !== undefined && {
      response: renderTransform(response, `${path}.response`, { ...context, moment: 'response' }),
    }),
  }
}

function renderTransform(transform: Transform, path: FieldPath, context: FieldContext): RenderedTransform {
  const { metadata, add, set, remove, body } = transform
  if (body !== undefined) checkExpression(body, `${path}.body`, context)
  return {
    ...(metadata !== undefined && { metadata: namedExpressions(metadata, `${path}.metadata`, context) }),
    ...(add !== undefined && { add: renderHeaders(add, `${path}.add`, context) }),
    ...(set !== undefined && { set: renderHeaders(set, `${path}.set`, context) }),
    ...(remove !== undefined && { remove: remove.map((name) => name.toLowerCase()) }),
    ...(body !== undefined && { body }),
  }
}

export function renderHeaders(
  headers: ReadonlyArray<{ readonly name: string; readonly value: string }>,
  path: FieldPath,
  context: FieldContext,
): NamedExpression[] {
  return headers.map(({ name, value }, index) => {
    checkExpression(value, `${path}[${index}].value`, context)
    return { name: name.toLowerCase(), expression: value }
  })
}
