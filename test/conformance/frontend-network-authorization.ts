// frontend.networkAuthorization: which connections are served.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import { overTls, secured, textFrom } from './suite/https.ts'

const SAMPLE = 'frontend-network-authorization.yaml'
const DEADLINE_MS = 15_000
const REFUSED =
  /gateway=default\/frontend-network-authorization listener=http src\.addr=\S+ http\.status=403 .* reason=Authorization/

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'NetworkAuthorization',
    description: 'connections from an allowed network are served',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('echo')
    },
  },
  {
    shortName: 'NetworkAuthorizationOther',
    description: 'connections from elsewhere are closed without a response and logged',
    sample: SAMPLE,
    change: replacing('127.0.0.0/8', '10.0.0.0/8'),
    async run(gateway) {
      await expect(gateway.ask('/')).rejects.toThrow(/socket hang up|ECONNRESET/)
      await expect.poll(() => gateway.log(), { timeout: DEADLINE_MS }).toMatch(REFUSED)
    },
  },
  {
    shortName: 'NetworkAuthorizationBrokenDeny',
    description: 'a Deny rule that does not compile rejects every connection and is reported in the status',
    sample: SAMPLE,
    change: (text) =>
      replacing(
        'cidr("127.0.0.0/8").containsIP(ip(source.address))',
        'source.',
      )(replacing('action: Allow', 'action: Deny')(text)),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 403, text: 'denied by policy' })
      const [accepted] = gateway.conditions('GwPolicy', 'frontend-network-authorization')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid' })
    },
  },
  {
    shortName: 'NetworkAuthorizationRequire',
    description: 'every Require rule must match',
    sample: SAMPLE,
    change: changing('GwPolicy/frontend-network-authorization', {
      frontend: { networkAuthorization: { action: 'Require', policy: { matchExpressions: ['source.port == 1'] } } },
    }),
    async run(gateway) {
      await expect(gateway.ask('/')).rejects.toThrow(/socket hang up|ECONNRESET/)
    },
  },
  {
    shortName: 'NetworkAuthorizationTLS',
    description: 'with TLS the proxy decides after the handshake, before it answers any byte',
    sample: SAMPLE,
    change: all(replacing('127.0.0.0/8', '10.0.0.0/8'), overTls('frontend-network-authorization')),
    async run({ port }) {
      // The end may reach the client before its handshake is complete.
      const text = await secured({ port }).then(
        (socket) => textFrom(socket, '/'),
        () => '',
      )
      expect(text).toBe('')
    },
  },
  {
    shortName: 'NetworkAuthorizationTCP',
    description: 'bytes of a rejected connection reach no backend',
    sample: SAMPLE,
    change: all(
      replacing('127.0.0.0/8', '10.0.0.0/8'),
      changing('Gateway/frontend-network-authorization', {
        listeners: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      }),
      replacing('kind: HTTPRoute', 'kind: TCPRoute'),
    ),
    async run(gateway) {
      await expect(gateway.ask('/')).rejects.toThrow(/socket hang up|ECONNRESET/)
      await expect.poll(() => gateway.log(), { timeout: DEADLINE_MS }).toMatch(REFUSED)
    },
  },
]
