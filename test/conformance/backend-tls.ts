// backend.tls: the certificate of the backend is checked as written, or nothing is sent.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'backend-tls.yaml'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendTLS',
    description: 'a backend whose certificate is signed by the given authority for the given name is reached',
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
      expect(await gateway.ask('/')).toMatchObject({ status: 503, text: 'upstream call failed' })
    },
  },
  {
    shortName: 'BackendTLSUnknownAuthority',
    description: 'without the reference the authorities of the system are trusted, and this one is not among them',
    sample: SAMPLE,
    change: replacing('caCertificateRefs:\n        - name: echo-ca\n      ', ''),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 503, text: 'upstream call failed' })
    },
  },
  {
    shortName: 'BackendTLSMissingAuthority',
    description: 'a reference to an authority that is not there refuses the traffic',
    sample: SAMPLE,
    change: replacing('- name: echo-ca', '- name: no-such-ca'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 403, text: 'denied by policy' })
      const [accepted] = gateway.conditions('GwPolicy', 'backend-tls')
      expect(accepted).toMatchObject({ reason: 'PartiallyValid', message: 'ConfigMap default/no-such-ca not found' })
      expect(gateway.source.problems.map(({ path }) => path)).toContain('spec.backend.tls.caCertificateRefs[0]')
    },
  },
  {
    shortName: 'BackendTLSSubjectAltNames',
    description: 'the certificate is held against the names, whatever the server name is',
    sample: SAMPLE,
    change: replacing('sni: echo.example.com', 'verifySubjectAltNames:\n        - echo.example.com'),
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('tls')
    },
  },
  {
    shortName: 'BackendTLSOtherSubjectAltNames',
    description: 'a certificate that bears none of the names is not accepted',
    sample: SAMPLE,
    change: replacing('sni: echo.example.com', 'verifySubjectAltNames:\n        - other.example.com'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 503, text: 'upstream call failed' })
    },
  },
]
