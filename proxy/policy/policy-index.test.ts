import type { Policy, PolicyTarget } from '#api/ir/types.gen.ts'
import { describe, expect, it } from 'vitest'
import { indexPolicies, routeLevels } from './policy-index.ts'

function policyOf(key: string, target: PolicyTarget): Policy {
  return { key, name: { kind: 'GwPolicy', namespace: 'shop', name: key }, target, policy: { traffic: { csrf: {} } } }
}

function routeTarget(name: string): PolicyTarget {
  return { route: { kind: 'HTTPRoute', namespace: 'shop', name } }
}

function levelOf(name: string): string {
  return routeLevels({ kind: 'HTTPRoute', namespace: 'shop', name })[0] ?? ''
}

describe('indexPolicies', () => {
  const one = policyOf('one', routeTarget('cart'))
  const many = policyOf('many', { several: [routeTarget('cart'), routeTarget('pay')] })

  it('finds a policy with several targets at each of them, in the order of the list', () => {
    const index = indexPolicies([many, one])
    expect(index.at(levelOf('cart'))).toEqual([many, one])
    expect(index.at(levelOf('pay'))).toEqual([many])
    expect(index.at(levelOf('other'))).toEqual([])
  })

  it('follows a target that is added and one that is removed', () => {
    const index = indexPolicies([many, one])
    const changed = policyOf('many', { several: [routeTarget('cart'), routeTarget('other')] })
    const next = index.after([changed, one])
    expect(['cart', 'pay', 'other'].map((name) => next.at(levelOf(name)))).toEqual([[changed, one], [], [changed]])
  })
})
