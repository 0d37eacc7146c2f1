// BackendTLSPolicy: TLS to a Service, or to one port of it; a server that cannot be verified gets no request.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase, type SpecChange } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { adding } from './suite/services.ts'
import { WORKLOAD, workloadAuthority } from './suite/workload.ts'

const SAMPLE = 'backend-tls-policy.yaml'
const POLICY = 'BackendTLSPolicy/upstream'
const SERVICE = { group: '', kind: 'Service', name: 'upstream' }
const OTHER_NAME = 'upstream call failed: the certificate is for another name'
const NOT_TRUSTED = 'upstream call failed: the certificate is not trusted'
const TLS_FAILED = 'upstream call failed'

const validating = (validation: SpecChange): ((manifests: string) => string) => changing(POLICY, { validation })

/** The upstream whose certificate also has a URI, by its authority. */
const towardsWorkload = (validation: object): ((manifests: string) => string) =>
  all(
    replacing('port: 18085', 'port: 18094'),
    changing(POLICY, {
      validation: {
        hostname: WORKLOAD.host,
        caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'workload-ca' }],
        ...validation,
      },
    }),
    (manifests) => adding(bundle('workload-ca', workloadAuthority()))(manifests),
  )

function bundle(name: string, pem: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { 'ca.crt': pem } }
}

/** A policy that is newer than that of the sample. */
function policy(name: string, targetRef: object, hostname: string): object {
  const caCertificateRefs = [{ group: '', kind: 'ConfigMap', name: 'echo-ca' }]
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'BackendTLSPolicy',
    metadata: { name, namespace: 'default', creationTimestamp: '2099-01-01T00:00:00Z' },
    spec: { targetRefs: [targetRef], validation: { hostname, caCertificateRefs } },
  }
}

const serverAt = async (gateway: SampleGateway, path: string): Promise<string> => (await gateway.echo(path)).server

async function expectRefused(gateway: SampleGateway, status: number, text: string): Promise<void> {
  const answer = await gateway.ask('/secure')
  expect(answer.status).toBe(status)
  expect(answer.text).toContain(text)
}

interface Check {
  readonly name: string
  readonly description: string
  readonly change: (manifests: string) => string
  /** The server that answers, or the body of the error. */
  readonly answer: string
}

const CHECKS: readonly Check[] = [
  {
    name: 'WrongHostname',
    description: 'a certificate for another host name is not accepted',
    change: validating({ hostname: 'other.example.com' }),
    answer: OTHER_NAME,
  },
  {
    name: 'WrongAuthority',
    description: 'a certificate of another authority is not accepted',
    change: towardsWorkload({ caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'echo-ca' }] }),
    answer: NOT_TRUSTED,
  },
  {
    name: 'SeveralAuthorities',
    description: 'with several authorities, one of them must have signed the certificate',
    change: towardsWorkload({
      caCertificateRefs: ['echo-ca', 'workload-ca'].map((name) => ({ group: '', kind: 'ConfigMap', name })),
    }),
    answer: 'workload',
  },
  {
    name: 'SystemAuthority',
    description: 'an authority that the system trusts is trusted',
    change: towardsWorkload({ caCertificateRefs: [], wellKnownCACertificates: 'System' }),
    answer: 'workload',
  },
  {
    name: 'NoSystemAuthority',
    description: 'an authority that the system does not trust is not trusted',
    change: validating({ caCertificateRefs: null, wellKnownCACertificates: 'System' }),
    answer: NOT_TRUSTED,
  },
  {
    name: 'NameOfHost',
    description: 'with subjectAltNames the certificate is compared with them instead of the host name',
    change: validating({
      hostname: 'other.example.com',
      subjectAltNames: [{ type: 'Hostname', hostname: 'echo.example.com' }],
    }),
    answer: 'tls',
  },
  {
    name: 'OtherNameOfHost',
    description: 'a certificate without the name is not accepted, although it has the host name',
    change: validating({ subjectAltNames: [{ type: 'Hostname', hostname: 'other.example.com' }] }),
    answer: OTHER_NAME,
  },
  {
    name: 'URI',
    description: 'a certificate is accepted for its URI',
    change: towardsWorkload({ subjectAltNames: [{ type: 'URI', uri: WORKLOAD.id }] }),
    answer: 'workload',
  },
  {
    name: 'OtherURI',
    description: 'a certificate with another URI is not accepted, although it has the host name',
    change: towardsWorkload({ subjectAltNames: [{ type: 'URI', uri: `${WORKLOAD.id}-2` }] }),
    answer: OTHER_NAME,
  },
  {
    name: 'OneOfSeveralNames',
    description: 'one of several names is enough',
    change: towardsWorkload({
      subjectAltNames: [
        { type: 'Hostname', hostname: 'other.example.com' },
        { type: 'URI', uri: WORKLOAD.id },
      ],
    }),
    answer: 'workload',
  },
  {
    name: 'WholeService',
    description: 'a policy without a section applies to all ports',
    change: changing(POLICY, { targetRefs: [SERVICE] }),
    answer: 'tls',
  },
  {
    name: 'SectionFirst',
    description: 'a policy for the port overrides one for the Service',
    change: adding(policy('whole', SERVICE, 'other.example.com')),
    answer: 'tls',
  },
  {
    name: 'SectionFirstRefusing',
    description: 'also if only the one for the Service would succeed',
    change: all(
      changing(POLICY, { targetRefs: [SERVICE] }),
      adding(policy('port', { ...SERVICE, sectionName: 'https' }, 'other.example.com')),
    ),
    answer: OTHER_NAME,
  },
  {
    name: 'Older',
    description: 'of two policies for one target the older one applies',
    change: adding(policy('younger', { ...SERVICE, sectionName: 'https' }, 'other.example.com')),
    answer: 'tls',
  },
]

function ofCheck({ name, description, change, answer }: Check): ConformanceCase {
  return {
    shortName: `BackendTLSPolicy${name}`,
    description,
    sample: SAMPLE,
    change,
    async run(gateway) {
      if (answer.startsWith(TLS_FAILED)) await expectRefused(gateway, 503, answer)
      else expect(await serverAt(gateway, '/secure')).toBe(answer)
    },
  }
}

const conditionOf = (gateway: SampleGateway, name: string, type: string): unknown =>
  gateway.conditions('BackendTLSPolicy', name).find((one) => one.type === type)

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendTLSPolicy',
    description: 'requests to a port with a valid certificate use TLS, those to the other port plain text',
    sample: SAMPLE,
    async run(gateway) {
      expect(await serverAt(gateway, '/secure')).toBe('tls')
      expect(await serverAt(gateway, '/')).toBe('echo')
      expect(gateway.conditions('BackendTLSPolicy', 'upstream')).toMatchObject([
        { type: 'Accepted', status: 'True', reason: 'Accepted' },
        { type: 'ResolvedRefs', status: 'True' },
      ])
    },
  },
  ...CHECKS.map(ofCheck),
  {
    shortName: 'BackendTLSPolicyOtherSection',
    description: 'a policy for another port leaves this one in plain text, which its TLS server rejects',
    sample: SAMPLE,
    change: changing(POLICY, { targetRefs: [{ ...SERVICE, sectionName: 'http' }] }),
    async run(gateway) {
      await expectRefused(gateway, 503, TLS_FAILED)
      expect(await gateway.ask('/')).toMatchObject({ status: 503 })
    },
  },
  {
    shortName: 'BackendTLSPolicyConflicted',
    description: 'the status of the newer one of two policies for a target reports the conflict',
    sample: SAMPLE,
    change: adding(policy('younger', { ...SERVICE, sectionName: 'https' }, 'other.example.com')),
    async run(gateway) {
      expect(conditionOf(gateway, 'younger', 'Accepted')).toMatchObject({ status: 'False', reason: 'Conflicted' })
      expect(conditionOf(gateway, 'upstream', 'Accepted')).toMatchObject({ status: 'True' })
    },
  },
  {
    shortName: 'BackendTLSPolicyMissingAuthority',
    description: 'without any authority the traffic is rejected, and the status of the policy has the reason',
    sample: SAMPLE,
    change: validating({ caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'no-such-ca' }] }),
    async run(gateway) {
      await expectRefused(gateway, 500, 'the TLS configuration of the backend is invalid')
      const accepted = { status: 'False', reason: 'NoValidCACertificate' }
      expect(conditionOf(gateway, 'upstream', 'Accepted')).toMatchObject(accepted)
      const resolved = { status: 'False', reason: 'InvalidCACertificateRef' }
      expect(conditionOf(gateway, 'upstream', 'ResolvedRefs')).toMatchObject(resolved)
      expect(gateway.log()).toContain('ConfigMap default/no-such-ca not found')
    },
  },
  {
    shortName: 'BackendTLSPolicyAuthorityOfOtherKind',
    description: 'authorities are read from ConfigMaps; an invalid reference does not affect the others',
    sample: SAMPLE,
    change: validating({
      caCertificateRefs: [
        { group: '', kind: 'Secret', name: 'echo-ca' },
        { group: '', kind: 'ConfigMap', name: 'echo-ca' },
      ],
    }),
    async run(gateway) {
      expect(await serverAt(gateway, '/secure')).toBe('tls')
      const resolved = { status: 'False', reason: 'InvalidKind' }
      expect(conditionOf(gateway, 'upstream', 'ResolvedRefs')).toMatchObject(resolved)
    },
  },
]
