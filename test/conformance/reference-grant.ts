// ReferenceGrant: a reference to another namespace is used if that namespace grants it, checked field by field.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'
import { secretOf, secured, textFrom } from './suite/https.ts'
import { adding } from './suite/services.ts'

const SAMPLE = 'shared-gateway.yaml'
const GROUP = 'gateway.networking.k8s.io'
const GRANT = 'ReferenceGrant/shop-calls-echo'
const HOST = { host: 'shop.example.com' }

const SHOP = { group: GROUP, kind: 'HTTPRoute', namespace: 'shop' }
const ECHO = { group: '', kind: 'Service', name: 'echo' }
const granting = (from: readonly object[], to: readonly object[]): ((manifests: string) => string) =>
  changing(GRANT, { from, to })

async function expectNotPermitted(gateway: SampleGateway): Promise<void> {
  const message = 'backendRef data/echo not accessible to a HTTPRoute in namespace shop; add a ReferenceGrant'
  expect(await gateway.ask('/', { headers: HOST })).toMatchObject({ status: 500 })
  const [accepted, resolved] = gateway.conditions('HTTPRoute', 'shop')
  expect(accepted).toMatchObject({ type: 'Accepted', status: 'True' })
  expect(resolved).toMatchObject({ type: 'ResolvedRefs', status: 'False', reason: 'RefNotPermitted' })
  expect(resolved?.message).toContain(message)
  expect(gateway.log()).toContain(message)
}

async function expectPermitted(gateway: SampleGateway): Promise<void> {
  expect((await gateway.echo('/', { headers: HOST })).server).toBe('echo')
}

const NOT_ENOUGH: Readonly<Record<string, (manifests: string) => string>> = {
  'a grant in another namespace': replacing(
    'name: shop-calls-echo\n  namespace: data',
    'name: grant\n  namespace: shop',
  ),
  'a grant from another group': granting([{ ...SHOP, group: 'gw.dev' }], [ECHO]),
  'a grant from another kind': granting([{ ...SHOP, kind: 'GRPCRoute' }], [ECHO]),
  'a grant from another namespace': granting([{ ...SHOP, namespace: 'blog' }], [ECHO]),
  'a grant to another group': granting([SHOP], [{ ...ECHO, group: 'gw.dev' }]),
  'a grant to another kind': granting([SHOP], [{ ...ECHO, kind: 'Secret' }]),
  'a grant to another name': granting([SHOP], [{ ...ECHO, name: 'other' }]),
  'no grant': (manifests) => {
    const kept = manifests.split(/^---$/m).filter((one) => !one.includes('\nkind: ReferenceGrant\n'))
    return kept.join('---')
  },
}

const ENOUGH: Readonly<Record<string, (manifests: string) => string>> = {
  'a grant to all names': granting([SHOP], [{ group: '', kind: 'Service' }]),
  'one entry among others': granting(
    [{ ...SHOP, namespace: 'blog' }, SHOP],
    [{ group: '', kind: 'Secret' }, { ...ECHO, name: 'other' }, ECHO],
  ),
}

/** A listener with the certificate of another namespace. */
const certificateOf = (name: string): ((manifests: string) => string) =>
  all(
    changing('Gateway/shared', {
      listeners: [
        {
          name: 'http',
          port: 8443,
          protocol: 'HTTPS',
          hostname: '*.example.com',
          tls: { mode: 'Terminate', certificateRefs: [{ group: '', kind: 'Secret', name, namespace: 'data' }] },
          allowedRoutes: { namespaces: { from: 'All' } },
        },
      ],
    }),
    changing('HTTPRoute/blog', { hostnames: ['edge.example.com'] }),
    adding(secretOf('ec', 'data'), secretOf('rsa', 'data'), {
      apiVersion: `${GROUP}/v1`,
      kind: 'ReferenceGrant',
      metadata: { name: 'gateway-shows-certificate', namespace: 'data' },
      spec: {
        from: [{ group: GROUP, kind: 'Gateway', namespace: 'infra' }],
        to: [{ group: '', kind: 'Secret', name: 'edge-ec' }],
      },
    }),
  )

export const cases: readonly ConformanceCase[] = [
  ...Object.entries(NOT_ENOUGH).map(([what, change]) => ({
    shortName: `ReferenceGrant: ${what}`,
    description: 'the reference has no effect and is reported by name',
    sample: SAMPLE,
    change,
    run: expectNotPermitted,
  })),
  ...Object.entries(ENOUGH).map(([what, change]) => ({
    shortName: `ReferenceGrant: ${what}`,
    description: 'the reference is used',
    sample: SAMPLE,
    change,
    run: expectPermitted,
  })),
  {
    shortName: 'ReferenceGrantCertificate',
    description: 'a listener uses the certificate of another namespace that grants it',
    sample: SAMPLE,
    change: certificateOf('edge-ec'),
    async run({ port }) {
      const socket = await secured({ port })
      expect(socket.getPeerCertificate().subjectaltname).toBe('DNS:edge.example.com')
      expect(await textFrom(socket, '/')).toContain('"server": "spare"')
    },
  },
  {
    shortName: 'ReferenceGrantOtherCertificate',
    description: 'without a grant for the certificate every handshake fails, and the listener reports the reason',
    sample: SAMPLE,
    change: certificateOf('edge-rsa'),
    async run(gateway) {
      await expect(secured({ port: gateway.port })).rejects.toThrow(/handshake failure/)
      const resolved = gateway.conditions('Gateway', 'shared').filter(({ type }) => type === 'ResolvedRefs')
      expect(resolved).toContainEqual(expect.objectContaining({ status: 'False', reason: 'RefNotPermitted' }))
      expect(gateway.log()).toContain('data/edge-rsa')
    },
  },
]
