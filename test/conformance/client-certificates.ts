// Gateway spec.tls.frontend: which clients of HTTPS listeners are let in, as openssl and curl with HTTP/2 see it.
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

/** Of two authorities; both are of the namespace that the sample lets in. */
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
  /** Of the authorities. */
  readonly namespace?: string
}

/** Two listeners, and no policy that looks at identities. */
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

/** With a certificate, or none: the version and status that curl got, or its complaint. */
async function visit(port: number, pair?: KeyPair): Promise<string> {
  return withFiles(pair, async (args) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const place = `edge.example.com:${port}`
    const fixed = ['-sSk', '--http2', '--max-time', '15', '--resolve', `${place}:127.0.0.1`, '-o', '/dev/null']
    const told = ['-w', 'HTTP/%{http_version} %{http_code}', `https://${place}/`]
    execFile('curl', [...fixed, ...args('--cert', '--key'), ...told], (error, stdout, stderr) =>
      resolve(error === null ? stdout : stderr),
    )
    return promise
  })
}

/** With TLS 1.2: where a client of 1.3 has done its part, it does not know yet whether it is let in. */
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
/** The connection is closed after the handshake or within it: there is no answer. Codes of curl for just that. */
const REFUSED = /^curl: \((16|18|35|52|55|56|92)\)/

async function expectLetIn(port: number, ...pairs: readonly (KeyPair | undefined)[]): Promise<void> {
  for (const pair of pairs) expect(await visit(port, pair)).toBe(SERVED)
}

async function expectRefused(port: number, ...pairs: readonly (KeyPair | undefined)[]): Promise<void> {
  for (const pair of pairs) expect(await visit(port, pair)).toMatch(REFUSED)
}

const NOBODY = undefined

/** Of the listeners and of the Gateway. */
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
  await expectRefused(gateway.port, NOBODY, clients().shop.own)
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

/** The reference stands in the default and at the port. */
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
    description: 'a listener lets in who shows a certificate of the authority, and nobody else',
    sample: SAMPLE,
    change: listening({ frontend: { default: validation('shop-ca', { mode: 'AllowValidOnly' }) } }),
    async run({ port, otherPort }) {
      const { shop, partner } = clients()
      for (const one of [port, otherPort]) {
        await expectLetIn(one, shop.own)
        await expectRefused(one, NOBODY, partner.own)
      }
      expect(await handshake(port, shop.own)).toContain('Ciphersuite: ')
      expect(await handshake(port, NOBODY)).toContain('alert handshake failure')
    },
  },
  {
    shortName: 'ClientCertificatesIdentity',
    description:
      'who is let in without a certificate that holds has no identity, which the policy of the sample asks for',
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
      await expectRefused(port, NOBODY, partner.own)
    },
  },
  {
    shortName: 'ClientCertificatesFallback',
    description: 'AllowInsecureFallback lets everybody in, and the Gateway says so',
    sample: SAMPLE,
    change: listening({ frontend: { default: validation('shop-ca', { mode: 'AllowInsecureFallback' }) } }),
    async run(gateway) {
      const { shop, partner } = clients()
      await expectLetIn(gateway.port, shop.own, partner.own, NOBODY)
      expect(conditionsOf(gateway, 'InsecureFrontendValidationMode')).toMatchObject([{ status: 'True' }])
    },
  },
  {
    shortName: 'ClientCertificatesOfPort',
    description: 'what is said of a port holds there in place of the default: its authority',
    sample: SAMPLE,
    change: listening({
      frontend: { default: validation('shop-ca'), perPort: [{ port: 9443, tls: validation('partner-ca') }] },
    }),
    async run({ port, otherPort }) {
      const { shop, partner } = clients()
      await expectLetIn(port, shop.own)
      await expectRefused(port, partner.own, NOBODY)
      await expectLetIn(otherPort, partner.own)
      await expectRefused(otherPort, shop.own, NOBODY)
    },
  },
  {
    shortName: 'ClientCertificatesModeOfPort',
    description: 'and its mode',
    sample: SAMPLE,
    change: listening({
      frontend: {
        default: validation('shop-ca', { mode: 'AllowInsecureFallback' }),
        perPort: [{ port: 9443, tls: validation('shop-ca', { mode: 'AllowValidOnly' }) }],
      },
    }),
    async run({ port, otherPort }) {
      await expectLetIn(port, NOBODY)
      await expectRefused(otherPort, NOBODY)
      await expectLetIn(otherPort, clients().shop.own)
    },
  },
  {
    shortName: 'ClientCertificatesFallbackOfPort',
    description: 'either way round',
    sample: SAMPLE,
    change: listening({
      frontend: {
        default: validation('shop-ca', { mode: 'AllowValidOnly' }),
        perPort: [{ port: 9443, tls: validation('shop-ca', { mode: 'AllowInsecureFallback' }) }],
      },
    }),
    async run({ port, otherPort }) {
      await expectRefused(port, NOBODY)
      await expectLetIn(otherPort, NOBODY)
    },
  },
  {
    shortName: 'ClientCertificatesNotAtPort',
    description: 'a port without a validation of its own asks nobody for a certificate',
    sample: SAMPLE,
    change: listening({ frontend: { default: validation('shop-ca'), perPort: [{ port: 9443, tls: {} }] } }),
    async run({ port, otherPort }) {
      await expectRefused(port, NOBODY)
      await expectLetIn(otherPort, NOBODY)
    },
  },
  ...Object.entries(UNUSABLE).map(([name, [ref, reason]]): ConformanceCase => ({
    shortName: `ClientCertificatesAuthority${name}`,
    description: 'where no authority can be used nobody gets through a handshake, and the listeners say why',
    sample: SAMPLE,
    change: unusable(ref),
    run: (gateway) => expectUnusable(gateway, reason),
  })),
  {
    shortName: 'ClientCertificatesOneOfTwoAuthorities',
    description: 'an authority that cannot be used leaves the other one, and the listeners say so',
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
      await expectRefused(gateway.port, NOBODY)
      const reason = { status: 'False', reason: 'InvalidCACertificateRef' }
      expect(conditionsOf(gateway, 'ResolvedRefs')).toMatchObject([reason, reason])
    },
  },
  {
    shortName: 'ClientCertificatesGranted',
    description: 'authorities of another namespace count where it grants them',
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
    description: 'and those that it does not grant let nobody in, at their port alone',
    sample: SAMPLE,
    change: foreign(false),
    async run({ port, otherPort }) {
      const { shop, partner } = clients()
      await expectLetIn(port, shop.own)
      await expectRefused(otherPort, partner.own, NOBODY)
    },
  },
]
