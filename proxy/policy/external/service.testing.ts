// Callers of real services on loopback, for tests of the policies that call services; not used by the proxy.
import { localState } from '../../backend/endpoint-store.ts'
import { serviceCaller } from '../../backend/service-caller.ts'
import type { ServiceCaller } from '../../chain/service.ts'
import { createGrpcClient } from '../../grpc/client.ts'
import { plainTarget } from '../../grpc/server.testing.ts'
import type { NamedFilter } from '../../chain/filter.ts'
import type { CallSubtype } from '../../exchange/request-span.ts'
import { createUpstreamClient } from '../../upstream/client.ts'

export interface TestService {
  readonly caller: ServiceCaller
  /** Of each call: whether the endpoint counts as healthy after it. */
  readonly outcomes: readonly boolean[]
  close(): void
}

export function testService(
  port: number,
  options: { timeoutMs?: number; filters?: readonly NamedFilter[]; subtype?: CallSubtype } = {},
): TestService {
  const client = createUpstreamClient()
  const grpc = createGrpcClient()
  const outcomes: boolean[] = []
  const state = localState()
  const { succeeded, failed } = { succeeded: state.succeeded.bind(state), failed: state.failed.bind(state) }
  state.succeeded = (latencyMs) => {
    outcomes.push(true)
    succeeded(latencyMs)
  }
  state.failed = () => {
    outcomes.push(false)
    return failed()
  }
  const endpoint = { target: plainTarget(port), authority: 'service.test', state }
  const { filters = [], timeoutMs, subtype } = options
  return {
    caller: serviceCaller({
      picker: { pick: () => endpoint, other: () => undefined },
      filters,
      client,
      grpc,
      timeoutMs,
      subtype,
    }),
    outcomes,
    close() {
      client.close()
      grpc.close()
    },
  }
}
