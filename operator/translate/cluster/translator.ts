// Translates one cluster again and again: keeps the result for each object with everything that was read for it.
// Unchanged parts stay the same objects. Returns the same output as a fresh translation.
import { Grouped } from '#api/incremental/grouped.ts'
import { isIdentical } from '#api/incremental/identical.ts'
import type { Route } from '#api/ir/types.gen.ts'
import type { GwBackend } from '#api/v1alpha1/gwbackend.gen.ts'
import { availabilityOf } from './availability.ts'
import { type BackendTranslation, translateBackend, unusable } from '../backend/backend.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'
import { gatewayAddresses } from '../gateway/addresses.ts'
import { gatewayTable } from '../gateway/gateways.ts'
import type { Caught, Defect } from '../defects.ts'
import { poolRenderer } from '../service/rendered-pools.ts'
import { derived, Memory } from '../memory.ts'
import { modelTables } from '../model/models.ts'
import { keyOf } from '../object-ref.ts'
import { policyTables } from './policy-tables.ts'
import { problemCollector } from './problems.ts'
import { type DeliveredPolicy, gatewayRenderer, type GroupedPolicies } from './render-gateway.ts'
import { parentLookup } from '../gateway/parent-lookup.ts'
import type { RoutesOfGateway } from '../route/placed-routes.ts'
import { routeTables } from '../route/route-table.ts'
import { isSameInOrder, isSameMap } from '../same.ts'
import { sharedHostNotes } from '../route/shared-host-notes.ts'
import { serviceRenderer } from '../service/rendered-services.ts'
import type { Snapshot } from '../snapshot.ts'
import { statusCollector } from './statuses.ts'
import type { TranslateSettings, Translation } from '../translation.ts'
import { type ClusterLookups, clusterLookups } from './cluster-lookups.ts'

export interface Translator {
  /** Translates the snapshot. Unchanged parts are the same objects as in the previous translation. */
  translate(snapshot: Snapshot): Translation
  /** Defects since the last call, for the log. The statuses report them as well. */
  takeDefects(): readonly Defect[]
}

export function createTranslator(settings: TranslateSettings): Translator {
  const memory = new Memory()
  const lookups = clusterLookups(memory, settings)
  const stages = stagesOf(memory, lookups, settings)
  return {
    takeDefects: () => lookups.defects.take(),
    translate(snapshot) {
      lookups.enter(snapshot)
      const gateways = stages.gateways()
      stages.parents.enter(gateways)
      const backends = stages.backends()
      const table = stages.routes(gateways)
      const { routes, perGateway: attached } = table
      stages.availability.enter(snapshot, backends)
      stages.sharedHosts.enter(routes, gateways)
      const models = stages.models()
      const deliverable = stages.deliverable(new Map<string, DeliveredBackend>([...backends, ...models.backends]))
      const lists = stages.lists(attached, models.routes)
      const policyTable = stages.policies({ accepted: table, routes: lists, backends: deliverable })
      const { reach, reaching, policies, backendTls, pools } = policyTable
      const services = stages.services(snapshot, stages.renderedPools(snapshot))
      const policiesOf = stages.policiesOf(policies, backendTls, pools)
      const { gateways: ours } = gateways
      const parts = { gateways: ours, backends: deliverable, lists, reach, policies: policiesOf, services }
      const perGateway = stages.render(parts, reaching)
      const results = {
        snapshot,
        settings,
        gateways,
        routes: stages.sharedHosts.withLines(stages.availability.withFaults(routes)),
        models: models.models,
        backends,
        policies,
        backendTls,
        pools,
        sharedHostsOf: stages.sharedHosts.ofSet,
        addressesOf: stages.addresses(snapshot.Service.all),
      }
      return { perGateway, statuses: stages.statuses(results), problems: stages.problems(results) }
    },
  }
}

function stagesOf(memory: Memory, lookups: ClusterLookups, settings: TranslateSettings) {
  const { caps } = lookups.gateways
  const parents = parentLookup(memory)
  return {
    gateways: gatewayTable(memory, lookups.gateways, settings.controllerName),
    parents,
    routes: routeTables(memory, lookups.references, { parents, caps, defects: lookups.defects }),
    backends: backendTranslator(memory, lookups),
    models: modelTables(memory, { references: lookups.references, policies: lookups.scope }, { parents, caps }),
    deliverable: keptMap<DeliveredBackend>(),
    policies: policyTables(memory, lookups, { parents, caps }),
    availability: availabilityOf(memory, {
      areEndpointsComplete: settings.areEndpointsComplete === true,
      hostname: lookups.references.services.hostname,
    }),
    sharedHosts: sharedHostNotes(memory),
    renderedPools: poolRenderer(memory, lookups.references.pools),
    services: serviceRenderer(memory, lookups.references.services),
    policiesOf: groupedByGateway(),
    lists: listsWithModels(),
    render: gatewayRenderer(),
    statuses: statusCollector(memory, settings.controllerName),
    problems: problemCollector(),
    addresses: derived(gatewayAddresses),
  }
}

/** The same map as last time if its values are the same. */
function keptMap<V>(): (now: ReadonlyMap<string, V>) => ReadonlyMap<string, V> {
  let last: ReadonlyMap<string, V> = new Map()
  return (now) => (last = isSameMap(last, now) ? last : now)
}

type ListsOfGateways = ReadonlyMap<string, RoutesOfGateway>

interface WithModels {
  readonly from: readonly [list: RoutesOfGateway, ofModels: readonly Route[]]
  readonly list: RoutesOfGateway
}

/** By Gateway. The same lists where there are no models, and where neither has changed. */
function listsWithModels(): (
  attached: ListsOfGateways,
  ofModels: ReadonlyMap<string, readonly Route[]>,
) => ListsOfGateways {
  let known: ReadonlyMap<string, WithModels> = new Map()
  let last: ListsOfGateways = new Map()
  return (attached, ofModels) => {
    if (ofModels.size === 0) return attached
    const now = new Map<string, WithModels>()
    const lists = new Map(attached)
    for (const [key, routes] of ofModels) {
      const list = attached.get(key)
      if (list === undefined || routes.length === 0) continue
      const [before, from] = [known.get(key), [list, routes] as const]
      const isKnown = before !== undefined && isIdentical(before.from, from)
      const both = isKnown ? before : { from, list: { ...list, routes: [...list.routes, ...routes] } }
      now.set(key, both)
      lists.set(key, both.list)
    }
    known = now
    return (last = isSameInOrder(last, lists) ? last : lists)
  }
}

/** Of each list, what a Gateway receives: the same lists while they are the same, and the same object for all. */
function groupedByGateway(): (...lists: readonly (readonly DeliveredPolicy[])[]) => GroupedPolicies {
  let groups: readonly Grouped<DeliveredPolicy>[] = []
  const known = new Map<string, readonly (readonly DeliveredPolicy[])[]>()
  const lookup = (gateway: string): readonly (readonly DeliveredPolicy[])[] => {
    const kept = known.get(gateway)
    if (kept !== undefined) return kept
    const lists = groups.map((group) => group.at(gateway))
    // A Gateway that is gone has no policies.
    if (lists.some(({ length }) => length > 0)) known.set(gateway, lists)
    return lists
  }
  let last: GroupedPolicies = { version: 0, changed: new Set(), at: lookup }
  return (...lists) => {
    const before = groups
    groups = lists.map((list, place) => (before[place] ?? Grouped.of<DeliveredPolicy>([], gatewaysOf)).after(list))
    if (isIdentical(before, groups)) return last
    const changed = new Set(
      groups.flatMap((group, place) =>
        group.changedSince(before[place] ?? Grouped.of<DeliveredPolicy>([], gatewaysOf)),
      ),
    )
    for (const key of changed) known.delete(key)
    return (last = { version: last.version + 1, changed, at: lookup })
  }
}

function gatewaysOf({ perGateway }: DeliveredPolicy): readonly string[] {
  return [...perGateway.keys()]
}

function backendTranslator(
  memory: Memory,
  { scope, defects }: ClusterLookups,
): () => ReadonlyMap<string, BackendTranslation> {
  const remember = memory.table<GwBackend, BackendTranslation>()
  const broken = (backend: GwBackend, caught: Caught): BackendTranslation =>
    unusable(backend, [{ path: 'spec', ...caught, severity: 'error' }])
  const translate = (backend: GwBackend): BackendTranslation =>
    defects.guarded(
      { object: backend, path: 'spec', what: 'the backend' },
      () => translateBackend(backend, scope),
      (caught) => broken(backend, caught),
    )
  return () => {
    const all = scope.references.snapshot.GwBackend.all
    return new Map(all.map((backend) => [keyOf(backend), remember(backend, [], () => translate(backend))]))
  }
}
