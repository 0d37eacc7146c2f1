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
  {
    shortName: 'HostDefaultPort',
    description: 'the default port of the scheme is removed from the Host in backends and logs; others stay',
    sample: 'host-rewrite.yaml',
    change: (text) => text,
    async run(gateway) {
      const hostOf = async (host: string): Promise<string | undefined> =>
        (await gateway.echo('/address', { headers: { host } })).headers['host']
      expect(await hostOf('Shop.example.com:80')).toBe('shop.example.com')
      expect(await hostOf('shop.example.com:443')).toBe('shop.example.com:443')
      expect(await hostOf('shop.example.com:8080')).toBe('shop.example.com:8080')
      await expect.poll(() => gateway.log()).toContain('http.host=shop.example.com:8080')
      expect(gateway.log()).not.toContain('http.host=shop.example.com:80 ')
    },
  },
]
