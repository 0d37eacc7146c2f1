// frontend.tcp: probes of the kernel, which reports the time until the first one.
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { overTls } from './suite/https.ts'
import { secondsToProbe } from './suite/keepalive.ts'

const SAMPLE = 'frontend-tcp.yaml'
const NAME = 'frontend-tcp'

/** For a connection on which nothing is sent, not even the beginning of a handshake. */
async function expectProbes({ port }: SampleGateway): Promise<void> {
  const client = connect(port, '127.0.0.1')
  try {
    await once(client, 'connect')
    const seconds = await secondsToProbe({ localPort: port, remotePort: client.localPort })
    expect(seconds).toBeGreaterThan(50)
    expect(seconds).toBeLessThanOrEqual(60)
  } finally {
    client.destroy()
  }
}

const passedOn = changing(`Gateway/${NAME}`, {
  listeners: [{ name: 'http', port: 8080, protocol: 'TLS', tls: { mode: 'Passthrough' } }],
})
const asTcp = changing(`Gateway/${NAME}`, { listeners: [{ name: 'http', port: 8080, protocol: 'TCP' }] })

const asTlsRoute = all(
  changing(`HTTPRoute/${NAME}`, { hostnames: ['*.example.com'] }),
  replacing('kind: HTTPRoute', 'kind: TLSRoute'),
)

/** For each other kind of port. */
const OTHERS: readonly (readonly [string, (manifests: string) => string])[] = [
  ['HTTPS', overTls(NAME)],
  ['TLS', all(overTls(NAME, 'TLS'), asTlsRoute)],
  ['Passthrough', all(passedOn, asTlsRoute)],
  ['TCP', all(asTcp, replacing('kind: HTTPRoute', 'kind: TCPRoute'))],
]

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'FrontendKeepalive',
    description: 'connections are probed after they were idle for the time of the policy, and requests are served',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('echo')
      await expectProbes(gateway)
      const [policy] = await gateway.policies()
      expect(policy?.policy['frontend']).toEqual({
        tcp: { keepalive: { timeMs: 60_000, intervalMs: 10_000, retries: 6 } },
      })
    },
  },
  ...OTHERS.map(([kind, change]): ConformanceCase => ({
    shortName: `FrontendKeepalive ${kind}`,
    description: 'connections of the port are probed in the same way',
    sample: SAMPLE,
    change,
    run: expectProbes,
  })),
]
