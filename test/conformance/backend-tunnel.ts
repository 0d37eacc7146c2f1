// backend.tunnel: backends that are reached through a proxy.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'backend-tunnel.yaml'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'Tunnel',
    description: 'a backend that only the proxy can reach answers',
    sample: SAMPLE,
    async run(gateway) {
      expect(await gateway.echo('/a')).toMatchObject({ server: 'echo', path: '/a' })
      expect((await gateway.echo('/b')).headers['host']).toContain('echo.internal')
    },
  },
  {
    shortName: 'TunnelRefused',
    description: 'a proxy that refuses is a 503, and the log says why',
    sample: SAMPLE,
    change: replacing('host: echo.internal', 'host: other.internal'),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
      await expect.poll(() => gateway.log()).toContain('the proxy answered 403')
    },
  },
  {
    shortName: 'TunnelMissing',
    description: 'a proxy that does not exist: calls fail and never go around it',
    sample: SAMPLE,
    change: (text) =>
      replacing('        name: egress', '        name: nowhere')(replacing('echo.internal', '127.0.0.1')(text)),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
      expect(gateway.source.problems).toMatchObject([{ path: 'spec.backend.tunnel.backendRef' }])
    },
  },
]
