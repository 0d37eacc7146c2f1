// backend.tunnel: backends that are reached through a proxy.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'backend-tunnel.yaml'
/** The client's. */
const OTHER_HOST = changing('GwPolicy/backend-tunnel', { traffic: { hostRewrite: { mode: 'None' } } })

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'Tunnel',
    description: 'a backend that only the proxy can reach answers; the proxy is handed plain HTTP',
    sample: SAMPLE,
    async run(gateway) {
      const echo = await gateway.echo('/a?b=c', { headers: { 'proxy-authorization': 'Basic of-the-client' } })
      expect(echo).toMatchObject({ server: 'echo', path: '/a?b=c' })
      expect(echo.headers['host']).toContain('echo.internal')
      expect(echo.headers['via']).toBe('1.1 egress')
      expect(echo.headers['proxy-authorization']).toBeUndefined()
    },
  },
  {
    shortName: 'TunnelOtherHost',
    description: 'where the backend is to see another host than its address, its connection goes through by CONNECT',
    sample: SAMPLE,
    change: OTHER_HOST,
    async run(gateway) {
      const { headers } = await gateway.echo('/', { headers: { host: 'shop.example.com' } })
      expect(headers).toMatchObject({ host: 'shop.example.com' })
      expect(headers['via']).toBeUndefined()
    },
  },
  {
    shortName: 'TunnelRefused',
    description: 'a proxy that refuses a connection is a 503, and the log says why',
    sample: SAMPLE,
    change: all(OTHER_HOST, replacing('host: echo.internal', 'host: other.internal')),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
      await expect.poll(() => gateway.log()).toContain('the proxy answered 403')
    },
  },
  {
    shortName: 'TunnelRefusedRequest',
    description: 'a proxy that refuses a request answers it itself',
    sample: SAMPLE,
    change: replacing('host: echo.internal', 'host: other.internal'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 403, text: 'the proxy knows no such host' })
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
