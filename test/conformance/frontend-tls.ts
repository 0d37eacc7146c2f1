// frontend.tls: what handshakes may agree on. The sample has no certificate; cases with one make it when they run.
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { expect } from 'vitest'
import { certificateFor } from '#test/certificates.ts'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'frontend-tls.yaml'

function withCertificate(manifests: string): string {
  const { certificate, privateKey } = certificateFor({ commonName: 'edge', names: ['DNS:edge.example.com'] })
  const reference = 'protocol: HTTPS\n      tls:\n        certificateRefs:\n          - name: edge'
  const data = JSON.stringify({ 'tls.crt': certificate, 'tls.key': privateKey })
  const metadata = 'metadata: {name: edge, namespace: default}'
  const secret = `---\napiVersion: v1\nkind: Secret\n${metadata}\ntype: kubernetes.io/tls\nstringData: ${data}\n`
  return `${replacing('protocol: HTTP\n', `${reference}\n`)(manifests)}${secret}`
}

interface Agreed {
  readonly version: string | null
  readonly cipher: string
  readonly alpn: string | false | null
}

async function handshake(port: number, options: tls.ConnectionOptions): Promise<Agreed> {
  const socket = tls.connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
  await once(socket, 'secureConnect')
  const agreed = { version: socket.getProtocol(), cipher: socket.getCipher().name, alpn: socket.alpnProtocol }
  socket.destroy()
  return agreed
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
      expect(await handshake(gateway.port, {})).toMatchObject({ version: 'TLSv1.3' })
      await expect(handshake(gateway.port, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/)
      await expect(handshake(gateway.port, { ecdhCurve: 'P-384' })).rejects.toThrow(/handshake failure/)
    },
  },
  {
    shortName: 'FrontendTLSOlder',
    description: 'versions, cipher suites, groups and protocols are those of the policy, and no others',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/frontend-tls', {
        frontend: {
          tls: {
            alpnProtocols: ['http/1.1'],
            minProtocolVersion: '1.2',
            maxProtocolVersion: '1.2',
            cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'],
            keyExchangeGroups: ['P-256', 'P-384'],
          },
        },
      }),
      withCertificate,
    ),
    async run({ port }) {
      const agreed = await handshake(port, { ALPNProtocols: ['h2', 'http/1.1'] })
      expect(agreed).toEqual({ version: 'TLSv1.2', cipher: 'ECDHE-ECDSA-AES256-GCM-SHA384', alpn: 'http/1.1' })
      await expect(handshake(port, { minVersion: 'TLSv1.3' })).rejects.toThrow(/protocol version/)
      await expect(handshake(port, { ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' })).rejects.toThrow(/handshake failure/)
      await expect(handshake(port, { ecdhCurve: 'X25519' })).rejects.toThrow(/handshake failure/)
    },
  },
  {
    shortName: 'FrontendTLSHandshakeTimeout',
    description: 'a client that begins no handshake is let go',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/frontend-tls', { frontend: { tls: { handshakeTimeout: '100ms' } } }),
      withCertificate,
    ),
    async run({ port }) {
      const socket = net.connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      await once(socket, 'close')
      expect(socket.bytesRead).toBe(0)
    },
  },
]
