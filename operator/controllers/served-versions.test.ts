// Older kinds of the Gateway API are read where they can be; what cannot be read is said on the class.
import { Effect, Fiber, Layer } from 'effect'
import { TestClock } from 'effect/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { FakeKube } from '#test/fakekube/server.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { until } from '#test/wait.ts'
import { KubeClient } from '../kube/client.ts'
import { KubeNotFound } from '../kube/errors.ts'
import type { ObjectStatus } from '../translate/object-status.ts'
import { withClassFacts } from './class-status.ts'
import { followServedVersions, type ServedVersions, supportedVersion } from './served-versions.ts'

const GROUP = 'gateway.networking.k8s.io'
const ALL = [
  'GatewayClass',
  'Gateway',
  'ListenerSet',
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
  'BackendTLSPolicy',
  'ReferenceGrant',
]

function served(changes: Readonly<Record<string, readonly string[]>> = {}): ServedVersions {
  const all = new Map<string, readonly string[]>(ALL.map((kind) => [kind, ['v1']]))
  for (const [kind, versions] of Object.entries(changes)) {
    if (versions.length === 0) all.delete(kind)
    else all.set(kind, versions)
  }
  return all
}

describe('supportedVersion', () => {
  const FINE = 'Gw reads the versions of the Gateway API that the cluster serves'

  it.each<[string, ServedVersions, string, string]>([
    ['all as v1', served(), 'True SupportedVersion', FINE],
    [
      'older ones that are read',
      served({ TCPRoute: ['v1alpha2'], ReferenceGrant: ['v1beta1'] }),
      'True SupportedVersion',
      FINE,
    ],
    ['older ones beside v1', served({ TLSRoute: ['v1', 'v1alpha3'] }), 'True SupportedVersion', FINE],
    [
      'kinds that are missing',
      served({ TCPRoute: [], ListenerSet: [] }),
      'True SupportedVersion',
      `${FINE}; not in this cluster: ListenerSet, TCPRoute`,
    ],
    [
      'kinds that cannot be read',
      served({ TLSRoute: ['v1alpha2', 'v1alpha3'], BackendTLSPolicy: ['v1alpha3'], TCPRoute: ['v1beta1'] }),
      'False UnsupportedVersion',
      'TLSRoute is served as v1alpha2, v1alpha3, but Gw reads v1; TCPRoute is served as v1beta1, but Gw reads v1, v1alpha2; ' +
        'BackendTLSPolicy is served as v1alpha3, but Gw reads v1; objects of these kinds are ignored: install the kinds of Gateway API v1.6.3 (make install-crds)',
    ],
  ])('%s', (_, versions, verdict, message) => {
    const { status, reason, observedGeneration, ...rest } = supportedVersion(versions, 4)
    expect([`${status} ${reason}`, observedGeneration]).toEqual([verdict, 4])
    expect(rest.message).toBe(message)
  })
})

describe('withClassFacts', () => {
  const conditions = [
    { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'm', observedGeneration: 2 } as const,
  ]
  const ref = { apiVersion: `${GROUP}/v1`, kind: 'GatewayClass', namespace: '', name: 'gw' }
  const status: ObjectStatus = { ...ref, status: { conditions, supportedFeatures: [{ name: 'A' }, { name: 'B' }] } }

  it('adds nothing before the API server has reported its versions, and leaves other kinds alone', () => {
    const facts = { unservedFeatures: new Set(['B']), versions: undefined }
    expect(withClassFacts(status, facts).status).toEqual({ conditions, supportedFeatures: [{ name: 'A' }] })
    const other = { ...status, kind: 'Gateway' }
    expect(withClassFacts(other, facts)).toBe(other)
  })

  it('adds the condition, to classes without features as well', () => {
    const facts = { unservedFeatures: new Set<string>(), versions: served() }
    const bare = withClassFacts({ ...ref, status: { conditions } }, facts).status
    expect(bare).toMatchObject({
      conditions: [{ type: 'Accepted' }, { type: 'SupportedVersion', observedGeneration: 2 }],
    })
    expect(bare).not.toHaveProperty('supportedFeatures')
  })
})

describe('followServedVersions', () => {
  it('reads the discovery of the group, reports only changes, and continues after failures', async () => {
    const reported: string[][] = []
    const documents = new Map<string, unknown>()
    const serve = (kinds: Readonly<Record<string, readonly string[]>>): void => {
      documents.set(`/apis/${GROUP}`, { versions: Object.keys(kinds).map((version) => ({ version })) })
      for (const [version, names] of Object.entries(kinds)) {
        const resources = names.flatMap((kind) => [
          { name: kind, kind },
          { name: `${kind}/status`, kind },
        ])
        documents.set(`/apis/${GROUP}/${version}`, { resources })
      }
    }
    const client = Layer.mock(KubeClient, {
      document: (path) =>
        documents.has(path) ? Effect.succeed(documents.get(path)) : Effect.fail(new KubeNotFound({ path })),
    })
    const body = Effect.gen(function* () {
      const follow = followServedVersions((versions) =>
        reported.push([...versions].map(([kind, all]) => `${kind} ${all.join()}`)),
      )
      const fiber = yield* Effect.forkChild(follow)
      yield* TestClock.adjust('1 minute')
      serve({ v1: ['Gateway'], v1beta1: ['Gateway', 'ReferenceGrant'] })
      yield* TestClock.adjust('3 minutes')
      serve({ v1: ['Gateway', 'ReferenceGrant'] })
      yield* TestClock.adjust('3 minutes')
      yield* Fiber.interrupt(fiber)
    })
    await Effect.runPromise(body.pipe(Effect.provide(Layer.merge(client, TestClock.layer()))))
    expect(reported).toEqual([
      ['Gateway v1,v1beta1', 'ReferenceGrant v1beta1'],
      ['Gateway v1', 'ReferenceGrant v1'],
    ])
  })
})

describe('a cluster with older kinds', () => {
  let kube: FakeKube
  let operator: TestOperator

  afterEach(async () => {
    await operator.stop()
    await kube.stop()
  })

  it('serves its grants and TCPRoutes, and gets their statuses', async () => {
    kube = await FakeKube.start()
    const isGone = (path: string): boolean => /\/v1\/(?:.*\/)?(?:referencegrants|tcproutes)/.test(path)
    kube.fault = ({ path }) => (isGone(path) ? { kind: 'status', status: 404 } : undefined)
    operator = await testOperator({ config: configFor(kube.url) })
    const make = (plural: string, kind: string, version: string, rest: { metadata: object; spec: object }): void => {
      kube.store.create(plural, { apiVersion: version, kind, ...rest } as Parameters<typeof kube.store.create>[1])
    }
    for (const name of ['shop', 'other', 'gw-system'])
      kube.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    const listeners = [{ name: 'tcp', port: 9000, protocol: 'TCP' }]
    make(`gateways.${GROUP}`, 'Gateway', `${GROUP}/v1`, {
      metadata: { name: 'web', namespace: 'shop' },
      spec: { gatewayClassName: 'gw', listeners },
    })
    make('services', 'Service', 'v1', { metadata: { name: 'db', namespace: 'other' }, spec: { ports: [{ port: 1 }] } })
    make(`tcproutes.${GROUP}`, 'TCPRoute', `${GROUP}/v1alpha2`, {
      metadata: { name: 'db', namespace: 'shop' },
      spec: {
        parentRefs: [{ name: 'web' }],
        rules: [{ backendRefs: [{ name: 'db', namespace: 'other', port: 1 }] }],
      },
    })
    const resolved = (): string | undefined => {
      const { status } = kube.store.get(`tcproutes.${GROUP}`, 'shop/db') as {
        status?: { parents?: { conditions: { type: string; reason: string }[] }[] }
      }
      return status?.parents?.[0]?.conditions.find(({ type }) => type === 'ResolvedRefs')?.reason
    }
    await until('the route is known', () => resolved() === 'RefNotPermitted')
    make(`referencegrants.${GROUP}`, 'ReferenceGrant', `${GROUP}/v1beta1`, {
      metadata: { name: 'all', namespace: 'other' },
      spec: { from: [{ group: GROUP, kind: 'TCPRoute', namespace: 'shop' }], to: [{ group: '', kind: 'Service' }] },
    })
    await until('the grant is known', () => resolved() === 'ResolvedRefs')
    expect(kube.requests.some(({ path, isWatch }) => isWatch && path.includes('/v1beta1/referencegrants'))).toBe(true)
  })
})
