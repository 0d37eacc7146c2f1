// References of routes, backends and policies that change: a translator that has seen the whole history returns what a
// fresh one returns, in the same order, and unchanged items are the same objects.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isIdentical } from '#api/incremental/identical.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { runs } from '#test/run/runs.ts'
import type { KubeObject } from '../kube.ts'
import { reachHistories } from '../reach-histories.testing.ts'
import { createSnapshotter, snapshotOf } from '../snapshot.ts'
import type { Translation } from '../translation.ts'
import { translate } from './translate.ts'
import { listsOf, plain, SETTINGS } from './translations.testing.ts'
import { createTranslator } from './translator.ts'

type Objects = readonly KubeObject[]

/** Host names of the Services that are the same objects. */
function unchangedHosts(before: Objects, now: Objects): ReadonlySet<string> {
  const earlier = new Set(before)
  return new Set(
    now
      .filter((object) => object.kind === 'Service' && earlier.has(object))
      .map(({ metadata }) => `${metadata.name}.${metadata.namespace}.svc.${SETTINGS.clusterDomain}`),
  )
}

/** Services and their endpoints, where nothing of them has changed. */
function itemsOf({ services, workloads }: RenderedConfig, hosts: ReadonlySet<string>): readonly object[] {
  return [
    ...services.filter(({ hostname }) => hosts.has(hostname)),
    ...workloads.filter((workload) => workload.services.every(({ hostname }) => hosts.has(hostname))),
  ]
}

function expectSameItems(before: Translation, now: Translation, hosts: ReadonlySet<string>): void {
  for (const [key, { config }] of now.perGateway) {
    const earlier = before.perGateway.get(key)?.config
    if (earlier === undefined) continue
    const known = new Map(itemsOf(earlier, hosts).map((item) => [JSON.stringify(item), item]))
    const other = itemsOf(config, hosts).find((item) => (known.get(JSON.stringify(item)) ?? item) !== item)
    expect(other).toBeUndefined()
    // A list with the same items is the same list.
    for (const list of ['services', 'workloads', 'routes', 'backends', 'policies'] as const) {
      if (isIdentical(earlier[list], config[list])) expect(config[list]).toBe(earlier[list])
    }
  }
}

function expectAsFresh(steps: readonly Objects[]): void {
  const [snapshots, translator] = [createSnapshotter(), createTranslator(SETTINGS)]
  let last: { readonly objects: Objects; readonly translation: Translation } | undefined
  for (const objects of steps) {
    const now = translator.translate(snapshots(...listsOf(objects)))
    const fresh = translate(snapshotOf(objects), SETTINGS)
    expect(plain(now)).toEqual(plain(fresh))
    // Also the order of fields.
    expect(JSON.stringify([...now.perGateway])).toBe(JSON.stringify([...fresh.perGateway]))
    if (last !== undefined) expectSameItems(last.translation, now, unchangedHosts(last.objects, objects))
    last = { objects, translation: now }
  }
}

describe('references that change', () => {
  it('have the result of a fresh translation, with the same objects where nothing has changed', () => {
    fc.assert(fc.property(reachHistories({ stepsMax: 12, filling: 0 }), expectAsFresh), { numRuns: runs(100) })
  })

  it('have it among many routes, of which many move at once', { tags: ['full'] }, () => {
    // More than a layer of a map holds, at each of two Gateways.
    fc.assert(fc.property(reachHistories({ stepsMax: 8, filling: 600 }), expectAsFresh), { numRuns: runs(20, 5) })
  })
})
