// TLSRoute: server names, passthrough and termination, and weights.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import { overTls, secured, textFrom } from './suite/https.ts'

const SAMPLE = 'local/tls-passthrough.yaml'
const HOST = 'echo.example.com'
const CONNECTIONS = 60

const shared = (echo: number, spare: number): ((manifests: string) => string) =>
  all(
    // Backends with plain HTTP inside the TLS that the gateway terminates.
    replacing('port: 18085', 'port: 18081'),
    changing('TLSRoute/passthrough', {
      hostnames: ['*.example.com'],
      rules: [
        {
          backendRefs: [
            { group: 'gw.dev', kind: 'GwBackend', name: 'secure', weight: echo },
            { group: 'gw.dev', kind: 'GwBackend', name: 'spare', weight: spare },
          ],
        },
      ],
    }),
    (manifests) =>
      `${manifests}---\n${JSON.stringify({
        apiVersion: 'gw.dev/v1alpha1',
        kind: 'GwBackend',
        metadata: { name: 'spare', namespace: 'default' },
        spec: { static: { host: '127.0.0.1', port: 18_084 } },
      })}\n`,
    overTls('passthrough', 'TLS'),
  )

/** Names of the servers that answered, one for each connection. */
async function servers(port: number): Promise<readonly string[]> {
  const names: string[] = []
  for (let i = 0; i < CONNECTIONS; i++) {
    names.push(/"server": "(\w+)"/.exec(await textFrom(await secured({ port }), '/'))?.[1] ?? '')
  }
  return names
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'TLSRoutePassthrough',
    description: 'the client has a TLS handshake with the backend of the name; connections for other names are closed',
    sample: SAMPLE,
    async run({ port }) {
      const options = { port, servername: HOST, ALPNProtocols: ['http/1.1'] }
      const socket = await secured(options)
      const own = new X509Certificate(readFileSync(join(import.meta.dirname, 'suite', 'testdata', 'echo.crt')))
      expect(socket.getPeerX509Certificate()?.fingerprint256).toBe(own.fingerprint256)
      expect(await textFrom(socket, '/')).toContain('"server": "tls"')
      await expect(secured({ ...options, servername: 'other.example.com' })).rejects.toThrow(/ECONNRESET|socket/)
    },
  },
  {
    shortName: 'TLSRouteWeights',
    description: 'connections with terminated TLS are split by weight',
    sample: SAMPLE,
    change: shared(1, 1),
    async run({ port }) {
      const names = await servers(port)
      expect(new Set(names)).toEqual(new Set(['echo', 'spare']))
      // 30 expected; the limits are five standard deviations away.
      expect(names.filter((name) => name === 'echo').length).toBeGreaterThan(10)
      expect(names.filter((name) => name === 'spare').length).toBeGreaterThan(10)
    },
  },
  {
    shortName: 'TLSRouteWeightZero',
    description: 'a backend with weight 0 gets nothing',
    sample: SAMPLE,
    change: shared(0, 5),
    async run({ port }) {
      expect(new Set(await servers(port))).toEqual(new Set(['spare']))
    },
  },
]
