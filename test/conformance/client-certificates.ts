// Gateway spec.tls.frontend: which clients HTTPS listeners accept, checked with openssl and curl with HTTP/2.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import { all, changing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { opensslClient, secretOf } from './suite/https.ts'
import { adding } from './suite/services.ts'

const SAMPLE = 'local/tls-client-certificates.yaml'
const GROUP = 'gateway.networking.k8s.io'
const CONFIG_MAP = { group: '', kind: 'ConfigMap' }

type ClientName = 'shop' | 'partner'

let made: Readonly<Record<ClientName, { readonly issuer: KeyPair; readonly own: KeyPair }>> | undefined

/** Clients of two authorities; both are in the namespace that the sample accepts. */
function clients(): NonNullable<typeof made> {
  const client = (name: string): { issuer: KeyPair; own: KeyPair } => {
    const issuer = authority(`Authority of ${name}`)
    const names = [`URI:spiffe://cluster.local/ns/shop/sa/${name}`]
    return { issuer, own: certificateFor({ commonName: name, names, issuer }) }
  }
  made ??= { shop: client('shop'), partner: client('partner') }
  return made
}

/** ConfigMaps `shop-ca` and `partner-ca`. */
function authorities(namespace: string): (manifests: string) => string {
  return (manifests) => {
    const maps = Object.entries(clients()).map(([name, { issuer }]) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `${name}-ca`, namespace },
      data: { 'ca.crt': issuer.certificate },
    }))
    return adding(...maps, secretOf('ec'))(manifests)
  }
}

const validation = (name: string, more: object = {}): object => ({
  validation: { caCertificateRefs: [{ ...CONFIG_MAP, name }], ...more },
})

interface Listening {
  readonly frontend: object
  /** Certificates of the authorities. */
  readonly namespace?: string
}

/** Two listeners, and no policy that checks identities. */
function listening({ frontend, namespace = 'default' }: Listening): (manifests: string) => string {
  const listener = { protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'edge-ec' }] } }
  return all(
    changing('Gateway/client-certificates', {
      tls: { frontend: null },
      listeners: [
        { name: 'first', port: 8443, ...listener },
        { name: 'second', port: 9443, ...listener },
      ],
    }),
    changing('Gateway/client-certificates', { tls: { frontend } }),
    withoutPolicy,
    authorities(namespace),
  )
}

function withoutPolicy(manifests: string): string {
  return manifests
    .split(/^---$/m)
    .filter((one) => !one.includes('kind: GwPolicy'))
    .join('---')
}

/** With or without a certificate: the version and status that curl got, or its error. */
async function visit(port: number, pair?: KeyPair): Promise<string> {
  return withFiles(pair, async (args) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const place = `edge.example.com:${port}`
    const fixed = ['-sSk', '--http2', '--max-time', '15', '--resolve', `${place}:127.0.0.1`, '-o', '/dev/null']
    const format = ['-w', 'HTTP/%{http_version} %{http_code}', `https://${place}/`]
    execFile('curl', [...fixed, ...args('--cert', '--key'), ...format], (error, stdout, stderr) =>
      resolve(error === null ? stdout : stderr),
    )
    return promise
  })
}

/** With TLS 1.2: a TLS 1.3 client ends its part of the handshake before it knows whether the server accepts it. */
async function handshake(port: number, pair?: KeyPair): Promise<string> {
  return withFiles(pair, (args) => opensslClient(port, '-tls1_2', ...args('-cert', '-key')))
}

type Flags = (certificate: string, key: string) => readonly string[]

async function withFiles(pair: KeyPair | undefined, use: (flags: Flags) => Promise<string>): Promise<string> {
  if (pair === undefined) return use(() => [])
  const folder = mkdtempSync(join(tmpdir(), 'gw-client-'))
  const [crt, key] = [join(folder, 'client.crt'), join(folder, 'client.key')]
  try {
    writeFileSync(crt, pair.certificate)
    writeFileSync(key, pair.privateKey, { mode: 0o600 })
    return await use((certificateFlag, keyFlag) => [certificateFlag, crt, keyFlag, key])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const SERVED = 'HTTP/2 200'
/** The connection is closed during or after the handshake, without a response: the exit codes of curl for this. */
const REFUSED = /^curl: \((16|18|35|52|55|56|92)\)/

async function expectLetIn(port: number, ...pairs: readonly (KeyPair | undefined)[]): Promise<void> {
  for (const pair of pairs) expect(await visit(port, pair)).toBe(SERVED)
}

async function expectRefused(port: number, ...pairs: readonly (KeyPair | undefined)[]): Promise<void> {
  for (const pair of pairs) expect(await visit(port, pair)).toMatch(REFUSED)
}

const ANONYMOUS = undefined

/** Conditions of the listeners and of the Gateway. */
const conditionsOf = (gateway: SampleGateway, type: string): unknown =>
  gateway.conditions('Gateway', 'client-certificates').filter((one) => one.type === type)

const unusable = (ref: object): ((manifests: string) => string) =>
  listening({ frontend: { default: { validation: { caCertificateRefs: [ref] } } } })

const UNUSABLE: Readonly<Record<string, readonly [ref: object, reason: string]>> = {
  OtherKind: [{ group: '', kind: 'Secret', name: 'edge-ec' }, 'InvalidCACertificateKind'],
  OtherGroup: [{ group: 'gw.dev', kind: 'ConfigMap', name: 'shop-ca' }, 'InvalidCACertificateKind'],
  Missing: [{ ...CONFIG_MAP, name: 'no-such-ca' }, 'InvalidCACertificateRef'],
  NotGranted: [{ ...CONFIG_MAP, name: 'shop-ca', namespace: 'data' }, 'RefNotPermitted'],
}

async function expectUnusable(gateway: SampleGateway, reason: string): Promise<void> {
  await expectRefused(gateway.port, ANONYMOUS, clients().shop.own)
  const unresolved = { status: 'False', reason }
  expect(conditionsOf(gateway, 'ResolvedRefs')).toMatchObject([unresolved, unresolved])
  const accepted = expect.objectContaining({ status: 'False', reason: 'NoValidCACertificate' })
  expect(conditionsOf(gateway, 'Accepted')).toEqual(expect.arrayContaining([accepted]))
}

const grant = (name: string): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'ReferenceGrant',
  metadata: { name: 'authorities', namespace: 'data' },
  spec: { from: [{ group: GROUP, kind: 'Gateway', namespace: 'default' }], to: [{ ...CONFIG_MAP, name }] },
})

/** The reference is in the default and at the port. */
function foreign(isGranted: boolean): (manifests: string) => string {
  const ref = (name: string): object => ({ ...CONFIG_MAP, name, namespace: 'data' })
  const frontend = {
    default: { validation: { caCertificateRefs: [ref('shop-ca')] } },
    perPort: [{ port: 9443, tls: { validation: { caCertificateRefs: [ref('partner-ca')] } } }],
  }
  const change = listening({ frontend, namespace: 'data' })
  return all(change, adding(grant('shop-ca'), ...(isGranted ? [{ ...grant('partner-ca'), ...OTHER_NAME }] : [])))
}

const OTHER_NAME = { metadata: { name: 'more-authorities', namespace: 'data' } }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ClientCertificates',
    description: 'a listener accepts only clients with a certificate of the authority',
    sample: SAMPLE,
    change: listening({ frontend: { default: validation('shop-ca', { mode: 'AllowValidOnly' }) } }),
    async run({ port, otherPort }) {
      const { shop, partner } = clients()
      for (const one of [port, otherPort]) {
        await expectLetIn(one, shop.own)
        await expectRefused(one, ANONYMOUS, partner.own)
      }
      expect(await handshake(port, shop.own)).toContain('Ciphersuite: ')
      expect(await handshake(port, ANONYMOUS)).toContain('alert handshake failure')
    },
  },
  {
    shortName: 'ClientCertificatesIdentity',
    description:
      'a client without a valid certificate has no identity, so the policy of the sample rejects its requests',
    sample: SAMPLE,
    change: all(
      changing('Gateway/client-certificates', {
        tls: { frontend: { default: validation('shop-ca', { mode: 'AllowInsecureFallback' }) } },
      }),
      authorities('default'),
    ),
    async run({ port }) {
      const { shop, partner } = clients()
      await expectLetIn(port, shop.own)
      await expectRefused(port, ANONYMOUS, partner.own)
    },
  },
  {
    shortName: 'ClientCertificatesFallback',
    description: 'AllowInsecureFallback accepts every client, and the status of the Gateway reports it',
    sample: SAMPLE,
    change: listening({ frontend: { default: validation('shop-ca', { mode: 'AllowInsecureFallback' }) } }),
    async run(gateway) {
      const { shop, partner } = clients()
      await expectLetIn(gateway.port, shop.own, partner.own, ANONYMOUS)
      expect(conditionsOf(gateway, 'InsecureFrontendValidationMode')).toMatchObject([{ status: 'True' }])
    },
  },
  {
    shortName: 'ClientCertificatesOfPort',
    description: 'the settings of a port override the default: its authority',
    sample: SAMPLE,
    change: listening({
      frontend: { default: validation('shop-ca'), perPort: [{ port: 9443, tls: validation('partner-ca') }] },
    }),
    async run({ port, otherPort }) {
      const { shop, partner } = clients()
      await expectLetIn(port, shop.own)
      await expectRefused(port, partner.own, ANONYMOUS)
      await expectLetIn(otherPort, partner.own)
      await expectRefused(otherPort, shop.own, ANONYMOUS)
    },
  },
  {
    shortName: 'ClientCertificatesModeOfPort',
    description: 'the settings of a port override the default: a stricter mode',
    sample: SAMPLE,
    change: listening({
      frontend: {
        default: validation('shop-ca', { mode: 'AllowInsecureFallback' }),
        perPort: [{ port: 9443, tls: validation('shop-ca', { mode: 'AllowValidOnly' }) }],
      },
    }),
    async run({ port, otherPort }) {
      await expectLetIn(port, ANONYMOUS)
      await expectRefused(otherPort, ANONYMOUS)
      await expectLetIn(otherPort, clients().shop.own)
    },
  },
  {
    shortName: 'ClientCertificatesFallbackOfPort',
    description: 'the settings of a port override the default: AllowInsecureFallback',
    sample: SAMPLE,
    change: listening({
      frontend: {
        default: validation('shop-ca', { mode: 'AllowValidOnly' }),
        perPort: [{ port: 9443, tls: validation('shop-ca', { mode: 'AllowInsecureFallback' }) }],
      },
    }),
    async run({ port, otherPort }) {
      await expectRefused(port, ANONYMOUS)
      await expectLetIn(otherPort, ANONYMOUS)
    },
  },
  {
    shortName: 'ClientCertificatesNotAtPort',
    description: 'a port with an empty validation requests no certificates',
    sample: SAMPLE,
    change: listening({ frontend: { default: validation('shop-ca'), perPort: [{ port: 9443, tls: {} }] } }),
    async run({ port, otherPort }) {
      await expectRefused(port, ANONYMOUS)
      await expectLetIn(otherPort, ANONYMOUS)
    },
  },
  ...Object.entries(UNUSABLE).map(([name, [ref, reason]]): ConformanceCase => ({
    shortName: `ClientCertificatesAuthority${name}`,
    description: 'without a valid authority every handshake fails, and the status of the listeners has the reason',
    sample: SAMPLE,
    change: unusable(ref),
    run: (gateway) => expectUnusable(gateway, reason),
  })),
  {
    shortName: 'ClientCertificatesOneOfTwoAuthorities',
    description: 'an invalid authority does not affect the other one, and the status of the listeners reports it',
    sample: SAMPLE,
    change: listening({
      frontend: {
        default: {
          validation: { caCertificateRefs: ['no-such-ca', 'shop-ca'].map((name) => ({ ...CONFIG_MAP, name })) },
        },
      },
    }),
    async run(gateway) {
      await expectLetIn(gateway.port, clients().shop.own)
      await expectRefused(gateway.port, ANONYMOUS)
      const reason = { status: 'False', reason: 'InvalidCACertificateRef' }
      expect(conditionsOf(gateway, 'ResolvedRefs')).toMatchObject([reason, reason])
    },
  },
  {
    shortName: 'ClientCertificatesGranted',
    description: 'authorities of another namespace are used if it grants them',
    sample: SAMPLE,
    change: foreign(true),
    async run({ port, otherPort }) {
      const { shop, partner } = clients()
      await expectLetIn(port, shop.own)
      await expectLetIn(otherPort, partner.own)
      await expectRefused(otherPort, shop.own)
    },
  },
  {
    shortName: 'ClientCertificatesGrantedInPart',
    description: 'without the grant every handshake at their port fails, but not at other ports',
    sample: SAMPLE,
    change: foreign(false),
    async run({ port, otherPort }) {
      const { shop, partner } = clients()
      await expectLetIn(port, shop.own)
      await expectRefused(otherPort, partner.own, ANONYMOUS)
    },
  },
]
