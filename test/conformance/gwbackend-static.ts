// GwBackend static: an address, or a Unix socket.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendStatic',
    description: 'a fixed address and a Unix socket are reached',
    sample: 'gwbackend-static.yaml',
    async run(gateway) {
      expect((await gateway.echo('/tcp')).server).toBe('echo')
      const unix = await gateway.echo('/unix', { method: 'POST', headers: { host: 'shop.example.com' }, body: 'hi' })
      expect(unix).toMatchObject({ server: 'unix', method: 'POST', body: 'hi' })
      expect(unix.headers['host']).toBe('shop.example.com')
    },
  },
]
