// frontend.tls: what handshakes may agree on. The sample has no certificate; cases with one make it when they run.
import { once } from 'node:events'
import tls from 'node:tls'
import { expect } from 'vitest'
import { certificateFor } from '#test/certificates.ts'
import { replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'frontend-tls.yaml'

function withCertificate(manifests: string): string {
  const { certificate, privateKey } = certificateFor({ commonName: 'edge', names: ['DNS:edge.example.com'] })
  const reference = 'protocol: HTTPS\n      tls:\n        certificateRefs:\n          - name: edge'
  const data = JSON.stringify({ 'tls.crt': certificate, 'tls.key': privateKey })
  const metadata = 'metadata: {name: edge, namespace: default}'
  const secret = `---\napiVersion: v1\nkind: Secret\n${metadata}\ntype: kubernetes.io/tls\nstringData: ${data}\n`
  return `${replacing('protocol: HTTP\n', `${reference}\n`)(manifests)}${secret}`
}

async function versionOf(port: number, options: tls.ConnectionOptions): Promise<string | null> {
  const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
  await once(socket, 'secureConnect')
  const version = socket.getProtocol()
  socket.destroy()
  return version
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'FrontendTLSPlain',
    description: 'listeners without TLS are left alone',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('echo')
    },
  },
  {
    shortName: 'FrontendTLS',
    description: 'clients that cannot do what the policy asks for fail their handshake',
    sample: SAMPLE,
    change: withCertificate,
    async run(gateway) {
      expect(await versionOf(gateway.port, {})).toBe('TLSv1.3')
      await expect(versionOf(gateway.port, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/)
      await expect(versionOf(gateway.port, { ecdhCurve: 'P-384' })).rejects.toThrow(/handshake failure/)
    },
  },
]
