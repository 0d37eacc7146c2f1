// Close endpoints: Services, Nodes and EndpointSlices in manifests, and the choice of a proxy on node-1.
import { expect } from 'vitest'
import { all, replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'service-locality.yaml'
/** The chance that one of two equal endpoints is never picked is 2^-60. */
const REQUESTS = 60
const FAR_NODE = 'nodeName: node-2\n    zone: zone-b'

async function servers(gateway: SampleGateway, headers: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const found = new Set<string>()
  for (let i = 0; i < REQUESTS; i++) found.add((await gateway.echo('/', { headers })).server)
  return [...found].sort()
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'SameZone',
    description: 'endpoints of the own zone get all requests, and the dump shows the buckets',
    sample: SAMPLE,
    async run(gateway) {
      expect(await servers(gateway)).toEqual(['echo'])
      expect(await gateway.dump()).toMatchObject({
        services: [
          {
            endpoints: [
              { active: { 'default/echo-near': { info: { totalRequests: REQUESTS }, capacity: 1 } } },
              { active: { 'default/echo-far': { info: { totalRequests: 0 }, capacity: 1 } } },
            ],
          },
        ],
        workloads: [
          { uid: 'default/echo-far', locality: { region: 'region-1', zone: 'zone-b' } },
          { uid: 'default/echo-near', locality: { region: 'region-1', zone: 'zone-a' } },
        ],
      })
    },
  },
  {
    shortName: 'NextZone',
    description:
      'another zone serves while all endpoints of the own one are evicted; the own one serves if all are evicted',
    sample: SAMPLE,
    async run(gateway) {
      const evicting = { headers: { 'x-evict': 'yes' } }
      expect((await gateway.echo('/', evicting)).server).toBe('echo')
      expect(await servers(gateway)).toEqual(['spare'])
      expect((await gateway.echo('/', evicting)).server).toBe('spare')
      expect(await servers(gateway)).toEqual(['echo'])
    },
  },
  {
    shortName: 'NoPreference',
    description: 'without a traffic distribution zones have no effect',
    sample: SAMPLE,
    change: replacing('  trafficDistribution: PreferSameZone\n', ''),
    async run(gateway) {
      expect(await servers(gateway)).toEqual(['echo', 'spare'])
    },
  },
  {
    shortName: 'SameNode',
    description: 'the own node is preferred to the own zone if the Service requires it',
    sample: SAMPLE,
    change: all(
      replacing('PreferSameZone', 'PreferSameNode'),
      replacing(FAR_NODE, 'nodeName: node-3\n    zone: zone-a'),
    ),
    async run(gateway) {
      expect(await servers(gateway)).toEqual(['echo'])
      expect((await gateway.echo('/', { headers: { 'x-evict': 'yes' } })).server).toBe('echo')
      expect(await servers(gateway)).toEqual(['spare'])
    },
  },
  {
    shortName: 'WholeZone',
    description: 'nodes of one zone are equal if the Service requires only the zone',
    sample: SAMPLE,
    change: replacing(FAR_NODE, 'nodeName: node-3\n    zone: zone-a'),
    async run(gateway) {
      expect(await servers(gateway)).toEqual(['echo', 'spare'])
    },
  },
  {
    shortName: 'ZoneHints',
    description: 'hints of EndpointSlices override the zone of an endpoint',
    sample: SAMPLE,
    change: all(
      replacing('  trafficDistribution: PreferSameZone\n', ''),
      replacing('    zone: zone-b\n', '    zone: zone-b\n    hints: {forZones: [{name: zone-a}]}\n'),
      replacing('    nodeName: node-1\n', '    nodeName: node-1\n    hints: {forZones: [{name: zone-b}]}\n'),
    ),
    async run(gateway) {
      expect(await servers(gateway)).toEqual(['spare'])
    },
  },
  {
    shortName: 'OwnNodeOnly',
    description: 'with internalTrafficPolicy Local an endpoint on another node is never used',
    sample: SAMPLE,
    change: replacing('trafficDistribution: PreferSameZone', 'internalTrafficPolicy: Local'),
    async run(gateway) {
      expect(await servers(gateway)).toEqual(['echo'])
      // Evicted, but the only endpoint.
      expect((await gateway.echo('/', { headers: { 'x-evict': 'yes' } })).server).toBe('echo')
      expect(await servers(gateway)).toEqual(['echo'])
    },
  },
  {
    shortName: 'NothingOnOwnNode',
    description: 'with internalTrafficPolicy Local and no endpoint on the own node the answer is 503',
    sample: SAMPLE,
    change: all(
      replacing('trafficDistribution: PreferSameZone', 'internalTrafficPolicy: Local'),
      replacing('nodeName: node-1\n', 'nodeName: node-3\n'),
    ),
    async run(gateway) {
      expect((await gateway.ask('/')).status).toBe(503)
    },
  },
]
