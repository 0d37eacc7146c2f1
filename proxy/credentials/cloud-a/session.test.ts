import { describe, expect, it } from 'vitest'
import type { CelExpression } from '#api/cel/expression.ts'
import { CelUint } from '#api/cel/values/uint.ts'
import { sessionOf, type SessionRule } from './session.ts'

const EXPRESSION: CelExpression = { source: 'x', references: new Set(), evaluate: () => undefined }
const none = (): undefined => undefined

function rule(name: SessionRule['name'], tags: SessionRule['tags'] = []): SessionRule {
  return { name, tags }
}

function tagged(value: unknown) {
  return sessionOf(rule('name', [{ key: 'team', value: EXPRESSION }]), () => value)
}

describe('sessionOf', () => {
  it('has a name of its own and no tags by default', () => {
    expect(sessionOf(rule(undefined), none)).toEqual({ session: { name: 'gw', tags: [] } })
  })

  it.each([
    ['ab', true],
    ['a', false],
    ['a'.repeat(64), true],
    ['a'.repeat(65), false],
    ['_+=,.@-', true],
    ['a b', false],
    ['a:b', false],
    ['ab\n', false],
    ['', false],
    [undefined, false],
    [{}, false],
  ])('takes the computed name %s: %s', (value, isValid) => {
    const result = sessionOf(rule(EXPRESSION), () => value)
    expect('session' in result).toBe(isValid)
    expect(JSON.stringify(result)).not.toContain(isValid ? 'problem' : 'session"')
  })

  it.each([
    ['text', 'text'],
    [5n, '5'],
    [1.5, '1.5'],
    [true, 'true'],
    [new CelUint(7n), '7'],
    ['a'.repeat(256), 'a'.repeat(256)],
    ['\u00e9 _.:/=+-@', '\u00e9 _.:/=+-@'],
  ])('takes the computed tag %s', (value, text) => {
    expect(tagged(value)).toEqual({ session: { name: 'name', tags: [{ key: 'team', value: text }] } })
  })

  it.each([[''], ['a'.repeat(257)], ['a,b'], ['<x>'], [Number.NaN], [null], [['x']], [{ a: 1 }], [Symbol('failed')]])(
    'rejects the computed tag %s and does not show it',
    (value) => {
      const result = tagged(value)
      expect(result).toEqual({ problem: expect.stringMatching(/^session tag team has (an invalid|no usable) value$/) })
    },
  )

  it('sorts tags, allows empty fixed values, and rejects repeated keys', () => {
    const tags = [
      { key: 'b', value: '1' },
      { key: 'a', value: '' },
    ]
    const sorted = [tags[1], tags[0]]
    expect(sessionOf(rule('name', tags), none)).toEqual({ session: { name: 'name', tags: sorted } })
    expect(sessionOf(rule('name', [...tags, ...tags]), none)).toEqual({ problem: 'session tag b is set twice' })
  })

  it.each([
    [50, true],
    [51, false],
  ])('%i tags', (count, isValid) => {
    const tags = Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: 'v' }))
    expect('session' in sessionOf(rule('name', tags), none)).toBe(isValid)
  })
})
