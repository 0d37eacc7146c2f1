// Where a credential of the client is read, in the form of the contract. Unset stays unset: the proxy has the default.
import type { ExtractionLocation } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { AuthorizationExtractionLocation } from '#api/v1alpha1/shared.gen.ts'
import { checkExpression } from './expression.ts'
import type { FieldContext } from './field.ts'

export function locationField(
  location: AuthorizationExtractionLocation | undefined,
  context: FieldContext,
): { location?: ExtractionLocation } {
  if (location === undefined) return {}
  return { location: extractionLocation(location, `${context.path}.location`, context) }
}

export function extractionLocation(
  { header, queryParameter, cookie, expression }: AuthorizationExtractionLocation,
  path: FieldPath,
  context: FieldContext,
): ExtractionLocation {
  if (expression !== undefined) checkExpression(expression, `${path}.expression`, context)
  return {
    ...(header !== undefined && {
      header: { name: header.name.toLowerCase(), ...(header.prefix !== undefined && { prefix: header.prefix }) },
    }),
    ...(queryParameter !== undefined && { queryParameter: { name: queryParameter.name } }),
    ...(cookie !== undefined && { cookie: { name: cookie.name } }),
    ...(expression !== undefined && { expression }),
  }
}
