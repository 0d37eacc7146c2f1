// backend.tcp: the connect timeout.
import { expect } from 'vitest'
import { changing, type ConformanceCase } from './suite/case.ts'
import { secondsToProbe } from './suite/keepalive.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ConnectTimeout',
    description: 'a backend that does not accept connections causes 504, others are reached',
    sample: 'backend-tcp.yaml',
    async run(gateway) {
      expect(await gateway.ask('/hanging')).toMatchObject({ status: 504, text: 'upstream call timeout' })
      expect((await gateway.echo('/echo')).server).toBe('echo')
    },
  },
  {
    shortName: 'BackendKeepalive',
    description: 'connections to the backend are probed after they were idle for the time of the policy',
    sample: 'backend-tcp.yaml',
    change: changing('GwPolicy/backend-tcp', {
      backend: { tcp: { connectTimeout: null, keepalive: { time: '30s', interval: '10s', retries: 3 } } },
    }),
    async run(gateway) {
      await gateway.echo('/echo')
      const probeSeconds = await secondsToProbe({ remotePort: gateway.upstreams.ports.echo })
      expect(probeSeconds).toBeGreaterThan(20)
      expect(probeSeconds).toBeLessThanOrEqual(30)
      const [policy] = await gateway.policies()
      expect(policy?.policy['backend']).toEqual({
        tcp: { keepalive: { timeMs: 30_000, intervalMs: 10_000, retries: 3 } },
      })
    },
  },
]
