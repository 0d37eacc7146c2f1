// frontend.tcp: probes of the kernel, which says how long it will wait before the first one.
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'
import { secondsToProbe } from './suite/keepalive.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'FrontendKeepalive',
    description:
      'connections are probed when they have been silent for the time of the policy, and requests are served',
    sample: 'frontend-tcp.yaml',
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('echo')
      const client = connect(gateway.port, '127.0.0.1')
      await once(client, 'connect')
      const probeSeconds = await secondsToProbe({ localPort: gateway.port, remotePort: client.localPort })
      client.destroy()
      expect(probeSeconds).toBeGreaterThan(50)
      expect(probeSeconds).toBeLessThanOrEqual(60)
      const [policy] = await gateway.policies()
      expect(policy?.policy['frontend']).toEqual({
        tcp: { keepalive: { timeMs: 60_000, intervalMs: 10_000, retries: 6 } },
      })
    },
  },
]
