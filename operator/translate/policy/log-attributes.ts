// Fields that log entries and spans add and leave out. An invalid expression is kept: each entry omits its field.
import type { NamedExpression } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { AttributeAdd, LogTracingAttributes } from '#api/v1alpha1/gwpolicy.gen.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext } from './field.ts'

export interface RenderedAttributes {
  readonly add?: NamedExpression[]
  readonly remove?: string[]
}

export function logAttributes(
  attributes: LogTracingAttributes | undefined,
  path: FieldPath,
  context: FieldContext,
): RenderedAttributes {
  const { add, remove } = attributes ?? {}
  return {
    ...(add !== undefined && { add: addedExpressions(add, `${path}.add`, context) }),
    ...(remove !== undefined && { remove: [...remove] }),
  }
}

export function addedExpressions(
  list: readonly AttributeAdd[],
  path: FieldPath,
  context: FieldContext,
): NamedExpression[] {
  return list.map(({ name, expression }, index) => {
    checkExpression(expression, `${path}[${index}].expression`, context)
    return { name, expression }
  })
}

/** Those of the fields that are set, checked. */
export function checkedExpressions<K extends string>(
  value: { readonly [P in K]?: string },
  fields: readonly K[],
  context: FieldContext,
): { [P in K]?: string } {
  const checked: { [P in K]?: string } = {}
  for (const field of fields) {
    const source = value[field]
    if (source === undefined) continue
    checkExpression(source, `${context.path}.${field}`, context)
    checked[field] = source
  }
  return checked
}
