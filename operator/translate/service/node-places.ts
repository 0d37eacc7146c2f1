// Where nodes are, by their labels.
import type { Node } from '../kube.ts'
import { derived } from '../memory.ts'
import { same } from '../same.ts'

export interface NodePlace {
  readonly region?: string
  readonly zone?: string
  readonly subzone?: string
}

export interface NodePlaces {
  /**
   * For an unknown node, or one without region: the region of the nodes of its zone. The same object as last time if
   * nothing has changed.
   */
  at(node: string | undefined, zone: string | undefined): NodePlace
}

export const PLACE_LABELS = {
  region: 'topology.kubernetes.io/region',
  zone: 'topology.kubernetes.io/zone',
  subzone: 'topology.istio.io/subzone',
} as const satisfies { readonly [K in keyof NodePlace]-?: string }

type ByName = ReadonlyMap<string, NodePlace>

const NOWHERE: NodePlace = {}

/** The same object for the same nodes. */
export function placesOfNodes(): (nodes: readonly Node[]) => NodePlaces {
  let nodePlaces: ByName = new Map()
  let zonePlaces: ByName = new Map()
  return derived((nodes: readonly Node[]) => {
    const places = nodes.map(({ metadata: { name, labels } }) => [name, placeOf(labels ?? {})] as const)
    const byNode = (nodePlaces = keptPlaces(nodePlaces, places))
    const byZone = (zonePlaces = keptPlaces(zonePlaces, regionsOfZones(byNode.values())))
    return {
      at(node, zone) {
        const place = node === undefined ? undefined : byNode.get(node)
        if (place?.region !== undefined) return place
        const known = zone ?? place?.zone
        return (known === undefined ? undefined : byZone.get(known)) ?? place ?? NOWHERE
      },
    }
  })
}

function keptPlaces(before: ByName, now: Iterable<readonly [string, NodePlace]>): ByName {
  return new Map([...now].map(([name, place]) => [name, same(before.get(name), place)]))
}

/** Of zones whose nodes agree. */
function* regionsOfZones(places: Iterable<NodePlace>): Iterable<readonly [string, NodePlace]> {
  const regions = new Map<string, Set<string>>()
  for (const { region, zone } of places) {
    if (region === undefined || zone === undefined) continue
    regions.set(zone, (regions.get(zone) ?? new Set<string>()).add(region))
  }
  for (const [zone, [region, ...others]] of regions) {
    if (region !== undefined && others.length === 0) yield [zone, { region, zone }]
  }
}

function placeOf(labels: Readonly<Record<string, string>>): NodePlace {
  const value = (label: string): string => (Object.hasOwn(labels, label) ? (labels[label] ?? '') : '')
  const [region, zone, subzone] = [PLACE_LABELS.region, PLACE_LABELS.zone, PLACE_LABELS.subzone].map(value)
  return {
    ...(region !== undefined && region !== '' && { region }),
    ...(zone !== undefined && zone !== '' && { zone }),
    ...(subzone !== undefined && subzone !== '' && { subzone }),
  }
}
