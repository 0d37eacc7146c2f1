// traffic.hostRewrite: which Host header the backend gets.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'HostRewrite',
    description: 'the default depends on the backend; Auto and None override it',
    sample: 'host-rewrite.yaml',
    async run(gateway) {
      const hostOf = async (path: string): Promise<string | undefined> =>
        (await gateway.echo(path, { headers: { host: 'shop.example.com' } })).headers['host']
      const { echo } = gateway.upstreams.ports
      expect(await hostOf('/address')).toBe('shop.example.com')
      expect(await hostOf('/address-auto')).toBe(`127.0.0.1:${echo}`)
      expect(await hostOf('/name')).toBe(`localhost:${echo}`)
      expect(await hostOf('/name-none')).toBe('shop.example.com')
    },
  },
]
