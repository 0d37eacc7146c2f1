// Translates one cluster again and again: what an object came to is remembered with all that was read for it, and what
// has not changed keeps its identity. Same output as a fresh translation, whatever came before.
import type { BackendTLSPolicy } from '#api/gateway/backendtlspolicy.gen.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { Route } from '#api/ir/types.gen.ts'
import type { GwBackend } from '#api/v1alpha1/gwbackend.gen.ts'
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import { availabilityOf } from './availability.ts'
import { type BackendTranslation, translateBackend, unusable } from './backend/backend.ts'
import type { DeliveredBackend } from './backend/delivered-backend.ts'
import { gatewayAddresses } from './gateway/addresses.ts'
import { type GatewayFamily, ourGateways } from './gateway/gateways.ts'
import { guarded, WRONG_FORM } from './guarded.ts'
import { attachPools, poolTranslator } from './inference/pools.ts'
import { poolRenderer } from './inference/rendered-pools.ts'
import { derived, Memory } from './memory.ts'
import { modelTables } from './model/models.ts'
import { keyOf } from './object-ref.ts'
import { type PayloadOutcome, translateBackendTlsPolicies } from './policy/backend-tls-policy.ts'
import type { Claims } from './policy/claims.ts'
import { followPolicies } from './policy/follow-policies.ts'
import { attachPolicies, type PolicyFields, translateFields } from './policy/policies.ts'
import { problemCollector } from './problems.ts'
import { NOTHING_REACHED, reachTracker } from './reach.ts'
import { gatewayRenderer } from './render-gateway.ts'
import type { RoutesOfGateway } from './route/placed-routes.ts'
import { routeTables } from './route/route-table.ts'
import { sharedHostNotes } from './route/shared-host-notes.ts'
import { serviceRenderer } from './service/rendered-services.ts'
import type { Snapshot } from './snapshot.ts'
import { statusCollector } from './statuses.ts'
import type { RenderedGateway, TranslateSettings, Translation } from './translation.ts'
import { type World, worldOf } from './world.ts'

export interface Translator {
  /** What the cluster of the snapshot comes to. Unchanged parts are the same objects as in the translation before. */
  translate(snapshot: Snapshot): Translation
}

export function createTranslator(settings: TranslateSettings): Translator {
  const memory = new Memory()
  const world = worldOf(memory, settings)
  const stages = stagesOf(memory, world, settings)
  return {
    translate(snapshot) {
      world.enter(snapshot)
      const gateways = ourGateways(world.gateways, settings.controllerName, stages.families)
      const backends = stages.backends()
      const { routes, perGateway: attached, gatewaysOf } = stages.routes(gateways)
      stages.availability.enter(snapshot, backends)
      stages.sharedHosts.enter(routes, gateways)
      const models = stages.models(gateways)
      const deliverable = new Map<string, DeliveredBackend>([...backends, ...models.backends])
      const lists = new Map([...attached].map(([key, list]) => [key, withModels(list, models.routes.get(key))]))
      const led = {
        // Targets are looked up anew each time.
        snapshot: world.references.snapshot,
        gateways,
        reach: stages.reach(lists, deliverable),
        routeGateways: gatewaysOf,
        serviceHostname: world.references.services.hostname,
        pools: world.references.pools,
      }
      const fields = translateFields(world.scope, stages.fields)
      const translatedPools = stages.pools()
      const reach = followPolicies({ policies: fields, pools: translatedPools }, led, deliverable)
      const lookup = { ...led, reach }
      const claims: Claims = new Map()
      const policies = attachPolicies(fields, { lookup, claims, caps: world.gateways.caps })
      // After GwPolicy: where both set TLS of one target, our own API wins.
      const backendTls = translateBackendTlsPolicies({ lookup, claims, remember: stages.backendTls })
      // Last: what users say about the TLS of a picker goes before what pools say.
      const pools = attachPools(translatedPools, reach, claims)
      const services = stages.services(snapshot, stages.renderedPools(snapshot))
      const delivered = [...policies, ...backendTls, ...pools]
      const perGateway: ReadonlyMap<string, RenderedGateway> = stages.render(
        [...gateways.gateways].map(([key, ours]) => ({
          ours,
          backends: deliverable,
          policies: delivered,
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

function stagesOf(memory: Memory, world: World, settings: TranslateSettings) {
  const { caps } = world.gateways
  return {
    families: memory.table<Gateway, GatewayFamily>(),
    fields: memory.table<GwPolicy, PolicyFields>(),
    backendTls: memory.table<BackendTLSPolicy, PayloadOutcome>(),
    routes: routeTables(memory, world.references, caps),
    backends: backendTranslator(memory, world),
    models: modelTables(memory, { references: world.references, policies: world.scope }, caps),
    availability: availabilityOf(memory, {
      areEndpointsComplete: settings.areEndpointsComplete === true,
      hostname: world.references.services.hostname,
    }),
    sharedHosts: sharedHostNotes(memory),
    pools: poolTranslator(memory, world.references),
    renderedPools: poolRenderer(memory, world.references.pools),
    services: serviceRenderer(memory, world.references.services),
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

function backendTranslator(memory: Memory, { scope }: World): () => ReadonlyMap<string, BackendTranslation> {
  const remember = memory.table<GwBackend, BackendTranslation>()
  const broken = (backend: GwBackend): BackendTranslation =>
    unusable(backend, [{ path: 'spec', reason: 'Malformed', message: `the backend ${WRONG_FORM}`, severity: 'error' }])
  const translate = (backend: GwBackend): BackendTranslation =>
    guarded(
      () => translateBackend(backend, scope),
      () => broken(backend),
    )
  return () => {
    const all = scope.references.snapshot.GwBackend.all
    return new Map(all.map((backend) => [keyOf(backend), remember(backend, [], () => translate(backend))]))
  }
}
