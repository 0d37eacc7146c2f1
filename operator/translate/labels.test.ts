import { describe, expect, it } from 'vitest'
import { matchesSelector } from './labels.ts'

const labels = { team: 'shop', tier: '1' }

describe('matchesSelector', () => {
  it.each([
    ['nothing asked', {}, true],
    ['a label that fits', { matchLabels: { team: 'shop' } }, true],
    ['a label that differs', { matchLabels: { team: 'other' } }, false],
    ['a label that is missing', { matchLabels: { zone: 'x' } }, false],
    ['a key of every object', { matchLabels: { constructor: 'x' } }, false],
    ['In', { matchExpressions: [{ key: 'team', operator: 'In', values: ['shop', 'b'] }] }, true],
    ['In, missing', { matchExpressions: [{ key: 'zone', operator: 'In', values: ['x'] }] }, false],
    ['NotIn', { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['shop'] }] }, false],
    ['NotIn, missing', { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['x'] }] }, true],
    ['Exists', { matchExpressions: [{ key: 'team', operator: 'Exists' }] }, true],
    ['DoesNotExist', { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, false],
    ['an unknown operator', { matchExpressions: [{ key: 'team', operator: 'Near', values: ['shop'] }] }, false],
    [
      'labels and expressions',
      { matchLabels: { team: 'shop' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['2'] }] },
      false,
    ],
  ])('%s', (_, selector, expected) => {
    expect(matchesSelector(selector, labels)).toBe(expected)
  })

  it('treats missing labels as none', () => {
    expect(matchesSelector({ matchLabels: { team: 'shop' } }, undefined)).toBe(false)
    expect(matchesSelector({}, undefined)).toBe(true)
  })
})
