import { describe, expect, it } from 'vitest'
import { covers, type FieldPath, overlaps, parseFieldPath } from './field-path.ts'

describe('parseFieldPath', () => {
  it.each<[string, FieldPath]>([
    ['image', ['image']],
    ['image.tag', ['image', 'tag']],
    ['env[GW_LOG].value', ['env', 'GW_LOG', 'value']],
    ['deployment.spec.containers[*].image', ['deployment', 'spec', 'containers', '*', 'image']],
    ['service.metadata.annotations[a.example/b.c]', ['service', 'metadata', 'annotations', 'a.example/b.c']],
    ['*', ['*']],
  ])('reads %s', (text, path) => expect(parseFieldPath(text)).toEqual(path))

  it.each(['', '.', '.image', '[gw]', 'image.', 'image..tag', 'env[', 'env[]', 'env[a]b', 'a b', 'a/b'])(
    'refuses "%s"',
    (text) => expect(parseFieldPath(text)).toBeUndefined(),
  )
})

describe('covers and overlaps', () => {
  it.each<[string, string, boolean, boolean]>([
    ['image', 'image', true, true],
    ['image', 'image.tag', true, true],
    ['image.tag', 'image', false, true],
    ['image', 'imagePullPolicy', false, false],
    ['*', 'image.tag', true, true],
    ['a.containers[gw].resources', 'a.containers[gw].resources.limits.cpu', true, true],
    ['a.containers[gw].resources', 'a.containers[evil].resources', false, false],
    ['a.containers[gw].resources', 'a.containers', false, true],
    ['a.containers[*].image', 'a.containers[evil].image', true, true],
    ['env[LOG].value', 'env[LOG].valueFrom.secretKeyRef.name', false, false],
  ])('%s against %s', (pattern, path, isCovered, isOverlapping) => {
    const [first = [], second = []] = [parseFieldPath(pattern), parseFieldPath(path)]
    expect([covers(first, second), overlaps(first, second)]).toEqual([isCovered, isOverlapping])
  })
})
