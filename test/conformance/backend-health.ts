// backend.health: eviction of a provider and failover to the next group.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import { chat } from './suite/chat.ts'
import type { SampleGateway } from './suite/gateway.ts'

const DEADLINE_MS = 10_000

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'HealthEviction',
    description: 'the first bad response evicts a provider, the next group serves, and the dump shows both',
    sample: 'backend-health.yaml',
    async run(gateway) {
      expect(await firstTries(gateway, 6)).toEqual(['failing', ...Array.from({ length: 5 }, () => 'spare')])
      expect(await gateway.dump()).toMatchObject({
        backends: [
          {
            backend: {
              ai: {
                target: {
                  providers: [
                    {
                      active: { failing: { info: { health: 0.7, timesEjected: 1, evictedUntil: expect.any(String) } } },
                    },
                    { active: { spare: { info: { timesEjected: 0, evictedUntil: null } } } },
                  ],
                },
              },
            },
          },
        ],
      })
    },
  },
  {
    shortName: 'HealthThreshold',
    description: 'an endpoint is evicted after the configured number of bad responses in a row',
    sample: 'backend-health.yaml',
    change: replacing('duration: 10m', 'duration: 10m\n        consecutiveFailures: 3'),
    async run(gateway) {
      expect(await firstTries(gateway, 6)).toEqual(['failing', 'failing', 'failing', 'spare', 'spare', 'spare'])
    },
  },
  {
    shortName: 'HealthCondition',
    description: 'the condition decides which responses are unhealthy',
    sample: 'backend-health.yaml',
    change: changing('GwPolicy/backend-health', {
      backend: { health: { unhealthyCondition: 'response.code == 418' } },
    }),
    async run(gateway) {
      expect(await firstTries(gateway, 3)).toEqual(['failing', 'failing', 'failing'])
    },
  },
  {
    shortName: 'HealthConditionEvicts',
    description: 'a response that only the condition classifies as unhealthy evicts the endpoint',
    sample: 'backend-health.yaml',
    change: changing('GwPolicy/backend-health', {
      backend: { health: { unhealthyCondition: 'response.code == 503 && "x-judge" in request.headers' } },
    }),
    async run(gateway) {
      expect(await firstTries(gateway, 3)).toEqual(['failing', 'failing', 'failing'])
      expect(await firstTries(gateway, 1, { 'x-judge': 'yes' })).toEqual(['failing'])
      expect(await firstTries(gateway, 3)).toEqual(['spare', 'spare', 'spare'])
    },
  },
  {
    shortName: 'HealthBelowThreshold',
    description: 'an endpoint is evicted when its health is below the threshold',
    sample: 'backend-health.yaml',
    change: changing('GwPolicy/backend-health', { backend: { health: { eviction: { healthThreshold: 60 } } } }),
    async run(gateway) {
      // 0.7 after the first bad response, 0.49 after the second.
      expect(await firstTries(gateway, 4)).toEqual(['failing', 'failing', 'spare', 'spare'])
    },
  },
  {
    shortName: 'HealthRestored',
    description: 'after its eviction an endpoint has the health of the policy',
    sample: 'backend-health.yaml',
    change: changing('GwPolicy/backend-health', {
      backend: { health: { eviction: { duration: '1s', restoreHealth: 90 } } },
    }),
    async run(gateway) {
      expect(await firstTries(gateway, 1)).toEqual(['failing'])
      const dump = async (): Promise<string> => JSON.stringify(await gateway.dump())
      // The client gets its response before the worker has counted it.
      await expect.poll(dump, { timeout: DEADLINE_MS }).toContain('"timesEjected":1')
      await expect.poll(dump, { timeout: DEADLINE_MS }).toContain('"health":0.9')
    },
  },
  {
    shortName: 'HealthOfService',
    description: 'the first bad response evicts an endpoint of a service that a policy calls',
    sample: 'ext-auth.yaml',
    // It answers every first try with 503.
    change: all(replacing('port: 18090', 'port: 18089'), onService('authz-http')),
    async run(gateway) {
      await expectOneEviction(gateway, { path: '/http', backend: 'authz-http', status: 503 })
    },
  },
  {
    shortName: 'HealthOfGrpcService',
    description: 'the first failed gRPC call evicts it too',
    sample: 'ext-auth.yaml',
    change: all(replacing('port: 18091', 'port: 1'), onService('authz-grpc')),
    async run(gateway) {
      await expectOneEviction(gateway, { path: '/grpc', backend: 'authz-grpc', status: 403 })
    },
  },
]

/** The provider that got each request first. The spare one serves all of them. */
async function firstTries(
  gateway: SampleGateway,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const first: string[] = []
  for (let i = 0; i < count; i++) {
    expect((await chat(gateway, 'hi', { headers })).status).toBe(200)
    first.push(gateway.upstreams.lastModelRequest().headers['x-retry-attempt'] === undefined ? 'spare' : 'failing')
  }
  return first
}

function onService(name: string): (manifests: string) => string {
  const targetRefs = [{ group: 'gw.dev', kind: 'GwBackend', name }]
  const spec = { targetRefs, backend: { health: { eviction: { duration: '10m' } } } }
  const policy = {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { name: 'health', namespace: 'default' },
    spec,
  }
  return (manifests) => `${manifests}---\n${JSON.stringify(policy)}\n`
}

interface Dump {
  readonly backends: readonly unknown[]
}

interface Eviction {
  readonly path: string
  readonly backend: string
  readonly status: number
}

/** The response to one request has the status, and the endpoint of the backend has been evicted once. */
async function expectOneEviction(gateway: SampleGateway, { path, backend, status }: Eviction): Promise<void> {
  expect((await gateway.ask(path)).status).toBe(status)
  const evictions = async (): Promise<number> => {
    const dump = (await gateway.dump()) as Dump // the parts these tests read
    const text = JSON.stringify(dump.backends.find((one) => JSON.stringify(one).includes(backend)))
    return Number(/"timesEjected":(\d+)/.exec(text)?.[1])
  }
  await expect.poll(evictions, { timeout: DEADLINE_MS }).toBe(1)
}
