// Gateway spec.tls.backend.clientCertificateRef: the certificate for backends with a BackendTLSPolicy.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { adding } from './suite/services.ts'

const SAMPLE = 'gateway-client-certificate.yaml'

/** The Secret of another namespace, with a grant to secrets of this name. */
const foreign = (granted: string): ((manifests: string) => string) =>
  all(
    replacing('  name: client\n  namespace: default\ntype:', '  name: client\n  namespace: vault\ntype:'),
    changing('Gateway/client-certificate', {
      tls: { backend: { clientCertificateRef: { group: '', kind: 'Secret', name: 'client', namespace: 'vault' } } },
    }),
    adding({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'ReferenceGrant',
      metadata: { name: 'client', namespace: 'vault' },
      spec: {
        from: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'default' }],
        to: [{ group: '', kind: 'Secret', name: granted }],
      },
    }),
  )

const conditionOf = (gateway: SampleGateway, kind: string, type: string): unknown =>
  gateway.conditions(kind, kind === 'Gateway' ? 'client-certificate' : 'demanding').find((one) => one.type === type)

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ClientCertificateShown',
    description: 'a backend that requires the certificate of the Gateway is reached',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('mtls')
      expect(conditionOf(gateway, 'Gateway', 'ResolvedRefs')).toMatchObject({ status: 'True', reason: 'ResolvedRefs' })
      expect(conditionOf(gateway, 'BackendTLSPolicy', 'Accepted')).toMatchObject({ status: 'True' })
    },
  },
  {
    shortName: 'ClientCertificateNotNamed',
    description: 'without the reference the Gateway sends no certificate, and the backend rejects it',
    sample: SAMPLE,
    change: replacing('  tls:\n    backend:\n      clientCertificateRef:\n        name: client\n', ''),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
    },
  },
  {
    shortName: 'ClientCertificateReplaced',
    description: 'with another certificate in the Secret the backend rejects the Gateway',
    sample: SAMPLE,
    change: withPair('echo'),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
      expect(conditionOf(gateway, 'Gateway', 'ResolvedRefs')).toMatchObject({ status: 'True' })
    },
  },
  {
    shortName: 'ClientCertificateMissing',
    description: 'with a missing certificate the traffic is rejected, and Gateway and policy report the reason',
    sample: SAMPLE,
    change: replacing('        name: client\n', '        name: no-such-secret\n'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({
        status: 500,
        text: 'the TLS configuration of the backend is invalid',
      })
      expect(conditionOf(gateway, 'Gateway', 'ResolvedRefs')).toMatchObject({
        status: 'False',
        reason: 'InvalidClientCertificateRef',
        message: 'spec.tls.backend.clientCertificateRef: secret default/no-such-secret not found',
      })
      expect(conditionOf(gateway, 'BackendTLSPolicy', 'Accepted')).toMatchObject({ status: 'False', reason: 'Invalid' })
      expect(gateway.source.problems.map(({ path }) => path)).toEqual(['spec.tls.backend.clientCertificateRef'])
    },
  },
  {
    shortName: 'ClientCertificateGranted',
    description: 'a Secret of another namespace is used if that namespace grants it',
    sample: SAMPLE,
    change: foreign('client'),
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('mtls')
    },
  },
  {
    shortName: 'ClientCertificateNotGranted',
    description: 'without a grant the traffic is rejected, and the Gateway reports the reason',
    sample: SAMPLE,
    change: foreign('other'),
    async run(gateway) {
      expect(await gateway.ask('/')).toMatchObject({
        status: 500,
        text: 'the TLS configuration of the backend is invalid',
      })
      const resolved = { status: 'False', reason: 'RefNotPermitted' }
      expect(conditionOf(gateway, 'Gateway', 'ResolvedRefs')).toMatchObject(resolved)
    },
  },
]

function withPair(name: string): (manifests: string) => string {
  const pem = (file: string): string =>
    readFileSync(join(import.meta.dirname, 'suite', 'testdata', file), 'utf8').replaceAll(/^(?=.)/gm, '    ')
  return (manifests) =>
    replacing(pem('client.key'), pem(`${name}.key`))(replacing(pem('client.crt'), pem(`${name}.crt`))(manifests))
}
