import { expect, it } from 'vitest'
import { volumeName } from './volume-name.ts'

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

it('keeps names that Kubernetes takes', () => {
  expect(volumeName('x-', 'prices')).toBe('x-prices')
  expect(volumeName('x-', 'a'.repeat(61))).toBe(`x-${'a'.repeat(61)}`)
})

it.each(['a'.repeat(62), 'a'.repeat(253), 'a.b', `${'a'.repeat(60)}.b`, `${'-'.repeat(80)}a`])(
  'makes a label of %s',
  (name) => {
    const made = volumeName('x-', name)
    expect(made).toMatch(LABEL)
    expect(made.length).toBeLessThanOrEqual(63)
    expect(made).not.toBe(volumeName('x-', `${name}b`))
  },
)
