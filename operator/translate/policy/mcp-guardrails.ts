// backend.mcp.guardrails. An invalid expression is kept: it fails when the proxy evaluates it.
import type { BackendPayload, MCPGuardrailsProcessor as RenderedProcessor } from '#api/ir/types.gen.ts'
import type { FieldPath } from '#api/problem.ts'
import type { MCPGuardrails, MCPGuardrailsProcessor } from '#api/v1alpha1/shared.gen.ts'
import { sortedBy } from '../order.ts'
import { lowered } from './ext-auth.ts'
import type { Emission, FieldContext } from './field.ts'
import { namedExpressions } from './named-expressions.ts'
import { serviceReference } from './service-reference.ts'

export function mcpGuardrailsOf({ processors }: MCPGuardrails, context: FieldContext): Emission<BackendPayload> {
  const below = { ...context, path: `${context.path}.guardrails`, field: `${context.field}.guardrails` }
  const rendered = processors.map((one, index) => renderProcessor(one, `${below.path}.processors[${index}]`, below))
  return { suffix: 'mcp-guardrails', payload: { mcpGuardrails: { processors: rendered } } }
}

function renderProcessor(
  { remote, methods }: MCPGuardrailsProcessor,
  path: FieldPath,
  context: FieldContext,
): RenderedProcessor {
  const { backendRef, failureMode = 'FailClosed', metadata } = remote
  const { allowedRequestHeaders: allowed = [], disallowedRequestHeaders: disallowed = [] } = remote
  return {
    service: serviceReference(backendRef, `${path}.remote.backendRef`, context),
    failureMode,
    // A map of the API has no order of its own.
    methods: sortedBy(Object.entries(methods), ([method]) => method).map(([method, phase]) => ({ method, phase })),
    ...(metadata !== undefined && { metadata: namedExpressions(metadata, `${path}.remote.metadata`, context) }),
    ...(allowed.length > 0 && { allowedRequestHeaders: lowered(allowed) }),
    ...(disallowed.length > 0 && { disallowedRequestHeaders: lowered(disallowed) }),
  }
}
