// backend.tls: the certificate of the backend is verified before anything is sent.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'backend-tls.yaml'
const CLIENT = { backend: { tls: { mtlsCertificateRef: [{ name: 'client' }] } } }

function agreement(tls: Readonly<Record<string, readonly string[]>>): (manifests: string) => string {
  return changing('GwPolicy/backend-tls', { backend: { tls } })
}

function withClient(manifests: string): string {
  const pem = (file: string): string => readFileSync(join(import.meta.dirname, 'suite', 'testdata', file), 'utf8')
  const data = JSON.stringify({ 'tls.crt': pem('client.crt'), 'tls.key': pem('client.key') })
  const metadata = 'metadata: {name: client, namespace: default}'
  return `${manifests}---\napiVersion: v1\nkind: Secret\n${metadata}\ntype: kubernetes.io/tls\nstringData: ${data}\n`
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendTLS',
    description: 'a backend with a certificate of the authority for the name is reached',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('tls')
    },
  },
  {
    shortName: 'BackendTLSWrongName',
    description: 'a certificate for another name is not accepted',
    sample: SAMPLE,
    change: replacing('sni: echo.example.com', 'sni: other.example.com'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({
        status: 503,
        text: 'upstream call failed: the certificate is for another name',
      })
    },
  },
  {
    shortName: 'BackendTLSUnknownAuthority',
    description: 'without the reference only the authorities of the system are trusted',
    sample: SAMPLE,
    change: replacing('caCertificateRefs:\n        - name: echo-ca\n      ', ''),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({
        status: 503,
        text: 'upstream call failed: the certificate is not trusted',
      })
    },
  },
  {
    shortName: 'BackendTLSMissingAuthority',
    description: 'a reference to a missing authority rejects the traffic',
    sample: SAMPLE,
    change: replacing('- name: echo-ca', '- name: no-such-ca'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 403, text: 'denied by policy' })
      const [accepted] = gateway.conditions('GwPolicy', 'backend-tls')
      expect(accepted).toMatchObject({
        reason: 'PartiallyValid',
        message: 'spec.backend.tls.caCertificateRefs[0]: ConfigMap default/no-such-ca not found',
      })
      expect(gateway.source.problems.map(({ path }) => path)).toContain('spec.backend.tls.caCertificateRefs[0]')
    },
  },
  {
    shortName: 'BackendTLSSubjectAltNames',
    description: 'the certificate is compared with the names, not with the server name',
    sample: SAMPLE,
    change: replacing('sni: echo.example.com', 'verifySubjectAltNames:\n        - echo.example.com'),
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('tls')
    },
  },
  {
    shortName: 'BackendTLSOtherSubjectAltNames',
    description: 'a certificate without any of the names is not accepted',
    sample: SAMPLE,
    change: replacing('sni: echo.example.com', 'verifySubjectAltNames:\n        - other.example.com'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({
        status: 503,
        text: 'upstream call failed: the certificate is for another name',
      })
    },
  },
  {
    shortName: 'BackendTLSSkipVerify',
    description: 'with insecureSkipVerify All any certificate is accepted',
    sample: SAMPLE,
    change: changing('GwPolicy/backend-tls', {
      backend: { tls: { caCertificateRefs: null, sni: 'other.example.com', insecureSkipVerify: 'All' } },
    }),
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('tls')
    },
  },
  {
    shortName: 'BackendTLSSkipHostname',
    description: 'with insecureSkipVerify Hostname a certificate of the authority for any name is accepted',
    sample: SAMPLE,
    change: changing('GwPolicy/backend-tls', {
      backend: { tls: { sni: 'other.example.com', insecureSkipVerify: 'Hostname' } },
    }),
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('tls')
    },
  },
  {
    shortName: 'BackendTLSSkipHostnameUnknownAuthority',
    description: 'with insecureSkipVerify Hostname a certificate of another authority is rejected',
    sample: SAMPLE,
    change: changing('GwPolicy/backend-tls', {
      backend: { tls: { caCertificateRefs: null, sni: null, insecureSkipVerify: 'Hostname' } },
    }),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({
        status: 503,
        text: 'upstream call failed: the certificate is not trusted',
      })
    },
  },
  {
    shortName: 'BackendTLSClientCertificate',
    description: 'a backend that requests a certificate gets the one of the Secret; without it no request is sent',
    sample: SAMPLE,
    change: all(replacing('port: 18085', 'port: 18099'), withClient, changing('GwPolicy/backend-tls', CLIENT)),
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('mtls')
    },
  },
  {
    shortName: 'BackendTLSMissingClientCertificate',
    description: 'a reference to a missing certificate rejects the traffic, and the status names it',
    sample: SAMPLE,
    change: all(replacing('port: 18085', 'port: 18099'), changing('GwPolicy/backend-tls', CLIENT)),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 403, text: 'denied by policy' })
      const [accepted] = gateway.conditions('GwPolicy', 'backend-tls')
      expect(accepted).toMatchObject({
        reason: 'PartiallyValid',
        message: 'spec.backend.tls.mtlsCertificateRef[0]: secret default/client not found',
      })
    },
  },
  {
    shortName: 'BackendTLSAgreement',
    description: 'the backend selects one of the offered protocols, and that version is used',
    sample: SAMPLE,
    change: agreement({ alpnProtocols: ['h2', 'http/1.1'], keyExchangeGroups: ['P-256', 'P-384'] }),
    async run(gateway) {
      const { headers } = await gateway.echo('/')
      expect(headers).toMatchObject({ 'x-tls-alpn': 'h2', ':path': '/' })
    },
  },
  {
    shortName: 'BackendTLSOneProtocol',
    description: 'a protocol that is not in the list is not offered, although the backend prefers it',
    sample: SAMPLE,
    change: agreement({ alpnProtocols: ['http/1.1'] }),
    async run(gateway) {
      expect((await gateway.echo('/')).headers['x-tls-alpn']).toBe('http/1.1')
    },
  },
  {
    shortName: 'BackendTLSFixedVersion',
    description: 'only the version of http.version is offered, even with a longer list',
    sample: SAMPLE,
    change: changing('GwPolicy/backend-tls', {
      backend: { tls: { alpnProtocols: ['h2', 'http/1.1'] }, http: { version: 'HTTP1' } },
    }),
    async run(gateway) {
      expect((await gateway.echo('/')).headers['x-tls-alpn']).toBe('http/1.1')
    },
  },
  {
    shortName: 'BackendTLSOtherGroups',
    description: 'only the key exchanges of the list are offered: a backend with others is not reached',
    sample: SAMPLE,
    change: agreement({ keyExchangeGroups: ['P-256'] }),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 503, text: 'upstream call failed: TLS handshake failed' })
    },
  },
]
