// backend.tunnel: backends that are reached through a proxy.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'backend-tunnel.yaml'
/** Host header of the client. */
const OTHER_HOST = changing('GwPolicy/backend-tunnel', { traffic: { hostRewrite: { mode: 'None' } } })

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'Tunnel',
    description: 'a backend that only the proxy can reach answers; the proxy gets plain HTTP',
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
    description: 'if the backend gets another host than its address, the connection uses CONNECT',
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
    description: 'a proxy that rejects a connection causes 503, and the log has the reason',
    sample: SAMPLE,
    change: all(OTHER_HOST, replacing('host: echo.internal', 'host: other.internal')),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
      await expect.poll(() => gateway.log()).toContain('the proxy answered 403')
    },
  },
  {
    shortName: 'TunnelRefusedRequest',
    description: 'the client gets the response of a proxy that rejects a request',
    sample: SAMPLE,
    change: replacing('host: echo.internal', 'host: other.internal'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 403, text: 'the proxy cannot resolve this host' })
    },
  },
  {
    shortName: 'TunnelMissing',
    description: 'with a proxy that does not exist, requests fail and never bypass it',
    sample: SAMPLE,
    change: (text) =>
      replacing('        name: egress', '        name: nowhere')(replacing('echo.internal', '127.0.0.1')(text)),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
      expect(gateway.source.problems).toMatchObject([{ path: 'spec.backend.tunnel.backendRef' }])
    },
  },
]
