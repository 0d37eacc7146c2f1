// frontend.tcp: probes of the kernel, seen from outside only as a connection that goes on.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'FrontendKeepalive',
    description: 'the setting reaches the proxy whole, and requests are served',
    sample: 'frontend-tcp.yaml',
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('echo')
      const [policy] = await gateway.policies()
      expect(policy?.policy['frontend']).toEqual({
        tcp: { keepalive: { timeMs: 60_000, intervalMs: 10_000, retries: 6 } },
      })
    },
  },
]
