import { describe, expect, it } from 'vitest'
import { isLater, type MissingObject, missingTwice } from './unseen.ts'

describe('missingTwice', () => {
  it('names a Gateway when its object is missing at two checks in a row', () => {
    const forgotten: string[] = []
    const one = (key: string, id: string): MissingObject => ({ key, id, forget: () => void forgotten.push(id) })
    const looks = [
      [one('shop/web', 'Service/web')],
      [],
      [one('shop/web', 'Service/web'), one('shop/api', 'Service/api')],
      [one('shop/api', 'Service/api'), one('shop/api', 'Deployment/api')],
      [one('shop/api', 'Deployment/api')],
    ]
    const look = missingTwice(() => looks.shift() ?? [])
    expect([look(), look(), look()]).toEqual([[], [], []])
    expect([look(), forgotten]).toEqual([['shop/api'], ['Service/api']])
    expect([look(), forgotten]).toEqual([['shop/api'], ['Service/api', 'Deployment/api']])
  })
})

describe('isLater', () => {
  it.each([
    [undefined, '7', false],
    ['6', '7', false],
    ['7', '7', false],
    ['8', '7', true],
    ['deleted', '7', true],
  ] as const)('seen %s, written %s: %s', (seen, written, expected) => expect(isLater(seen, written)).toBe(expected))
})
