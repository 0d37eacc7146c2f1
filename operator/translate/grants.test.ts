import { describe, expect, it } from 'vitest'
import type { ReferenceGrant } from '#api/gateway/referencegrant.gen.ts'
import { grantChecker } from './grants.ts'

const from = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop' }
const to = { group: '', kind: 'Service', namespace: 'other', name: 'api' }

function grant(namespace: string, spec: ReferenceGrant['spec']): ReferenceGrant {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'ReferenceGrant',
    metadata: { name: 'g', namespace },
    spec,
  }
}

describe('grantChecker', () => {
  it('needs no grant inside a namespace', () => {
    expect(grantChecker([])({ from, to: { ...to, namespace: 'shop' } })).toBe(true)
  })

  it('rejects another namespace without a grant', () => {
    expect(grantChecker([])({ from, to })).toBe(false)
  })

  it.each([
    ['the whole kind', 'other', from, { group: '', kind: 'Service' }, true],
    ['this name', 'other', from, { group: '', kind: 'Service', name: 'api' }, true],
    ['another name', 'other', from, { group: '', kind: 'Service', name: 'web' }, false],
    ['another kind', 'other', from, { group: '', kind: 'Secret' }, false],
    ['another group', 'other', from, { group: 'gw.dev', kind: 'Service' }, false],
    ['routes of another namespace', 'other', { ...from, namespace: 'b' }, { group: '', kind: 'Service' }, false],
    ['another kind of route', 'other', { ...from, kind: 'GRPCRoute' }, { group: '', kind: 'Service' }, false],
    ['in the namespace of the route', 'shop', from, { group: '', kind: 'Service' }, false],
  ])('grants %s', (_, namespace, source, target, expected) => {
    expect(grantChecker([grant(namespace, { from: [source], to: [target] })])({ from, to })).toBe(expected)
  })

  it('treats several entries as alternatives', () => {
    const several = grant('other', {
      from: [{ ...from, namespace: 'b' }, from],
      to: [
        { group: '', kind: 'Secret' },
        { group: '', kind: 'Service' },
      ],
    })
    expect(grantChecker([several])({ from, to })).toBe(true)
  })
})
