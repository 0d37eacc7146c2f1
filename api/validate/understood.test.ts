// What is left of objects that the schema would reject today.
import { describe, expect, it } from 'vitest'
import { isSound, understood, understoodPart } from './understood.ts'

const TARGETS = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'web' }]

function policyWith(traffic: unknown): object {
  const metadata = { name: 'p', namespace: 'shop' }
  return { apiVersion: 'gw.dev/v1alpha1', kind: 'GwPolicy', metadata, spec: { targetRefs: TARGETS, traffic } }
}

function specOf(object: unknown): unknown {
  return (object as { spec: unknown }).spec // as policyWith makes it
}

describe('understood', () => {
  it('returns the object itself if it is valid', () => {
    const policy = policyWith({ csrf: {} })
    expect(understood(policy)).toEqual({ object: policy, leftOut: [], kept: [] })
    expect(understood(policy).object).toBe(policy)
    const unknown = { kind: 'Elsewhere', spec: 5 }
    expect(understood(unknown).object).toBe(unknown)
  })

  it.each<[string, unknown, unknown, string[]]>([
    [
      'a value',
      { retry: { attempts: 1, codes: [503, 99] } },
      { retry: { attempts: 1, codes: [503] } },
      ['retry.codes[1]'],
    ],
    [
      'a list, and reports the original indexes',
      { headerModifiers: { request: { remove: [1, 'x-a', 2] } } },
      { headerModifiers: { request: { remove: ['x-a'] } } },
      ['headerModifiers.request.remove[0]', 'headerModifiers.request.remove[2]'],
    ],
    ['a field that is not known', { csrf: { novelty: 1 } }, undefined, ['csrf.novelty']],
    ['what holds nothing else', { buffer: { request: { maxBytes: [] } } }, undefined, ['buffer.request.maxBytes']],
    ['what lacks something it must have', { hostRewrite: {}, csrf: {} }, { csrf: {} }, ['hostRewrite.mode']],
    ['what a rule finds empty', { buffer: {}, csrf: {} }, { csrf: {} }, ['buffer']],
    ['a section', 5, undefined, ['']],
  ])('leaves out %s', (_, traffic, left, paths) => {
    const { object, leftOut } = understood(policyWith(traffic))
    expect(specOf(object)).toEqual({ targetRefs: TARGETS, ...(left !== undefined && { traffic: left }) })
    expect(leftOut.map(({ path }) => path)).toEqual(paths.map((path) => `spec.traffic.${path}`.replace(/\.$/, '')))
  })

  it('keeps and reports a field that only a rule rejects', () => {
    const { object, leftOut, kept } = understood(policyWith({ rateLimit: { local: [{ unit: 'Seconds' }] } }))
    expect(specOf(object)).toMatchObject({ traffic: { rateLimit: { local: [{ unit: 'Seconds' }] } } })
    expect(leftOut).toEqual([])
    expect(kept.map(({ path }) => path)).toEqual(['spec.traffic.rateLimit.local[0]'])
  })

  it('runs the rules of a field even if another one is invalid', () => {
    const { kept } = understood(policyWith({ rateLimit: { local: [{ unit: 'Seconds' }] }, csrf: 5 }))
    expect(kept.map(({ path }) => path)).toEqual(['spec.traffic.rateLimit.local[0]'])
  })

  it('does not check metadata and status', () => {
    const policy = { ...policyWith({ csrf: {} }), status: { ancestors: 5 } }
    expect(understood(policy)).toMatchObject({ leftOut: [], kept: [] })
  })

  it('does not change its input', () => {
    const policy = policyWith({ retry: { attempts: 'many' } })
    const before = structuredClone(policy)
    understood(policy)
    expect(policy).toEqual(before)
  })
})

describe('understoodPart', () => {
  const around = (part: unknown): object => {
    const metadata = { name: 'x', namespace: 'x' }
    return {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata,
      spec: { rules: [{ filters: [part] }] },
    }
  }
  const frame = { around, at: 'spec.rules[0].filters[0]' }
  const PATH = 'spec.rules[3].filters[7]'

  it('returns the part itself if it is valid', () => {
    const part = { type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['a'] } }
    expect(understoodPart(part, frame, PATH)).toEqual({ object: part, leftOut: [], kept: [] })
    expect(understoodPart(part, frame, PATH).object).toBe(part)
  })

  it('leaves out an invalid field, and reports it with a path from its own place', () => {
    const { object, leftOut } = understoodPart(
      { type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['a', 5] } },
      frame,
      PATH,
    )
    expect(object).toEqual({ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['a'] } })
    const path = `${PATH}.requestHeaderModifier.remove[1]`
    expect(leftOut).toEqual([expect.objectContaining({ path, message: expect.stringContaining(path) })])
  })

  it('is undefined when nothing is left, and reports nothing about its frame', () => {
    const { object, leftOut } = understoodPart(5, frame, PATH)
    expect(object).toBeUndefined()
    expect(leftOut.map(({ path }) => path)).toEqual([PATH])
  })
})

describe('isSound', () => {
  it('checks structure and lists', () => {
    expect(isSound(policyWith({ csrf: {} }))).toBe(true)
    expect(isSound(policyWith({ csrf: 5 }))).toBe(false)
    expect(isSound({ kind: 'Elsewhere' })).toBe(true)
  })
})
