import { describe, expect, it } from 'vitest'
import type { Node } from '../kube.ts'
import { placesOfNodes } from './node-places.ts'

function node(name: string, region?: string, zone?: string, subzone?: string): Node {
  const labels = {
    'kubernetes.io/hostname': name,
    ...(region !== undefined && { 'topology.kubernetes.io/region': region }),
    ...(zone !== undefined && { 'topology.kubernetes.io/zone': zone }),
    ...(subzone !== undefined && { 'topology.istio.io/subzone': subzone }),
  }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
}

describe('placesOfNodes', () => {
  const nodes = [
    node('a', 'r', 'z', 's'),
    node('b', '', 'z'),
    node('c'),
    node('d', 'q', 'both'),
    node('e', 'r', 'both'),
  ]
  it.each([
    ['what the labels say', 'a', 'z', { region: 'r', zone: 'z', subzone: 's' }],
    ['the region of the zone, for a node without one', 'b', undefined, { region: 'r', zone: 'z' }],
    ['the region of the zone, for a node that is not known', 'x', 'z', { region: 'r', zone: 'z' }],
    ['no region of a zone that is in two', 'x', 'both', {}],
    ['a node without labels', 'c', undefined, {}],
    ['nothing at all', undefined, undefined, {}],
  ])('%s', (_, name, zone, expected) => {
    expect(placesOfNodes()(nodes).at(name, zone)).toEqual(expected)
  })

  it('returns the same objects for nodes that do not move', () => {
    const placesOf = placesOfNodes()
    const before = placesOf([node('a', 'r', 'z'), node('b', 'r', 'z')])
    const after = placesOf([node('a', 'r', 'z'), node('b', 'r', 'y')])
    expect(after.at('a', 'z')).toBe(before.at('a', 'z'))
    expect(after.at('x', 'z')).toBe(before.at('x', 'z'))
    expect(after.at('b', undefined)).toEqual({ region: 'r', zone: 'y' })
  })
})
