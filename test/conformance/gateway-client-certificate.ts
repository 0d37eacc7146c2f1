// Gateway spec.tls.backend.clientCertificateRef: the certificate that backends of BackendTLSPolicies ask for.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'gateway-client-certificate.yaml'

const conditionOf = (gateway: SampleGateway, kind: string, type: string): unknown =>
  gateway.conditions(kind, kind === 'Gateway' ? 'client-certificate' : 'demanding').find((one) => one.type === type)

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ClientCertificateShown',
    description: 'a backend that takes no connection without the certificate of the Gateway is reached',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('mtls')
      expect(conditionOf(gateway, 'Gateway', 'ResolvedRefs')).toMatchObject({ status: 'True', reason: 'ResolvedRefs' })
      expect(conditionOf(gateway, 'BackendTLSPolicy', 'Accepted')).toMatchObject({ status: 'True' })
    },
  },
  {
    shortName: 'ClientCertificateNotNamed',
    description: 'without the reference the Gateway shows nothing, and the backend refuses it',
    sample: SAMPLE,
    change: replacing('  tls:\n    backend:\n      clientCertificateRef:\n        name: client\n', ''),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
    },
  },
  {
    shortName: 'ClientCertificateReplaced',
    description: 'another pair in the Secret is another client, which the backend does not know',
    sample: SAMPLE,
    change: withPair('echo'),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
      expect(conditionOf(gateway, 'Gateway', 'ResolvedRefs')).toMatchObject({ status: 'True' })
    },
  },
  {
    shortName: 'ClientCertificateMissing',
    description: 'a certificate that is not there refuses the traffic, and Gateway and policy say why',
    sample: SAMPLE,
    change: replacing('        name: client\n', '        name: no-such-secret\n'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({ status: 500, text: 'backend TLS is not usable' })
      expect(conditionOf(gateway, 'Gateway', 'ResolvedRefs')).toMatchObject({
        status: 'False',
        reason: 'InvalidClientCertificateRef',
        message: 'secret default/no-such-secret not found',
      })
      expect(conditionOf(gateway, 'BackendTLSPolicy', 'Accepted')).toMatchObject({ status: 'False', reason: 'Invalid' })
      expect(gateway.source.problems.map(({ path }) => path)).toEqual(['spec.tls.backend.clientCertificateRef'])
    },
  },
]

function withPair(name: string): (manifests: string) => string {
  const pem = (file: string): string =>
    readFileSync(join(import.meta.dirname, 'suite', 'testdata', file), 'utf8').replaceAll(/^(?=.)/gm, '    ')
  return (manifests) =>
    replacing(pem('client.key'), pem(`${name}.key`))(replacing(pem('client.crt'), pem(`${name}.crt`))(manifests))
}
