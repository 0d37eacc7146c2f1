// Listener option `gw.dev/tls-certificate-source: DYNAMIC_CA`: certificates signed for the requested name.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import { SAMPLES, type SampleGateway } from './suite/gateway.ts'
import { secured, textFrom } from './suite/https.ts'

const SAMPLE = 'gateway-certificate-authority.yaml'

/** A client that trusts only the authority of the sample. */
function client({ port }: SampleGateway, servername: string): Promise<TLSSocket> {
  const [ca] = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/.exec(text()) ?? []
  return secured({ port, servername, ca: ca?.replaceAll(/^ +/gm, ''), rejectUnauthorized: true })
}

const text = (): string => readFileSync(join(SAMPLES, SAMPLE), 'utf8')

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'CertificateForEachName',
    description: 'clients that trust the authority verify each name, and their requests are served',
    sample: SAMPLE,
    async run(gateway) {
      for (const name of ['one.example.com', 'edge.example.com']) {
        const socket = await client(gateway, name)
        expect(socket.getPeerCertificate().subjectaltname).toBe(`DNS:${name}`)
        expect(await textFrom(socket, '/')).toMatch(/^HTTP\/1\.1 200 /)
      }
    },
  },
  {
    shortName: 'CertificateOfNoOtherName',
    description: 'a client with a name of no listener gets no certificate',
    sample: SAMPLE,
    async run(gateway) {
      await expect(client(gateway, 'www.example.org')).rejects.toThrow(/ECONNRESET|socket|alert/)
    },
  },
  {
    shortName: 'CertificateAuthorityIsNone',
    description: 'a certificate that is not an authority signs nothing, and the status of the listener reports it',
    sample: SAMPLE,
    change: withPairOfServer,
    async run(gateway) {
      await expect(client(gateway, 'edge.example.com')).rejects.toThrow(/ECONNRESET|socket|alert/)
      const failing = gateway.conditions('Gateway', 'certificate-authority').filter(({ status }) => status === 'False')
      expect(failing.map(({ reason }) => reason)).toContain('InvalidCertificateRef')
    },
  },
]

function withPairOfServer(manifests: string): string {
  const pem = (file: string): string =>
    readFileSync(join(import.meta.dirname, 'suite', 'testdata', file), 'utf8').replaceAll(/^(?=.)/gm, '    ')
  const [before] = manifests.split('  tls.crt: |\n')
  return replacing(manifests, `${before}  tls.crt: |\n${pem('echo.crt')}  tls.key: |\n${pem('echo.key')}`)(manifests)
}
