import { describe, expect, it } from 'vitest'
import { mergeStatus } from './merge.ts'
import type { RouteBody } from '../translate/object-status.ts'

const OURS = 'gw.dev/controller'
const THEIRS = 'example.com/controller'
const EARLIER = '2026-01-01T00:00:00Z'
const NOW = '2026-02-02T00:00:00Z'

function parent(name: string, status: 'True' | 'False', controllerName = OURS): RouteBody['parents'][number] {
  const conditions = [{ type: 'Accepted', status, reason: 'Accepted', message: 'm', observedGeneration: 1 }]
  return { parentRef: { name }, controllerName, conditions }
}

function stamped(entry: RouteBody['parents'][number], lastTransitionTime: string): object {
  return { ...entry, conditions: entry.conditions.map((condition) => ({ ...condition, lastTransitionTime })) }
}

function merge(current: unknown, desired: RouteBody): unknown {
  return mergeStatus({ current, desired, controllerName: OURS, now: NOW })
}

const ACCEPTED = { type: 'Accepted', status: 'True' as const, reason: 'Valid', message: 'm', observedGeneration: 3 }

describe('mergeStatus', () => {
  it('writes a first status', () => {
    expect(merge(undefined, { parents: [parent('a', 'True')] })).toEqual({
      parents: [stamped(parent('a', 'True'), NOW)],
    })
  })

  it('writes nothing when nothing differs, whatever the order of keys', () => {
    const current = { parents: [{ ...stamped(parent('a', 'True'), EARLIER), parentRef: { name: 'a' } }] }
    expect(merge(current, { parents: [parent('a', 'True')] })).toBeUndefined()
  })

  it('keeps foreign entries and drops our stale ones', () => {
    const foreign = stamped(parent('x', 'True', THEIRS), EARLIER)
    const current = { parents: [stamped(parent('gone', 'True'), EARLIER), foreign] }
    expect(merge(current, { parents: [parent('a', 'True')] })).toEqual({
      parents: [foreign, stamped(parent('a', 'True'), NOW)],
    })
    expect(merge(current, { parents: [] })).toEqual({ parents: [foreign] })
  })

  it('writes nothing for an entry that another controller put behind or in front of ours', () => {
    const [own, foreign] = [stamped(parent('a', 'True'), EARLIER), stamped(parent('x', 'True', THEIRS), EARLIER)]
    for (const parents of [
      [own, foreign],
      [foreign, own],
    ])
      expect(merge({ parents }, { parents: [parent('a', 'True')] })).toBeUndefined()
    const condition = { type: 'Accepted', status: 'True' as const, reason: 'Accepted', message: 'm' }
    const [ours, theirs] = [
      { ...condition, lastTransitionTime: EARLIER },
      { ...condition, type: 'Deployed' },
    ]
    for (const conditions of [
      [ours, theirs],
      [theirs, ours],
    ]) {
      const desired = { conditions: [condition] }
      expect(mergeStatus({ current: { conditions }, desired, controllerName: OURS, now: NOW })).toBeUndefined()
    }
  })

  it('moves the time with the status only', () => {
    const current = { parents: [stamped(parent('a', 'True'), EARLIER)] }
    expect(merge(current, { parents: [parent('a', 'False')] })).toEqual({
      parents: [stamped(parent('a', 'False'), NOW)],
    })
    const reworded = {
      ...parent('a', 'True'),
      conditions: [{ type: 'Accepted', status: 'True' as const, reason: 'Other', message: 'n' }],
    }
    expect(merge(current, { parents: [reworded] })).toEqual({ parents: [stamped(reworded, EARLIER)] })
  })

  it('keeps condition types and fields that are not ours to compute', () => {
    const foreign = { type: 'Deployed', status: 'True', reason: 'R', message: 'm', lastTransitionTime: EARLIER }
    const current = { conditions: [foreign], extra: 1 }
    const desired = { conditions: [{ type: 'Accepted', status: 'True' as const, reason: 'Accepted', message: 'm' }] }
    expect(mergeStatus({ current, desired, controllerName: OURS, now: NOW })).toEqual({
      extra: 1,
      conditions: [foreign, { ...desired.conditions[0], lastTransitionTime: NOW }],
    })
  })

  it.each(['ResolvedRefs', 'InsecureFrontendValidationMode', 'gw.dev/MeshUnavailable', 'gw.dev/SecretsUnavailable'])(
    'takes %s away with what it is about',
    (type) => {
      const accepted = { type: 'Accepted', status: 'True' as const, reason: 'Accepted', message: 'm' }
      const current = {
        conditions: [
          { type, status: 'True', reason: 'R', message: 'm', lastTransitionTime: EARLIER },
          { ...accepted, lastTransitionTime: EARLIER },
        ],
      }
      const desired = { conditions: [accepted] }
      expect(mergeStatus({ current, desired, controllerName: OURS, now: NOW })).toEqual({
        conditions: [{ ...accepted, lastTransitionTime: EARLIER }],
      })
    },
  )

  it('never writes more ancestors than the API takes', () => {
    const foreign = Array.from({ length: 16 }, (_, index) => ({
      ancestorRef: { name: `f${index}` },
      controllerName: THEIRS,
      conditions: [],
    }))
    const own = ['a', 'b'].map((name) => ({ ancestorRef: { name }, controllerName: OURS, conditions: [ACCEPTED] }))
    const merged = (count: number): unknown =>
      mergeStatus({
        current: { ancestors: foreign.slice(0, count) },
        desired: { ancestors: own },
        controllerName: OURS,
        now: NOW,
      })
    const summary = {
      ancestorRef: { group: 'gw.dev', name: 'StatusSummary' },
      controllerName: OURS,
      conditions: [
        { ...ACCEPTED, lastTransitionTime: NOW },
        {
          type: 'StatusSummarized',
          status: 'True',
          reason: 'StatusSummarized',
          message: '2 more Gateways use this policy than the status can list',
          observedGeneration: 3,
          lastTransitionTime: NOW,
        },
      ],
    }
    expect(merged(15)).toEqual({ ancestors: [...foreign.slice(0, 15), summary] })
    expect(merged(16)).toBeUndefined()
    expect(merged(14)).toMatchObject({ ancestors: [...foreign.slice(0, 14), own[0], own[1]] })
  })
})
