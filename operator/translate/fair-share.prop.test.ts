import { array, assert, dictionary, integer, nat, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fairlyAdmitted, fairShares } from './fair-share.ts'

describe('fairShares', () => {
  it('gives small namespaces their full demand, and the others equal parts of the rest', () => {
    const demands = new Map([
      ['noisy', 1000],
      ['small', 5],
      ['loud', 60],
    ])
    expect(fairShares(new Map([...demands].toReversed()), 2)).toEqual(fairShares(demands, 2))
    expect(fairShares(demands, 100)).toEqual(
      new Map([
        ['small', 5],
        ['loud', 47],
        ['noisy', 48],
      ]),
    )
  })

  it('gives every namespace its full demand when there is enough', () => {
    expect(
      fairShares(
        new Map([
          ['a', 60],
          ['b', 40],
        ]),
        100,
      ),
    ).toBeUndefined()
    expect(
      fairShares(
        new Map([
          ['a', 60],
          ['b', 41],
        ]),
        100,
      ),
    ).toEqual(
      new Map([
        ['b', 41],
        ['a', 59],
      ]),
    )
  })

  it('never gives more than there is, and leaves nothing while a demand is unmet', () => {
    const demands = dictionary(string({ maxLength: 3 }), nat(50), { maxKeys: 12 })
    assert(
      property(demands, nat(200), (asked, total) => {
        const shares = fairShares(new Map(Object.entries(asked)), total)
        if (shares === undefined) return
        const given = [...shares.values()].reduce((sum, share) => sum + share, 0)
        expect(given).toBe(total)
        for (const [namespace, share] of shares) expect(share).toBeLessThanOrEqual(asked[namespace] ?? 0)
      }),
    )
  })
})

describe('fairlyAdmitted', () => {
  const claimants = (namespace: string, costs: readonly number[]) => costs.map((cost) => ({ namespace, cost }))

  it('admits the earlier claims of a namespace, and later ones that still fit', () => {
    const all = [...claimants('noisy', [4, 4, 4, 1]), ...claimants('small', [2])]
    expect(fairlyAdmitted(all, 11)).toEqual([true, true, false, true, true])
    expect(fairlyAdmitted(all, 15)).toBeUndefined()
  })

  it('never admits a later claim in place of an earlier one of its namespace', () => {
    const costs = array(integer({ min: 1, max: 9 }), { maxLength: 20 })
    assert(
      property(costs, integer({ min: 1, max: 9 }), nat(60), (before, later, total) => {
        const now = fairlyAdmitted(claimants('a', before), total) ?? before.map(() => true)
        const then = fairlyAdmitted(claimants('a', [...before, later]), total) ?? [...before.map(() => true), true]
        expect(then.slice(0, -1)).toEqual(now)
      }),
    )
  })
})
