// A cluster in which one object after the other changes: after each change, the translator returns what a fresh one
// returns. Objects of every kind come, go, get other versions and labels; Gateways get other listeners.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { DEFAULT_CAPS } from '../caps.ts'
import { clusters } from '../clusters.testing.ts'
import { denseHistories } from '../dense-clusters.testing.ts'
import type { KubeObject } from '../kube.ts'
import { createSnapshotter } from '../snapshot.ts'
import { bothResults, listsOf, nameOf, SETTINGS } from './translations.testing.ts'
import { createTranslator } from './translator.ts'

type Objects = readonly KubeObject[]
type Edit = (known: KubeObject, other: KubeObject) => KubeObject | undefined

const EDITS: readonly Edit[] = [
  () => undefined,
  (_known, other) => other,
  (_known, other) => other,
  (known) => ({ ...known, metadata: { ...known.metadata, annotations: { edited: 'yes' } } }),
  (known) => ({ ...known, metadata: { ...known.metadata, generation: (known.metadata.generation ?? 0) + 1 } }),
  (known) => ({ ...known, metadata: { ...known.metadata, labels: { ...known.metadata.labels, team: 'blue' } } }),
  (known) => withListeners(known, (listeners) => listeners.toReversed()),
  (known) => withListeners(known, (listeners) => listeners.map((one) => ({ ...one, port: 90 }))),
  (known) => withListeners(known, (listeners) => [...listeners, { name: 'added', port: 91, protocol: 'HTTP' }]),
]

function withListeners(object: KubeObject, edit: (listeners: readonly object[]) => object[]): KubeObject {
  const { spec } = object as { readonly spec?: { readonly listeners?: readonly object[] } }
  if (spec?.listeners === undefined) return { ...object }
  const listeners = [...new Map(edit(spec.listeners).map((one) => ['name' in one ? one.name : '', one])).values()]
  const changed = { ...object, spec: { ...spec, listeners } }
  return changed
}

/** Each step has one object more, less, or in another version than the step before. */
const histories = fc
  .tuple(
    clusters({ hasGrants: true }),
    clusters({ hasGrants: true }),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: EDITS.length - 1 })), { maxLength: 24 }),
  )
  .map(([first, second, edits]) => {
    const versions = [first, second].map((objects) => new Map(objects.map((object) => [nameOf(object), object])))
    const names = [...new Set(versions.flatMap((objects) => [...objects.keys()]))]
    const steps: Objects[] = [first]
    for (const [number, edit] of edits) {
      const name = names[number % names.length] ?? ''
      const other = versions[number % 2]?.get(name) ?? versions[1 - (number % 2)]?.get(name)
      const now = new Map((steps.at(-1) ?? []).map((object) => [nameOf(object), object]))
      const known = now.get(name)
      const changed = known === undefined || other === undefined ? other : EDITS[edit]?.(known, other)
      if (changed === undefined) now.delete(name)
      else now.set(name, changed)
      steps.push([...now.values()])
    }
    return steps
  })

const modes = fc.constantFrom('route-and-policy', 'route', 'none')
/** Most random clusters have more than the second ones allow. */
const capsOfGateways = fc.constantFrom(DEFAULT_CAPS, { listenersMax: 2, routeRulesMax: 4, policyTargetsMax: 3 })

/** Each takes 40 ms, and four times as long on a busy machine: together less than the time limit of a property. */
const DENSE_RUNS = 200
const DENSE_RUNS_FEW = 60

/** Enough of them that differences between lists are remembered, in both cases: with and without a policy. */
function filling(count: number): Objects {
  const objects = Array.from({ length: count }, (_, index) => {
    const metadata = { name: `filling-${index}`, namespace: 'a', generation: 1 }
    const target = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: metadata.name }
    return [
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'HTTPRoute',
        metadata,
        spec: { parentRefs: [{ name: ['x', 'y', 'z'][index % 3], namespace: 'a' }], rules: [{}] },
      },
      {
        apiVersion: 'gw.dev/v1alpha1',
        kind: 'GwPolicy',
        metadata,
        spec: { targetRefs: [target], traffic: { csrf: {} }, backend: { auth: { secretRef: { name: 'x' } } } },
      },
    ]
  })
  // Manifests of the kinds.
  return objects.flat() as Objects
}

describe('a change of one object', () => {
  it('has the result of a fresh translation', () => {
    fc.assert(
      fc.property(histories, modes, capsOfGateways, (steps, backendRefGrantMode, caps) => {
        const { carriedOn, fresh } = bothResults(steps, { ...SETTINGS, backendRefGrantMode, caps })
        expect(carriedOn).toEqual(fresh)
      }),
      { numRuns: runs(400) },
    )
  })

  it('has the result of a fresh translation where objects refer to each other', { tags: ['full'] }, () => {
    fc.assert(
      fc.property(denseHistories(24), modes, capsOfGateways, (steps, backendRefGrantMode, caps) => {
        const { carriedOn, fresh } = bothResults(steps, { ...SETTINGS, backendRefGrantMode, caps })
        expect(carriedOn).toEqual(fresh)
      }),
      { numRuns: runs(DENSE_RUNS, DENSE_RUNS_FEW) },
    )
  })

  it('has the result of a fresh translation among many objects', { tags: ['full'] }, () => {
    const many = filling(260)
    fc.assert(
      fc.property(histories, (steps) => {
        const { carriedOn, fresh } = bothResults(steps.map((step) => [...step, ...many]))
        expect(carriedOn).toEqual(fresh)
      }),
      { numRuns: runs(10) },
    )
  })

  it('leaves the whole translation as it was if nothing reads the object', () => {
    fc.assert(
      fc.property(clusters({ hasGrants: true }), (objects) => {
        const unread = (kind: string, edited: string) => ({
          apiVersion: 'v1',
          kind,
          metadata: { name: 'unread', namespace: 'a', annotations: { edited } },
        })
        const [snapshots, translator] = [createSnapshotter(), createTranslator(SETTINGS)]
        const lists = (edited: string) =>
          listsOf([...objects, ...['Secret', 'ConfigMap'].map((kind) => unread(kind, edited) as KubeObject)])
        const before = translator.translate(snapshots(...lists('no')))
        const after = translator.translate(snapshots(...lists('yes')))
        expect(after.statuses).toBe(before.statuses)
        for (const [key, rendered] of after.perGateway) expect(rendered).toBe(before.perGateway.get(key))
      }),
      { numRuns: runs(100) },
    )
  })
})
