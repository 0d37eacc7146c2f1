// Which certificates a configuration uses, until when, and what is said of them before and after.
import { describe, expect, it } from 'vitest'
import { authority, certificateFor } from '#test/certificates.ts'
import { emptyConfig } from '../ir/empty.ts'
import type { RenderedConfig, RenderedSecrets } from '../ir/types.gen.ts'
import { CertificateReader, periodAt, stateAt, type UsedCertificate } from './certificate-times.ts'

const DAY_MS = 24 * 3_600_000
const short = certificateFor({ commonName: 'short', days: 10 })
const long = certificateFor({ commonName: 'long', days: 1000 })
const [near, far] = [authority('near'), certificateFor({ commonName: 'far', days: 500, isAuthority: true })]
/** All were made just now. */
const nowMs = Date.now() + 1000

const NAME = { gatewayNamespace: 'infra', gatewayName: 'edge', listenerName: 'a' }
const secret = (key: string): { secret: string } => ({ secret: key })
const values = { 'a/one/tls.crt': short.certificate, 'a/two/tls.crt': `${long.certificate}\n${short.certificate}` }
const SECRETS: RenderedSecrets = {
  version: 1,
  secrets: Object.entries({ ...values, 'a/bad/tls.crt': 'no certificate' }).map(([key, value]) => ({ key, value })),
}

const CONFIG: RenderedConfig = {
  ...emptyConfig(),
  listeners: [
    {
      key: 'infra/edge.a',
      bindKey: 'b',
      name: NAME,
      protocol: 'HTTPS',
      tls: {
        certificate: secret('a/one/tls.crt'),
        privateKey: secret('a/one/tls.key'),
        moreCertificates: [{ certificate: secret('a/two/tls.crt'), privateKey: secret('a/two/tls.key') }],
        clientCertificates: { mode: 'AllowValidOnly', caCertificates: near.certificate + far.certificate },
      },
    },
    {
      key: 'infra/edge.b',
      bindKey: 'b',
      name: NAME,
      protocol: 'HTTPS',
      tls: { certificate: secret('a/one/tls.crt'), privateKey: secret('a/one/tls.key'), signsCertificates: true },
    },
    { key: 'infra/edge.c', bindKey: 'b', name: NAME, protocol: 'TLS', tls: { mode: 'Passthrough' } },
    {
      key: 'infra/edge.d',
      bindKey: 'b',
      name: NAME,
      protocol: 'HTTPS',
      tls: { certificate: secret('a/bad/tls.crt'), privateKey: secret('a/gone/tls.key') },
    },
    { key: 'infra/edge.e', bindKey: 'b', name: NAME, protocol: 'HTTPS', tls: { certificate: secret('a/gone') } },
  ],
  policies: [
    {
      key: 'policy',
      name: { kind: 'GwPolicy', namespace: 'a', name: 'p' },
      target: { gateway: { namespace: 'infra', name: 'edge' } },
      policy: {
        backend: { tls: { caCertificates: far.certificate, clientCertificate: secret('a/one/tls.crt') } },
      },
    },
  ],
  routes: [
    {
      key: 'route',
      name: { kind: 'HTTPRoute', namespace: 'a', name: 'r' },
      hostnames: [],
      matches: [],
      // Two of one route are reported as one.
      backends: [near, far].map(({ certificate }) => ({
        weight: 1,
        ref: { backend: 'x' },
        inlinePolicies: { tls: { caCertificates: certificate } },
      })),
    },
  ],
  backends: [
    {
      key: 'ai',
      name: { namespace: 'a', name: 'ai' },
      ai: {
        groups: [
          {
            providers: [
              { name: 'p', provider: { openai: {} }, inlinePolicies: { tls: { caCertificates: near.certificate } } },
            ],
          },
        ],
      },
    },
    { key: 'plain', name: { namespace: 'a', name: 'plain' }, inlinePolicies: { tls: {} } },
  ],
}

function daysOf(used: UsedCertificate, atMs = nowMs): number {
  return Math.round((periodAt(used, atMs).untilMs - nowMs) / DAY_MS)
}

describe('CertificateReader', () => {
  it('finds the certificates of listeners, policies, routes, backends and providers, once for each owner', () => {
    const used = new CertificateReader().read(CONFIG, SECRETS)
    expect(used.map((one) => [one.use, one.owner, one.secret ?? '', daysOf(one)])).toEqual([
      ['server', 'infra/edge.a', 'a/one/tls.crt', 10],
      // Its chain ends first.
      ['server', 'infra/edge.a', 'a/two/tls.crt', 10],
      ['client_authorities', 'infra/edge.a', '', 2],
      ['signer', 'infra/edge.b', 'a/one/tls.crt', 10],
      ['client', 'policy', 'a/one/tls.crt', 10],
      ['backend_authorities', 'policy', '', 500],
      ['backend_authorities', 'route', '', 2],
      ['backend_authorities', 'ai', '', 2],
    ])
    expect(JSON.stringify(used)).not.toContain('BEGIN')
  })

  it('returns equal results for the same certificates, and none for removed ones', () => {
    const reader = new CertificateReader()
    const first = reader.read(CONFIG, SECRETS)
    expect(reader.read(CONFIG, SECRETS)).toEqual(first)
    expect(reader.read(emptyConfig(), SECRETS)).toEqual([])
  })
})

describe('periodAt', () => {
  it('returns the period of the CA certificate that expires next, and of the last one when all have expired', () => {
    const bundle = new CertificateReader().read(CONFIG, SECRETS).find(({ use }) => use === 'client_authorities')
    if (bundle === undefined) throw new Error('no authorities')
    expect([0, 1, 3, 499, 501].map((days) => daysOf(bundle, nowMs + days * DAY_MS))).toEqual([2, 2, 500, 500, 500])
    // None is valid yet.
    expect(daysOf(bundle, nowMs - DAY_MS)).toBe(2)
  })
})

describe('stateAt', () => {
  const days = (from: number, until: number): { fromMs: number; untilMs: number } => ({
    fromMs: from * DAY_MS,
    untilMs: until * DAY_MS,
  })
  it.each([
    [days(0, 400), 0, 'valid'],
    [days(0, 400), -1 / DAY_MS, 'notYetValid'],
    [days(0, 400), 370, 'valid'],
    [days(0, 400), 370 + 1 / DAY_MS, 'expiring'],
    [days(0, 400), 400 - 1 / DAY_MS, 'expiring'],
    [days(0, 400), 400, 'expired'],
    // Short ones are renewed late.
    [days(0, 90), 67.5, 'valid'],
    [days(0, 90), 67.5 + 1 / DAY_MS, 'expiring'],
    [days(0, 1), 0.75, 'valid'],
    [days(0, 1), 0.75 + 1 / DAY_MS, 'expiring'],
  ])('of %j after %f days: %s', (period, afterDays, state) => {
    expect(stateAt(period, afterDays * DAY_MS)).toBe(state)
  })
})
