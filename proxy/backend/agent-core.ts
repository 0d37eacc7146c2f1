// Agents in the AWS Bedrock AgentCore runtime: the address, the path and the signature of every request follow from the
// resource name of the agent (data-plane supplement section 8.6).
import { AGENT_CORE_SERVICE, regionOfAgentRuntime } from '#api/credentials/agent-runtime.ts'
import type { AgentCoreBackend } from '#api/ir/types.gen.ts'
import { percentEncoded } from '#api/percent-encoding.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import type { BackendHandler } from '../chain/handler.ts'
import { signedFor } from './auth/signing-scope.ts'

/** Called with TLS. */
const PORT = 443

/** undefined: not the resource name of an agent runtime. */
export function agentCoreAddress({ agentRuntimeRef }: AgentCoreBackend): { host: string; port: number } | undefined {
  const region = regionOfAgentRuntime(agentRuntimeRef)
  return region === undefined ? undefined : { host: `${AGENT_CORE_SERVICE}.${region}.amazonaws.com`, port: PORT }
}

/** TLS with the authorities of the system, and signatures with the credentials of the environment, unless set. */
export function agentCorePolicies(runtime: AgentCoreBackend, policies: EffectiveBackend): EffectiveBackend {
  const region = regionOfAgentRuntime(runtime.agentRuntimeRef)
  const auth = signedFor({ serviceName: AGENT_CORE_SERVICE, region }, policies.auth ?? { cloudA: {} })
  return { ...policies, tls: policies.tls ?? {}, auth }
}

/** Sends every request to the agent: path, query and host of the client have no effect. */
export function agentCoreBackend(
  { agentRuntimeRef, qualifier }: AgentCoreBackend,
  plain: BackendHandler,
): BackendHandler {
  const path = `/runtimes/${encoded(agentRuntimeRef)}/invocations`
  const query = qualifier === undefined ? '' : `qualifier=${encoded(qualifier)}`
  return (exchange, done) => {
    exchange.request.path = path
    exchange.request.query = query
    exchange.hasExplicitHost = false
    exchange.hostRewriteMode = 'Auto'
    plain(exchange, done)
  }
}

/** All but ASCII letters and digits is percent-encoded. */
function encoded(text: string): string {
  return percentEncoded(text.toWellFormed(), /[-_.!~*'()]/g)
}
