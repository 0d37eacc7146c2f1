// Resource names of agents in the AWS Bedrock AgentCore runtime (data-plane supplement section 8.6).
import { isHostLabel } from '../net/host-label.ts'

/** Signing name of the service. */
export const AGENT_CORE_SERVICE = 'bedrock-agentcore'

const PARTS = 6

export const AGENT_RUNTIME_FORM =
  'is not the ARN of an agent runtime; set arn:aws:bedrock-agentcore:REGION:ACCOUNT:runtime/NAME'

/** undefined: not the resource name of an agent runtime. */
export function regionOfAgentRuntime(ref: string): string | undefined {
  const parts = ref.split(':')
  if (parts.length !== PARTS || parts.includes('')) return undefined
  const [, , service, region = ''] = parts
  return service === AGENT_CORE_SERVICE && isHostLabel(region) ? region : undefined
}
