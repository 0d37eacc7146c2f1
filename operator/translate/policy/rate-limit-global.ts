// traffic.rateLimit.global: limits that a rate limit service counts. An invalid expression is kept; its descriptor is
// then not sent.
import type { RateLimitDescriptor as RenderedDescriptor, RateLimitGlobal } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { GlobalRateLimit, RateLimitDescriptor } from '#api/v1alpha1/gwpolicy.gen.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext } from './field.ts'
import { serviceReference } from './service-reference.ts'

export function renderGlobalLimit(
  { backendRef, failureMode = 'FailClosed', domain, descriptors }: GlobalRateLimit,
  path: FieldPath,
  context: FieldContext,
): RateLimitGlobal {
  return {
    service: serviceReference(backendRef, `${path}.backendRef`, context),
    failureMode,
    domain,
    descriptors: descriptors.map((one, index) => renderDescriptor(one, `${path}.descriptors[${index}]`, context)),
  }
}

function renderDescriptor(
  { entries, unit = 'Requests', cost }: RateLimitDescriptor,
  path: FieldPath,
  context: FieldContext,
): RenderedDescriptor {
  const own = unit === 'Tokens' ? { ...context, moment: 'log' as const } : context
  if (cost !== undefined) checkExpression(cost, `${path}.cost`, own)
  return {
    unit,
    entries: entries.map(({ name, expression }, index) => {
      checkExpression(expression, `${path}.entries[${index}].expression`, own)
      return { name, expression }
    }),
    ...(cost !== undefined && { cost }),
  }
}
