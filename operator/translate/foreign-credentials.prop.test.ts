// Law of translation over random tenants: a credential of a namespace is rendered for a Gateway elsewhere only where a
// grant, or an attachment made by an object of that namespace, leads there. In every grant mode.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReferenceGrant } from '#api/gateway/referencegrant.gen.ts'
import { runs } from '#test/run/runs.ts'
import type { KubeObject } from './kube.ts'
import { describe as describeObject, refOf } from './object-ref.ts'
import { createSnapshotter, snapshotOf } from './snapshot.ts'
import { credentialOf, TENANTS, tenants } from './tenants.testing.ts'
import { translate } from './cluster/translate.ts'
import { createTranslator } from './cluster/translator.ts'
import type { BackendRefGrantMode, RenderedGateway } from './translation.ts'

const SETTINGS = { controllerName: 'gw.dev/controller', className: 'gw', clusterDomain: 'cluster.local' }
const RUNS = { numRuns: runs(100) }
const MODES = [undefined, 'route-and-policy', 'route', 'none'] as const

describe.each(MODES)('translate with backendRefGrantMode %s', (backendRefGrantMode) => {
  it('renders no credential of another namespace when nothing is granted and nothing of it attaches', () => {
    fc.assert(
      fc.property(tenants({ hasGrants: false }), (objects) => {
        expect(strays(objects, backendRefGrantMode)).toEqual([])
      }),
      RUNS,
    )
  })

  it('renders a credential of another namespace only where a grant or an attachment of its owner leads', () => {
    fc.assert(
      fc.property(tenants({ hasGrants: true }), (objects) => {
        expect(strays(objects, backendRefGrantMode)).toEqual([])
      }),
      RUNS,
    )
  })
})

it('returns the result of a fresh translation after a change of other objects', () => {
  const mode = fc.constantFrom('route', 'none')
  const steps = fc.array(tenants({ hasGrants: true }), { minLength: 2, maxLength: 4 })
  fc.assert(
    fc.property(steps, mode, (clusters, backendRefGrantMode) => {
      const settings = { ...SETTINGS, backendRefGrantMode } as const
      const [snapshot, translator] = [createSnapshotter(), createTranslator(settings)]
      const kept = new Map<string, KubeObject>()
      for (const objects of clusters) {
        for (const object of objects) kept.set(describeObject(refOf(object)), object)
        const fresh = translate(snapshotOf([...kept.values()]), settings)
        const { perGateway, statuses } = translator.translate(snapshot([...kept.values()]))
        expect([...perGateway]).toEqual([...fresh.perGateway])
        expect(statuses).toEqual(fresh.statuses)
      }
    }),
    RUNS,
  )
})

it('renders credentials of their own namespace', () => {
  const found = fc
    .sample(tenants({ hasGrants: false }), 100)
    .filter((objects) => [...rendered(objects, undefined)].some(([key, one]) => holds(one, key.slice(0, 1))))
  expect(found.length).toBeGreaterThan(10)
})

/** Credentials at Gateways to which nothing of their namespace leads. */
function strays(objects: readonly KubeObject[], mode: BackendRefGrantMode | undefined): string[] {
  return [...rendered(objects, mode)].flatMap(([key, one]) => {
    const led = leadsTo(key, objects)
    const found = TENANTS.filter((namespace) => !led.has(namespace) && holds(one, namespace))
    return found.map((namespace) => `a credential of ${namespace} at ${key}`)
  })
}

function rendered(
  objects: readonly KubeObject[],
  mode: BackendRefGrantMode | undefined,
): ReadonlyMap<string, RenderedGateway> {
  const settings = { ...SETTINGS, ...(mode !== undefined && { backendRefGrantMode: mode }) }
  return translate(snapshotOf(objects), settings).perGateway
}

function holds(one: RenderedGateway, namespace: string): boolean {
  return JSON.stringify(one).includes(credentialOf(namespace))
}

/** Namespaces whose objects may count at the Gateway: its own, those that attach, and those that grant to these. */
function leadsTo(gateway: string, objects: readonly KubeObject[]): ReadonlySet<string> {
  const led = new Set([gateway.slice(0, gateway.indexOf('/'))])
  // One round for each namespace that may be added.
  for (const _ of TENANTS) {
    for (const object of objects) {
      const namespace = object.metadata.namespace ?? ''
      const isLed = isGrant(object)
        ? object.spec.from.some((from) => led.has(from.namespace))
        : parentsOf(object).some((parent) => isAttachment(parent, namespace, { gateway, led }))
      if (isLed) led.add(namespace)
    }
  }
  return led
}

interface Parent {
  readonly kind?: string
  readonly name: string
  readonly namespace?: string
}

interface AttachmentPlace {
  readonly gateway: string
  readonly led: ReadonlySet<string>
}

/** To the Gateway itself, or to a route of a namespace that counts there. */
function isAttachment(
  { kind = 'Gateway', name, namespace }: Parent,
  own: string,
  { gateway, led }: AttachmentPlace,
): boolean {
  const at = namespace ?? own
  return kind === 'Gateway' ? `${at}/${name}` === gateway : led.has(at)
}

function parentsOf(object: KubeObject): readonly Parent[] {
  if (object.kind !== 'HTTPRoute' && object.kind !== 'GwModel') return []
  // Both kinds have the field.
  return (object as KubeObject & { readonly spec: { readonly parentRefs?: readonly Parent[] } }).spec.parentRefs ?? []
}

function isGrant(object: KubeObject): object is ReferenceGrant {
  return object.kind === 'ReferenceGrant'
}
