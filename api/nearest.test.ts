import { describe, expect, it } from 'vitest'
import { editDistance, nearestName } from './nearest.ts'

describe('nearestName', () => {
  const valid = ['port', 'protocol', 'listeners', 'cors']

  it.each([
    ['prot', 'port'],
    ['Port', 'port'],
    ['ports', 'port'],
    ['protocl', 'protocol'],
    ['listener', 'listeners'],
    ['corss', 'cors'],
  ])('takes %s for %s', (name, expected) => {
    expect(nearestName(name, valid)).toBe(expected)
  })

  it('does not guess', () => {
    expect(nearestName('certificates', valid)).toBeUndefined()
    expect(nearestName('x', valid)).toBeUndefined()
    expect(nearestName('p'.repeat(65), ['p'.repeat(65)])).toBeUndefined()
  })
})

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['abc', 'acb', 1],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
    ['ab', 'abcd', 2],
    ['abcd', 'badc', 3],
    ['abcd', 'abdc', 1],
    ['abcd', 'dbca', 2],
  ])('%j to %j is %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance)
    expect(editDistance(b, a)).toBe(distance)
  })
})
