// Translates one cluster again and again: keeps the result for each object with everything that was read for it.
// Unchanged parts stay the same objects. Returns the same output as a fresh translation.
import type { BackendTLSPolicy } from '#api/gateway/backendtlspolicy.gen.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { Route } from '#api/ir/types.gen.ts'
import { Grouped } from '#api/incremental/grouped.ts'
import type { GwBackend } from '#api/v1alpha1/gwbackend.gen.ts'
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import { availabilityOf } from './availability.ts'
import { type BackendTranslation, translateBackend, unusable } from '../backend/backend.ts'
import type { DeliveredBackend } from '../delivered-backend.ts'
import { gatewayAddresses } from '../gateway/addresses.ts'
import { type GatewayFamily, ourGateways } from '../gateway/gateways.ts'
import type { Caught, Defect } from '../defects.ts'
import { attachPools, poolTranslator } from '../inference/pools.ts'
import { poolRenderer } from '../service/rendered-pools.ts'
import { derived, Memory } from '../memory.ts'
import { modelTables } from '../model/models.ts'
import { keyOf } from '../object-ref.ts'
import { type PayloadOutcome, translateBackendTlsPolicies } from '../policy/backend-tls-policy.ts'
import type { Claims } from '../policy/claims.ts'
import { followPolicies } from '../policy/follow-policies.ts'
import { attachPolicies, type PolicyFields, translateFields } from '../policy/policies.ts'
import { problemCollector } from './problems.ts'
import { NOTHING_REACHED, reachTracker } from '../reach.ts'
import { type DeliveredPolicy, gatewayRenderer } from './render-gateway.ts'
import type { RoutesOfGateway } from '../route/placed-routes.ts'
import { routeTables } from '../route/route-table.ts'
import { sharedHostNotes } from '../route/shared-host-notes.ts'
import { serviceRenderer } from '../service/rendered-services.ts'
import type { Snapshot } from '../snapshot.ts'
import { statusCollector } from './statuses.ts'
import type { RenderedGateway, TranslateSettings, Translation } from '../translation.ts'
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
      const gateways = ourGateways(lookups.gateways, settings.controllerName, stages.families)
      const backends = stages.backends()
      const { routes, perGateway: attached, gatewaysOf: routeGateways } = stages.routes(gateways)
      stages.availability.enter(snapshot, backends)
      stages.sharedHosts.enter(routes, gateways)
      const models = stages.models(gateways)
      const deliverable = new Map<string, DeliveredBackend>([...backends, ...models.backends])
      const lists = new Map([...attached].map(([key, list]) => [key, withModels(list, models.routes.get(key))]))
      const led = {
        // Targets are looked up again each time.
        snapshot: lookups.references.snapshot,
        gateways,
        reach: stages.reach(lists, deliverable),
        routeGateways,
        serviceHostname: lookups.references.services.hostname,
        pools: lookups.references.pools,
      }
      const fields = translateFields(lookups.scope, stages.fields)
      const translatedPools = stages.pools()
      const reach = followPolicies({ policies: fields, pools: translatedPools }, led, deliverable)
      const lookup = { ...led, reach }
      const claims: Claims = new Map()
      const policies = attachPolicies(fields, { lookup, claims, caps: lookups.gateways.caps })
      // After GwPolicy: where both set TLS of one target, our own API wins.
      const backendTls = translateBackendTlsPolicies({
        lookup,
        claims,
        remember: stages.backendTls,
        defects: lookups.defects,
      })
      // Last: TLS settings that users make for a picker take precedence over those of pools.
      const pools = attachPools(translatedPools, reach, claims)
      const services = stages.services(snapshot, stages.renderedPools(snapshot))
      const policiesAt = stages.policiesAt(policies, backendTls, pools)
      const perGateway: ReadonlyMap<string, RenderedGateway> = stages.render(
        [...gateways.gateways].map(([key, ours]) => ({
          ours,
          backends: deliverable,
          policies: policiesAt(key),
          services,
          reach: reach.get(key) ?? NOTHING_REACHED,
          ...(lists.get(key) ?? NO_ROUTES),
        })),
      )
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
  return {
    families: memory.table<Gateway, GatewayFamily>(),
    fields: memory.table<GwPolicy, PolicyFields>(),
    backendTls: memory.table<BackendTLSPolicy, PayloadOutcome>(),
    routes: routeTables(memory, lookups.references, { caps, defects: lookups.defects }),
    backends: backendTranslator(memory, lookups),
    models: modelTables(memory, { references: lookups.references, policies: lookups.scope }, caps),
    availability: availabilityOf(memory, {
      areEndpointsComplete: settings.areEndpointsComplete === true,
      hostname: lookups.references.services.hostname,
    }),
    sharedHosts: sharedHostNotes(memory),
    pools: poolTranslator(memory, lookups.references),
    renderedPools: poolRenderer(memory, lookups.references.pools),
    services: serviceRenderer(memory, lookups.references.services),
    policiesAt: groupedByGateway<DeliveredPolicy>(),
    render: gatewayRenderer(),
    reach: reachTracker(),
    statuses: statusCollector(settings.controllerName),
    problems: problemCollector(),
    addresses: derived(gatewayAddresses),
  }
}

const NO_ROUTES: RoutesOfGateway = { routes: [], tcpRoutes: [] }

/** The same list where there are none. */
function withModels(list: RoutesOfGateway, ofModels: readonly Route[] = []): RoutesOfGateway {
  return ofModels.length === 0 ? list : { ...list, routes: [...list.routes, ...ofModels] }
}

/** Of each list, what a Gateway receives. */
function groupedByGateway<T extends DeliveredPolicy>(): (
  ...lists: readonly (readonly T[])[]
) => (gateway: string) => readonly (readonly T[])[] {
  let groups: readonly Grouped<T>[] = []
  return (...lists) => {
    groups = lists.map((list, at) => (groups[at] ?? Grouped.of<T>([], gatewaysOf)).after(list))
    return (gateway) => groups.map((group) => group.at(gateway))
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
