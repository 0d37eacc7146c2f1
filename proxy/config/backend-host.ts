// The host name of a backend, for credentials that depend on it: known while a chain is compiled, never from a request.
import { agentCoreAddress } from '../backend/agent-core.ts'
import type { FilteredPlace } from '../backend/handler.ts'
import type { CompileContext } from './context.ts'

/** Of a Service its name in the cluster. undefined: a socket, or a backend whose address each request has. */
export function backendHost({ host, ref }: FilteredPlace, { resolver }: CompileContext): string | undefined {
  if (host !== undefined || ref === undefined) return host
  if (ref.service !== undefined) return ref.service.hostname
  const backend = ref.backend === undefined ? undefined : resolver.backend(ref.backend)
  return backend?.agentCore === undefined ? backend?.static?.host : agentCoreAddress(backend.agentCore)?.host
}
