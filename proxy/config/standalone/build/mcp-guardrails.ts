// Guardrails of MCP, as a field of the contract. Each service becomes a separate backend unless the file names one.
import type { MCPGuardrails as Rendered } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { McpGuardrails } from '../schema/external.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { expressions } from './headers.ts'
import { serviceOf } from './simple-policies.ts'

const PHASES = { off: 'Off', request: 'Request', response: 'Response', full: 'Full' } as const

export function renderMcpGuardrails({ processors }: McpGuardrails, path: string, context: BuildContext): Rendered {
  return {
    processors: processors.map((one, index) => renderProcessor(one, pathTo(path, 'processors', index), context)),
  }
}

function renderProcessor(
  value: McpGuardrails['processors'][number],
  path: string,
  context: BuildContext,
): Rendered['processors'][number] {
  const { methods, failureMode, metadata, requestHeaders: { allowed = [], disallowed } = {} } = value
  return {
    service: serviceOf(value, path, context),
    failureMode: failureMode === 'failOpen' ? 'FailOpen' : 'FailClosed',
    methods: Object.entries(methods).map(([method, phase]) => ({ method, phase: PHASES[phase] })),
    ...defined({
      metadata: ifSet(metadata, expressions),
      allowedRequestHeaders: allowed.length === 0 ? undefined : allowed,
      disallowedRequestHeaders: disallowed,
    }),
  }
}
