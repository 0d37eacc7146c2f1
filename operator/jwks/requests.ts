// Which key sets the objects of a snapshot need: each combination of URL and connection settings once, with the
// shortest time to live of its owners. Pure; fetcher.ts fetches them.
import type { GwPolicy } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { BackendMCP, RemoteJWKS } from '#api/v1alpha1/shared.gen.ts'
import { durationMs } from '../translate/duration.ts'
import { credentialFinder } from '../translate/brought-credentials.ts'
import { Defects } from '../translate/defects.ts'
import { grantChecker, referenceRules, type RefusalOf } from '../translate/grants.ts'
import type { KubeObject } from '../translate/kube.ts'
import { sortedBy } from '../translate/order.ts'
import { jwksRequest, type JwksRequest } from '../translate/policy/jwks-request.ts'
import { fieldScope, type PolicyScope } from '../translate/policy/scope.ts'
import { serviceLookup } from '../translate/service/services.ts'
import type { Snapshot } from '../translate/snapshot.ts'
import type { TranslateSettings } from '../translate/translation.ts'

/**
 * When a key set is fetched again: after a fixed time; or as the headers of the response require (standalone files), at
 * the earliest after a minute, and 15 s after a failure.
 */
export type Refresh = { readonly afterMs: number } | 'asServerSays'

export interface OwnedRequest extends JwksRequest {
  readonly refresh: Refresh
}

/** The schema's default of `cacheDuration`. */
const CACHE_MS = 5 * 60 * 1000

export function jwksRequests(
  snapshot: Snapshot,
  settings: Pick<TranslateSettings, 'clusterDomain' | 'backendRefGrantMode'>,
): readonly OwnedRequest[] {
  const services = serviceLookup(snapshot, settings.clusterDomain)
  // Translation finds the same defects, and reports them.
  const defects = new Defects()
  const scope: PolicyScope = {
    references: { snapshot, services, pools: undefined, refusalOf: refusals(snapshot, settings, defects) },
    keySets: () => undefined,
    defects,
  }
  const byKey = new Map<string, { readonly request: JwksRequest; ttlMs: number }>()
  for (const { owner, remote } of ownedSets(snapshot)) {
    const request = requestOrNothing(remote, owner, scope)
    if (request === undefined) continue
    const ttlMs = durationMs(remote.cacheDuration ?? '') ?? CACHE_MS
    const known = byKey.get(request.key)
    if (known === undefined) byKey.set(request.key, { request, ttlMs })
    else known.ttlMs = Math.min(known.ttlMs, ttlMs)
  }
  const requests = [...byKey.values()].map(({ request, ttlMs }) => ({ ...request, refresh: { afterMs: ttlMs } }))
  return sortedBy(requests, ({ key }) => key)
}

/** The same rules as in translation of policies and backends: a forbidden reference is not fetched either. */
function refusals(
  snapshot: Snapshot,
  { backendRefGrantMode }: Pick<TranslateSettings, 'backendRefGrantMode'>,
  defects: Defects,
): RefusalOf {
  return referenceRules(backendRefGrantMode, {
    isGranted: grantChecker(snapshot.ReferenceGrant.all),
    bringsCredentials: credentialFinder(() => snapshot, defects),
  }).ofPolicies
}

interface OwnedSet {
  readonly owner: KubeObject
  readonly remote: RemoteJWKS
}

function ownedSets(snapshot: Snapshot): OwnedSet[] {
  const policies = snapshot.GwPolicy.all.filter(hasTargets).map((owner) => ({ owner, remotes: ofPolicy(owner) }))
  const backends = snapshot.GwBackend.all.map((owner) => ({ owner, remotes: ofMcp(owner.spec.policies?.mcp) }))
  return [...policies, ...backends].flatMap(({ owner, remotes }) => remotes.map((remote) => ({ owner, remote })))
}

/** Policies that target nothing have no effect, so nothing is fetched for them. */
function hasTargets({ spec: { targetRefs = [], targetSelectors = [] } }: GwPolicy): boolean {
  return targetRefs.length > 0 || targetSelectors.length > 0
}

function ofPolicy({ spec: { traffic, backend } }: GwPolicy): RemoteJWKS[] {
  const providers = traffic?.jwtAuthentication?.providers ?? []
  return [...providers.flatMap(({ jwks }) => jwks.remote ?? []), ...ofMcp(backend?.mcp)]
}

function ofMcp(mcp: BackendMCP | undefined): RemoteJWKS[] {
  const remote = mcp?.authentication?.jwks
  return remote === undefined ? [] : [remote]
}

/** Translation reports references that cannot be resolved or do not match the schema. */
function requestOrNothing(remote: RemoteJWKS, owner: KubeObject, scope: PolicyScope): JwksRequest | undefined {
  try {
    const request = jwksRequest(remote, fieldScope(owner, new Set(), scope))
    return 'message' in request ? undefined : request
  } catch {
    return undefined
  }
}
