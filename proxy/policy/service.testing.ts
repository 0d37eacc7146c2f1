// Callers of real services on loopback, for tests of the policies that call some; not used by the proxy.
import { serviceCaller, type ServiceCaller } from '../backend/service-caller.ts'
import { createGrpcClient } from '../grpc/client.ts'
import { plainTarget } from '../grpc/server.testing.ts'
import type { NamedFilter } from '../plan.ts'
import { createUpstreamClient } from '../upstream/client.ts'

export interface TestService {
  readonly caller: ServiceCaller
  /** Of each call: whether the endpoint counts as healthy after it. */
  readonly outcomes: readonly boolean[]
  close(): void
}

export function testService(
  port: number,
  options: { timeoutMs?: number; filters?: readonly NamedFilter[] } = {},
): TestService {
  const client = createUpstreamClient()
  const grpc = createGrpcClient()
  const outcomes: boolean[] = []
  const endpoint = {
    target: plainTarget(port),
    authority: 'service.test',
    begin() {},
    end: (_: number, isHealthy: boolean) => void outcomes.push(isHealthy),
  }
  const { filters = [], timeoutMs } = options
  return {
    caller: serviceCaller({ picker: { pick: () => endpoint }, filters, client, grpc, timeoutMs }),
    outcomes,
    close() {
      client.close()
      grpc.close()
    },
  }
}
