// A translator that has seen any history gives what a fresh one gives, and what did not change keeps its identity.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from './kube.ts'
import { createSnapshotter, snapshotOf } from './snapshot.ts'
import { clusters } from './testing/clusters.ts'
import { translate } from './translate.ts'
import type { TranslateSettings, Translation } from './translation.ts'
import { createTranslator } from './translator.ts'

const SETTINGS: TranslateSettings = {
  controllerName: 'gw.dev/controller',
  className: 'gw',
  clusterDomain: 'cluster.local',
  controllerNamespace: 'a',
}

function plain({ perGateway, statuses, problems }: Translation): unknown {
  return { perGateway: [...perGateway], statuses, problems }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`
}

/** Objects of the first cluster, some of which give way to the one of that name in the second, or go, or come. */
const histories = fc
  .tuple(clusters({ hasGrants: true }), clusters({ hasGrants: true }), fc.array(fc.array(fc.nat()), { maxLength: 6 }))
  .map(([first, second, edits]) => {
    const other = new Map(second.map((object) => [nameOf(object), object]))
    const steps: (readonly KubeObject[])[] = [first]
    for (const edit of edits) {
      const now = new Map((steps.at(-1) ?? []).map((object) => [nameOf(object), object]))
      for (const number of edit) {
        const names = [...new Set([...now.keys(), ...other.keys()])]
        const name = names[number % names.length] ?? ''
        const replacement = other.get(name)
        if (number % 3 === 0 || replacement === undefined) now.delete(name)
        else now.set(name, number % 3 === 1 ? replacement : { ...replacement })
      }
      steps.push([...now.values()])
    }
    return steps
  })

describe('createTranslator', () => {
  it('gives what a fresh translation gives, whatever came before', () => {
    fc.assert(
      fc.property(histories, fc.constantFrom('route-and-policy', 'route', 'none'), (steps, backendRefGrantMode) => {
        const settings = { ...SETTINGS, backendRefGrantMode } as const
        const [snapshot, ofLists] = [createSnapshotter(), createSnapshotter()]
        const [translator, other] = [createTranslator(settings), createTranslator(settings)]
        for (const objects of steps) {
          const fresh = plain(translate(snapshotOf(objects), settings))
          expect(plain(translator.translate(snapshot(objects)))).toEqual(fresh)
          // As the operator does.
          const lists = Map.groupBy(objects, ({ kind }) => kind).values()
          expect(plain(other.translate(ofLists(...lists)))).toEqual(fresh)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('gives the same objects for a cluster that says the same', () => {
    fc.assert(
      fc.property(clusters({ hasGrants: true }), (objects) => {
        const translator = createTranslator(SETTINGS)
        const before = translator.translate(snapshotOf(objects))
        // Every object is another one, with the same content.
        const after = translator.translate(snapshotOf(structuredClone([...objects])))
        for (const [index, status] of after.statuses.entries()) expect(status).toBe(before.statuses[index])
        for (const [key, { config, secrets }] of after.perGateway) {
          const old = before.perGateway.get(key)
          expect(config.binds).toBe(old?.config.binds)
          expect(config.listeners).toBe(old?.config.listeners)
          expect(config.policies).toBe(old?.config.policies)
          expect(config.backends).toBe(old?.config.backends)
          expect(secrets).toBe(old?.secrets)
        }
        const again = translator.translate(snapshotOf(objects))
        const third = translator.translate(snapshotOf(objects))
        for (const [key, rendered] of third.perGateway) expect(rendered).toBe(again.perGateway.get(key))
      }),
      { numRuns: 100 },
    )
  })

  it('leaves the other routes and Gateways what they were', () => {
    const metadata = (name: string) => ({ name, namespace: 'a', generation: 1 })
    const apiVersion = 'gateway.networking.k8s.io/v1'
    const route = (name: string, host: string, gateway: string) => ({
      apiVersion,
      kind: 'HTTPRoute',
      metadata: metadata(name),
      spec: { parentRefs: [{ name: gateway }], hostnames: [host], rules: [{}] },
    })
    const gateway = (name: string) => ({
      apiVersion,
      kind: 'Gateway',
      metadata: metadata(name),
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    })
    const gatewayClass = {
      apiVersion,
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: SETTINGS.controllerName },
    }
    const base = [gatewayClass, gateway('x'), gateway('y'), route('p', 'p.example.com', 'x')]
    const translator = createTranslator(SETTINGS)
    const first = translator.translate(snapshotOf([...base, route('q', 'q.example.com', 'x')]))
    const second = translator.translate(snapshotOf([...base, route('q', 'other.example.com', 'x')]))
    expect(second.perGateway.get('a/y')).toBe(first.perGateway.get('a/y'))
    const [p, q] = second.perGateway.get('a/x')?.config.routes ?? []
    expect(p).toBe(first.perGateway.get('a/x')?.config.routes[0])
    expect(q?.hostnames).toEqual(['other.example.com'])
    expect(second.perGateway.get('a/x')?.config.listeners).toBe(first.perGateway.get('a/x')?.config.listeners)
    expect(second.perGateway.get('a/x')?.secrets).toBe(first.perGateway.get('a/x')?.secrets)
  })
})
