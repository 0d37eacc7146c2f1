import { describe, expect, it } from 'vitest'
import type { LocalityPreference, Workload } from '#api/ir/types.gen.ts'
import { localityRank, ownPlace, type Locality, type RankInput } from './locality.ts'

const SAME_NODE: LocalityPreference = { preferences: ['Region', 'Zone', 'Subzone', 'Node'], mode: 'Failover' }
const OWN_NODE: LocalityPreference = { preferences: ['Node'], mode: 'Strict' }
const ZONE: LocalityPreference = { preferences: ['Zone'], mode: 'Failover' }
const OWN: Locality = { region: 'r', zone: 'z', subzone: 's', node: 'n', network: 'net', cluster: 'c' }

describe('localityRank', () => {
  it.each<[string, LocalityPreference | undefined, Locality, Locality, number | undefined]>([
    ['without a preference', undefined, OWN, {}, 0],
    ['all in common', SAME_NODE, OWN, OWN, 0],
    ['another node', SAME_NODE, OWN, { ...OWN, node: 'm' }, 1],
    ['another subzone, same name of the node', SAME_NODE, OWN, { ...OWN, subzone: 't' }, 2],
    ['another zone', SAME_NODE, OWN, { ...OWN, zone: 'y' }, 3],
    ['another region, same name of the zone', SAME_NODE, OWN, { ...OWN, region: 'q' }, 4],
    ['an endpoint that says nothing', SAME_NODE, OWN, {}, 4],
    ['a proxy without a known place', SAME_NODE, {}, OWN, 0],
    ['a proxy without a subzone', SAME_NODE, { ...OWN, subzone: undefined }, { ...OWN, subzone: 't' }, 0],
    ['Strict, in common', OWN_NODE, OWN, { node: 'n' }, 0],
    ['Strict, not in common', OWN_NODE, OWN, { node: 'm' }, undefined],
    ['Strict, an endpoint that says nothing', OWN_NODE, OWN, {}, undefined],
    ['Strict, half in common', { ...SAME_NODE, mode: 'Strict' }, OWN, { ...OWN, node: 'm' }, undefined],
    ['another network', { preferences: ['Network', 'Cluster'], mode: 'Failover' }, OWN, { cluster: 'c' }, 2],
    ['another cluster', { preferences: ['Network', 'Cluster'], mode: 'Failover' }, OWN, { network: 'net' }, 1],
  ])('%s', (_, locality, own, workload, rank) => {
    expect(localityRank({ locality, own, workload: given(workload), membership: {} })).toBe(rank)
  })

  it.each<[string, LocalityPreference, RankInput['membership'], number | undefined]>([
    ['meant for the zone of the proxy', ZONE, { forZones: ['x', 'z'] }, 0],
    ['in the zone of the proxy, but not meant for it', ZONE, { forZones: ['x'] }, 1],
    ['meant for the node of the proxy', OWN_NODE, { forNodes: ['n'] }, 0],
    ['not meant for it', OWN_NODE, { forNodes: ['m'] }, undefined],
  ])('hints: %s', (_, locality, membership, rank) => {
    expect(localityRank({ locality, own: OWN, workload: given({ zone: 'z', node: 'n' }), membership })).toBe(rank)
  })
})

describe('ownPlace', () => {
  const at = (place: Locality): Workload => ({
    uid: 'u',
    addresses: ['a'],
    healthy: false,
    services: [],
    ...given(place),
  })
  const neighbour = at({ node: 'n', region: 'r', zone: 'z', subzone: 's' })

  it.each<[string, Locality, Workload[], Locality]>([
    [
      'from a workload on the same node',
      { node: 'n' },
      [at({ node: 'm', zone: 'y' }), neighbour],
      { node: 'n', region: 'r', zone: 'z', subzone: 's' },
    ],
    [
      'settings go first',
      { node: 'n', zone: 'mine', region: undefined },
      [neighbour],
      { node: 'n', region: 'r', zone: 'mine', subzone: 's' },
    ],
    [
      'not from one that does not know its zone',
      { node: 'n' },
      [at({ node: 'n' }), neighbour],
      { node: 'n', region: 'r', zone: 'z', subzone: 's' },
    ],
    ['no neighbour', { node: 'o' }, [neighbour], { node: 'o' }],
    ['no node', { zone: 'z' }, [neighbour], { zone: 'z' }],
  ])('%s', (_, settings, workloads, expected) => {
    expect(ownPlace(settings, workloads)).toEqual(expected)
  })
})

/** Without fields that are undefined. */
function given(place: Locality): { readonly [F in keyof Locality]-?: string } | object {
  return Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined))
}
