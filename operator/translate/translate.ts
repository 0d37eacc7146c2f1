// The control plane's pure middle: a snapshot of the cluster in, rendered configurations and statuses out. Knows no
// clock, network, environment or randomness, and never throws for what a user wrote.
import { type BackendTranslation, translateBackend, unusable } from './backend/backend.ts'
import { gatewayAddresses } from './gateway/addresses.ts'
import { ourGateways } from './gateway/gateways.ts'
import { grantChecker } from './grants.ts'
import { guarded, WRONG_FORM } from './guarded.ts'
import { collectProblems } from './problems.ts'
import { collectStatuses } from './statuses.ts'
import { keyOf } from './object-ref.ts'
import { translateBackendTlsPolicies } from './policy/backend-tls-policy.ts'
import type { Claims } from './policy/claims.ts'
import { followPolicies } from './policy/follow-policies.ts'
import { attachPolicies, translateFields } from './policy/policies.ts'
import { policyScope, type PolicyScope } from './policy/scope.ts'
import { type GrowingReach, type Reach, reachOf } from './reach.ts'
import type { ReferenceScope } from './reference.ts'
import { renderGateway } from './render-gateway.ts'
import { routeTable } from './route/route-table.ts'
import { servicesOf } from './service/services.ts'
import type { Snapshot } from './snapshot.ts'
import type { RenderedGateway, TranslateSettings, Translation } from './translation.ts'

export function translate(snapshot: Snapshot, settings: TranslateSettings): Translation {
  const isPermitted = grantChecker(snapshot.ReferenceGrant.all)
  const services = servicesOf(snapshot, settings.clusterDomain)
  const references: ReferenceScope = { snapshot, services, isPermitted }
  const gateways = ourGateways({ snapshot, isPermitted }, settings.controllerName)
  const { routes, perGateway: rendered, gatewaysOf } = routeTable(gateways, references)
  const scope = policyScope(references, settings)
  const backends = translateBackends(references, scope)
  const reach = new Map<string, GrowingReach>()
  for (const [key, list] of rendered) reach.set(key, reachOf([...list.routes, ...list.tcpRoutes], backends))
  const lookup = {
    snapshot,
    gateways,
    reach,
    routeGateways: gatewaysOf,
    serviceHostname: services.hostname,
  }
  const fields = translateFields(scope)
  followPolicies(fields, lookup, backends)
  const claims: Claims = new Map()
  const policies = attachPolicies(fields, lookup, claims)
  // After GwPolicy: where both set TLS of one target, our own API wins.
  const backendTls = translateBackendTlsPolicies(lookup, claims)
  const perGateway = new Map<string, RenderedGateway>()
  for (const [key, ours] of gateways.gateways) {
    const parts = {
      ours,
      backends,
      policies: [...policies, ...backendTls],
      services,
      reach: reach.get(key),
      ...(rendered.get(key) ?? { routes: [], tcpRoutes: [] }),
    }
    perGateway.set(key, renderGateway({ ...parts, reach: parts.reach ?? NOTHING_REACHED }))
  }
  const results = {
    snapshot,
    settings,
    gateways,
    routes,
    backends,
    policies,
    backendTls,
    addressesOf: gatewayAddresses(snapshot.Service.all),
  }
  return { perGateway, statuses: collectStatuses(results), problems: collectProblems(results) }
}

const NOTHING_REACHED: Reach = { services: new Map(), backends: new Set() }

function translateBackends(references: ReferenceScope, scope: PolicyScope): Map<string, BackendTranslation> {
  const byKey = new Map<string, BackendTranslation>()
  for (const backend of references.snapshot.GwBackend.all) {
    const translation = guarded(
      () => translateBackend(backend, references, scope),
      () =>
        unusable(backend, [
          { path: 'spec', reason: 'Malformed', message: `the backend ${WRONG_FORM}`, severity: 'error' },
        ]),
    )
    byKey.set(keyOf(backend), translation)
  }
  return byKey
}
