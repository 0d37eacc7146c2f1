// Laws of translation over random clusters: order does not matter, a bad object breaks itself only, and nothing crosses
// a namespace without a grant.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GwModel } from '#api/v1alpha1/gwmodel.gen.ts'
import type { ReferenceGrant } from '#api/gateway/referencegrant.gen.ts'
import { validateConfig } from '#api/ir/validate.ts'
import type { BackendReference, Route } from '#api/ir/types.gen.ts'
import { runs } from '#test/run/runs.ts'
import type { KubeObject } from '../kube.ts'
import { snapshotOf } from '../snapshot.ts'
import { clusters, SECRET_MATERIAL, SENT_SECRET } from '../clusters.testing.ts'
import { translate } from './translate.ts'
import type { Translation } from '../translation.ts'

const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }

function translated(objects: readonly KubeObject[]): Translation {
  return translate(snapshotOf(objects), SETTINGS)
}

/** With grants asked for by routes, policies and backends. */
function strictlyTranslated(objects: readonly KubeObject[]): Translation {
  return translate(snapshotOf(objects), { ...SETTINGS, backendRefGrantMode: 'route-and-policy' })
}

function plain({ perGateway, statuses, problems }: Translation): unknown {
  return { perGateway: [...perGateway], statuses, problems }
}

describe('translate', () => {
  it('does not depend on the order of its input', () => {
    const shuffled = clusters({ hasGrants: true }).chain((objects) =>
      fc.tuple(fc.constant(objects), fc.shuffledSubarray([...objects], { minLength: objects.length })),
    )
    fc.assert(
      fc.property(shuffled, ([objects, other]) => {
        expect(plain(translated(other))).toEqual(plain(translated(objects)))
      }),
      { numRuns: runs(200) },
    )
  })

  it('returns configurations that the proxy accepts', () => {
    fc.assert(
      fc.property(clusters({ hasGrants: true }), (objects) => {
        const problems = [...translated(objects).perGateway.values()].flatMap(({ config }) => validateConfig(config))
        expect(problems).toEqual([])
      }),
      { numRuns: runs(100) },
    )
  })

  it('does not change other objects because of a bad one', () => {
    fc.assert(
      fc.property(clusters({ hasGrants: true }), fc.constantFrom(...BAD_OBJECTS), (objects, bad) => {
        const former = translated(objects)
        const after = translated([...objects, bad])
        for (const { kind, namespace, name, status } of former.statuses) {
          if (kind === 'Gateway') continue
          const same = after.statuses.find(
            (one) => one.kind === kind && one.namespace === namespace && one.name === name,
          )
          expect(same?.status).toEqual(status)
        }
        for (const [key, { config, secrets }] of former.perGateway) {
          const now = after.perGateway.get(key)
          expect(now?.config.listeners).toEqual(expect.arrayContaining(config.listeners))
          expect(now?.config.routes).toEqual(expect.arrayContaining(config.routes))
          expect(now?.config.policies).toEqual(expect.arrayContaining(config.policies))
          expect(now?.config.backends).toEqual(expect.arrayContaining(config.backends))
          expect(now?.config.workloads).toEqual(config.workloads)
          expect(now?.secrets).toEqual(secrets)
        }
      }),
      { numRuns: runs(200) },
    )
  })

  it('puts secret material into the secrets and nowhere else', () => {
    fc.assert(
      fc.property(clusters({ hasGrants: true }), (objects) => {
        const { perGateway, statuses, problems } = translated([...objects, ...SENT_SECRET])
        const configs = [...perGateway.values()].map(({ config }) => config)
        expect(JSON.stringify({ configs, statuses, problems })).not.toContain(SECRET_MATERIAL)
        expect(JSON.stringify(perGateway.get('a/w')?.secrets)).toContain(SECRET_MATERIAL)
      }),
      { numRuns: runs(100) },
    )
  })

  it('crosses a namespace only with a grant', () => {
    fc.assert(
      fc.property(clusters({ hasGrants: true }), (objects) => {
        const grants = objects.filter(isGrant)
        const crossings = [...strictlyTranslated(objects).perGateway.values()].flatMap(({ config }) => [
          ...config.routes
            .filter(isOfUsers)
            .flatMap(({ name, backends }) =>
              backends.map(({ ref }) => ({ from: { kind: 'HTTPRoute', namespace: name.namespace }, ref })),
            ),
          ...config.backends.flatMap(({ name, mcp }) =>
            (mcp?.targets ?? []).map(({ ref = {} }) => ({
              from: { kind: 'GwBackend', namespace: name.namespace },
              ref,
            })),
          ),
        ])
        expect(crossings.filter((crossing) => !isGranted(grants, crossing))).toEqual([])
      }),
      { numRuns: runs(200) },
    )
  })

  it('delivers only objects of the namespaces of a Gateway when there are no grants', () => {
    fc.assert(
      fc.property(clusters({ hasGrants: false }), (objects) => {
        for (const [key, { config, secrets }] of strictlyTranslated(objects).perGateway) {
          const gateway = key.slice(0, key.indexOf('/'))
          const sets = config.listeners.map(({ name }) => name.listenerSet?.namespace ?? gateway)
          const routes = config.routes.map(({ name }) => name.namespace)
          const seen = new Set([gateway, ...sets, ...routes, ...namespacesOfModels(objects, key)])
          for (const { namespace } of [...config.services, ...config.backends.map(({ name }) => name)]) {
            expect(seen).toContain(namespace)
          }
          for (const { key: secret } of secrets.secrets) {
            expect([...seen]).toContain(secret.slice(0, secret.indexOf('/')))
          }
        }
      }),
      { numRuns: runs(100) },
    )
  })
})

/** The route to the models of a listener leads to a table of the listener's own. */
function isOfUsers({ name }: Route): boolean {
  return name.kind !== 'GwModel'
}

/** Of models that ask for the Gateway; like routes they are let in by its listeners. */
function namespacesOfModels(objects: readonly KubeObject[], gateway: string): string[] {
  return objects.filter(isModel).flatMap(({ metadata: { namespace = '' }, spec }) => {
    const parents = spec.parentRefs.map((parent) => `${parent.namespace ?? namespace}/${parent.name}`)
    return parents.includes(gateway) ? [namespace] : []
  })
}

function isModel(object: KubeObject): object is GwModel {
  return object.kind === 'GwModel'
}

function isGrant(object: KubeObject): object is ReferenceGrant {
  return object.kind === 'ReferenceGrant'
}

interface Crossing {
  readonly from: { readonly kind: string; readonly namespace: string }
  readonly ref: BackendReference
}

function isGranted(grants: readonly ReferenceGrant[], { from, ref: { service, backend } }: Crossing): boolean {
  const namespace = service?.namespace ?? backend?.slice(0, backend.indexOf('/')) ?? from.namespace
  const kind = service === undefined ? 'GwBackend' : 'Service'
  return (
    namespace === from.namespace ||
    grants.some(
      ({ metadata, spec }) =>
        metadata.namespace === namespace &&
        spec.from.some((one) => one.kind === from.kind && one.namespace === from.namespace) &&
        spec.to.some((one) => one.kind === kind),
    )
  )
}

/** What an older CRD, a newer one or a broken manifest could hold. Younger than all others, with own names. */
const BAD_OBJECTS: readonly KubeObject[] = [
  bad('gateway.networking.k8s.io/v1', 'HTTPRoute', {
    parentRefs: [{ name: 'x' }, { name: 'x', namespace: 'b' }],
    rules: [{ matches: 7 }],
  }),
  bad('gateway.networking.k8s.io/v1', 'HTTPRoute', {
    parentRefs: [{ name: 'y' }],
    rules: [{ filters: [{ type: 'New' }] }],
  }),
  bad('gateway.networking.k8s.io/v1', 'HTTPRoute', { parentRefs: 'x', rules: null }),
  bad('gateway.networking.k8s.io/v1', 'HTTPRoute', null),
  bad('gw.dev/v1alpha1', 'GwPolicy', {
    targetRefs: [target('Gateway', 'x')],
    traffic: { authorization: 1, csrf: null, cors: 5 },
  }),
  bad('gw.dev/v1alpha1', 'GwPolicy', {
    targetRefs: [target('HTTPRoute', 'x')],
    traffic: { transformation: { request: { set: 1 } } },
  }),
  bad('gw.dev/v1alpha1', 'GwPolicy', { targetRefs: 3, backend: { auth: [] } }),
  bad('gw.dev/v1alpha1', 'GwPolicy', undefined),
  bad('gw.dev/v1alpha1', 'GwBackend', { mcp: { targets: 'none' } }),
  bad('gw.dev/v1alpha1', 'GwBackend', { ai: { groups: [{}] } }),
  bad('gw.dev/v1alpha1', 'GwBackend', 'text'),
  bad('gateway.networking.k8s.io/v1', 'Gateway', { gatewayClassName: 'gw', listeners: 'none' }),
  bad('gateway.networking.k8s.io/v1', 'ListenerSet', { parentRef: { name: 'x' }, listeners: 0 }),
  bad('gateway.networking.k8s.io/v1', 'ReferenceGrant', { from: 1, to: [] }),
  bad('v1', 'Service', { ports: 'none' }),
  bad('v1', 'Secret', {}),
]

function target(kind: string, name: string): object {
  return { group: 'gateway.networking.k8s.io', kind, name }
}

function bad(apiVersion: string, kind: string, spec: unknown): KubeObject {
  const metadata = { name: 'zz-bad', namespace: 'a', generation: 1, creationTimestamp: '2026-06-01T00:00:00Z' }
  // Deliberately not the shape of its kind.
  return { apiVersion, kind, metadata, spec } as KubeObject
}
