// The distance of an endpoint: the leading preferences of its Service that it shares with the proxy
// (data-plane supplement section 5.1). Preferences without a value for this proxy are ignored.
import type { LocalityPreference, Workload, WorkloadService } from '#api/ir/types.gen.ts'

type Preference = LocalityPreference['preferences'][number]

const FIELDS = {
  Network: 'network',
  Cluster: 'cluster',
  Region: 'region',
  Zone: 'zone',
  Subzone: 'subzone',
  Node: 'node',
} as const satisfies { readonly [P in Preference]: string }

/** Where something is, as far as it is known. */
export type Locality = { readonly [F in (typeof FIELDS)[Preference]]?: string | undefined }

/** `settings` have precedence; other values come from any workload on the same node. */
export function ownPlace(settings: Locality, workloads: readonly Workload[]): Locality {
  const { node } = settings
  const neighbour =
    node === undefined ? undefined : workloads.find((one) => one.node === node && one.zone !== undefined)
  if (neighbour === undefined) return settings
  const { region, zone, subzone } = neighbour
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
  return { region, zone, subzone, ...given }
}

export interface RankInput {
  /** undefined: all endpoints are equal. */
  readonly locality: LocalityPreference | undefined
  readonly own: Locality
  readonly workload: Pick<Workload, keyof Locality>
  readonly membership: Pick<WorkloadService, 'forZones' | 'forNodes'>
}

/** 0 is nearest. undefined: too far away for the Service. */
export function localityRank({ locality, own, workload, membership }: RankInput): number | undefined {
  if (locality === undefined) return 0
  const { preferences, mode } = locality
  let matching = 0
  for (const preference of preferences) {
    if (!isMatch(preference, { own, workload, membership })) break
    matching++
  }
  const rank = preferences.length - matching
  return mode === 'Strict' && rank > 0 ? undefined : rank
}

function isMatch(preference: Preference, { own, workload, membership }: Omit<RankInput, 'locality'>): boolean {
  const field = FIELDS[preference]
  const mine = own[field]
  if (mine === undefined) return true
  const meant = preference === 'Zone' ? membership.forZones : preference === 'Node' ? membership.forNodes : undefined
  return meant === undefined ? workload[field] === mine : meant.includes(mine)
}
