// GwBackend dynamicForwardProxy: destinations that clients may choose, and forbidden ones.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'

const SAMPLE = 'gwbackend-dynamic.yaml'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'DynamicForwardProxy',
    description: 'requests go to their host; the policies of the route run first',
    sample: SAMPLE,
    async run(gateway) {
      const { echo, spare } = gateway.upstreams.ports
      const to = (host: string) => gateway.ask('/x', { headers: { host } })
      expect((await to(`127.0.0.1:${echo}`)).text).toContain('"server": "echo"')
      const other = await to(`127.0.0.1:${spare}`)
      expect(other.text).toContain('"server": "spare"')
      expect(other.text).toContain(`"host": "127.0.0.1:${spare}"`)
      expect(await to('forbidden.example.com')).toMatchObject({ status: 403, text: 'authorization failed' })
      await expect.poll(() => gateway.log()).toContain(`endpoint=127.0.0.1:${spare}`)
    },
  },
  {
    shortName: 'DynamicForwardProxyGuard',
    description: 'loopback, link-local and metadata addresses are rejected in every form',
    sample: SAMPLE,
    change: (text) => text,
    async run(gateway) {
      const hosts = ['127.0.0.2', '169.254.169.254', '[::1]', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', '0.0.0.0']
      for (const host of hosts) {
        const answer = await gateway.ask('/latest/meta-data/', { headers: { host } })
        expect({ ...answer, host }).toMatchObject({ host, status: 403, text: 'destination not allowed' })
      }
    },
  },
  {
    shortName: 'DynamicForwardProxyHost',
    description: 'a host that is not a destination is rejected',
    sample: SAMPLE,
    change: (text) => text,
    async run(gateway) {
      for (const host of ['127.0.0.1:0', '127.0.0.1:99999']) {
        expect((await gateway.ask('/', { headers: { host } })).status).toBe(400)
      }
    },
  },
]
