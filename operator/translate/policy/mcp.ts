// backend.mcp: authorization runs in the proxy; authentication and guardrails are refused until they do.
import type { BackendPayload } from '#api/ir/types.gen.ts'
import type { BackendMCP } from '#api/v1alpha1/shared.gen.ts'
import { authorizationDenials, renderAuthorization } from './authorization.ts'
import { denyNotProgrammed, type Emission, type FieldContext, type FieldTranslator } from './field.ts'

export const mcp: FieldTranslator<BackendMCP, BackendPayload> = {
  failureMode: 'deny',
  translate: ({ authorization, authentication, guardrails }, context) => [
    ...(authorization === undefined ? [] : authorizationOf(authorization, context)),
    ...(authentication === undefined ? [] : [denyNotProgrammed(context, 'mcp-authentication', 'authentication')]),
    ...(guardrails === undefined ? [] : [denyNotProgrammed(context, 'mcp-guardrails', 'guardrails')]),
  ],
}

function authorizationOf(
  value: NonNullable<BackendMCP['authorization']>,
  context: FieldContext,
): ReadonlyArray<Emission<BackendPayload>> {
  const below = { ...context, path: `${context.path}.authorization`, field: `${context.field}.authorization` }
  return [
    { suffix: 'mcp-authorization', accumulates: true, payload: { mcpAuthorization: renderAuthorization(value) } },
    ...authorizationDenials(value, below, 'mcp-authorization-deny'),
  ]
}
