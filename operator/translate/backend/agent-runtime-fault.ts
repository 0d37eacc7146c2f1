// The proxy derives the host of an agent from its resource name. A name in another form selects no host.
import { AGENT_RUNTIME_FORM, regionOfAgentRuntime } from '#api/credentials/agent-runtime.ts'
import type { Problem } from '#api/problem.ts'
import { MALFORMED } from '../defects.ts'

export function agentRuntimeFault(ref: string | undefined): Problem[] {
  if (ref === undefined || regionOfAgentRuntime(ref) !== undefined) return []
  const path = 'spec.cloudService.agentCore.agentRuntimeRef'
  return [{ path, reason: MALFORMED, message: AGENT_RUNTIME_FORM, severity: 'error' }]
}
