import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applySlots, slotsDelta } from './slots-delta.ts'

const slots = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat(5)))
  .map((entries) => new Map<string, number>(entries))

describe('a delta of slots', () => {
  it('makes the later ones of the earlier ones, also when it crossed threads, and changes neither', () => {
    fc.assert(
      fc.property(slots, slots, (before, after) => {
        const copy = new Map(before)
        const delta = structuredClone(slotsDelta(before, after))
        expect(new Map(applySlots(before, delta))).toEqual(after)
        expect(before).toEqual(copy)
      }),
    )
  })

  it('is nothing where nothing differs', () => {
    const one = new Map([['a', 1]])
    expect([slotsDelta(one, one), slotsDelta(one, new Map(one))]).toEqual([undefined, undefined])
    expect(applySlots(one, undefined)).toBe(one)
  })
})
