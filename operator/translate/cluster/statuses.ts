// Statuses of every object that this controller serves or reports about. Another object gets a status only if an old
// entry of this controller must be removed.
import { isIdentical } from '#api/incremental/identical.ts'
import { backendStatus } from '../../status/backend-status.ts'
import { backendTlsPolicyStatus } from '../../status/backend-tls-policy-status.ts'
import { gatewayClassStatus } from '../../status/gateway-class-status.ts'
import { gatewayStatus, listenerSetStatus } from '../../status/gateway-status.ts'
import type { ObjectStatus } from '../object-status.ts'
import { inferencePoolStatus } from '../../status/inference-pool-status.ts'
import { modelStatus } from '../../status/model-status.ts'
import { policyStatus } from '../../status/policy-status.ts'
import { routeStatus } from '../../status/route-status.ts'
import type { Listener } from '../gateway/listener.ts'
import { type ObjectRef, refOf } from '../object-ref.ts'
import type { BackendTranslation } from '../backend/backend.ts'
import type { OurGateway, OurListenerSet } from '../gateway/gateways.ts'
import type { PoolAtGateways } from '../inference/pools.ts'
import { mapped, tally } from '../lists.ts'
import type { Memory } from '../memory.ts'
import type { PolicyTranslation } from '../policy/attached-policies.ts'
import type { BackendTlsTranslation } from '../policy/backend-tls-policy.ts'
import type { AttachedModel } from '../model/models.ts'
import type { StageResults } from './results.ts'
import type { AttachedRoute } from '../route/routes.ts'
import { keptList, same, sameList } from '../same.ts'
import { sortedParts } from '../sorted.ts'

/** A status that is equal to the last one is the same object; so is the list of all. */
export function statusCollector(
  memory: Memory,
  controllerName: string,
): (results: StageResults) => readonly ObjectStatus[] {
  const order = sortedParts((parts: Statuses) => parts, statusKey)
  const ofGateways = gatewayStatuses(memory)
  const ofRoutes = statusesOf((attached: AttachedRoute) => statusOfRoute(attached, controllerName))
  const ofBackends = statusesOf(statusOfBackend)
  const ofModels = statusesOf((attached: AttachedModel) => statusOfModel(attached, controllerName))
  const ofPolicies = statusesOf((policy: PolicyTranslation) => statusOfPolicy(policy, controllerName))
  const ofBackendTls = statusesOf((policy: BackendTlsTranslation) => statusOfBackendTls(policy, controllerName))
  const ofPools = statusesOf((pool: PoolAtGateways) => statusOfPool(pool, controllerName))
  const [eachClass, eachGateway] = [mapped(onlyStatus), mapped(onlyStatus)]
  let classes = keptList<ObjectStatus>([], statusKey)
  return (results) => {
    classes = sameList(classes, classStatuses(results), statusKey)
    return order.of(
      eachClass(classes.list),
      eachGateway(ofGateways(results)),
      ofBackends([...results.backends.values()]),
      ofModels(results.models),
      ofPolicies(results.policies),
      ofBackendTls(results.backendTls),
      ofPools(results.pools),
      ofRoutes(results.routes),
    )
  }
}

/** Of one object: one or none. */
type Statuses = readonly ObjectStatus[]

function onlyStatus(status: ObjectStatus): Statuses {
  return [status]
}

/** `statusOf`: undefined if the object gets no status. */
function statusesOf<A>(statusOf: (item: A) => ObjectStatus | undefined): (items: readonly A[]) => readonly Statuses[] {
  return mapped((item: A, before: Statuses | undefined) => {
    const status = statusOf(item)
    return status === undefined ? NOTHING : same(before, onlyStatus(status))
  })
}

const NOTHING: Statuses = []

function statusKey({ kind, namespace, name }: ObjectRef): string {
  return [kind, namespace, name].join('/')
}

function classStatuses({ snapshot, settings }: StageResults): ObjectStatus[] {
  return snapshot.GatewayClass.all
    .filter(({ spec }) => spec.controllerName === settings.controllerName)
    .map((one) => ({ ...refOf(one), status: gatewayClassStatus(one, settings.className) }))
}

/** Of Gateways and ListenerSets: those whose listeners, addresses and numbers of routes are the same stay the same. */
function gatewayStatuses(memory: Memory): (results: StageResults) => readonly ObjectStatus[] {
  const countsOfRoutes = tally(({ listeners }: AttachedRoute) => listeners)
  const countsOfModels = tally(({ listeners }: AttachedModel) => listeners)
  const ofGateway = memory.table<OurGateway, ObjectStatus>()
  const ofSet = memory.table<OurListenerSet, ObjectStatus>()
  let kept = keptList<ObjectStatus>([], statusKey)
  let inputs: readonly unknown[] = []
  return ({ gateways, routes, models, addressesOf, sharedHostsOf }) => {
    const [ofRoutes, ofModels] = [countsOfRoutes(routes), countsOfModels(models)]
    const now = [gateways, ofRoutes, ofModels, addressesOf, sharedHostsOf]
    if (isIdentical(inputs, now)) return kept.list
    inputs = now
    const attachedRoutes = (listener: Listener): number =>
      (ofRoutes.get(listener.forRoutes) ?? 0) + (ofModels.get(listener.forRoutes) ?? 0)
    const statuses = [...gateways.gateways.values()].map((ours) => {
      const addresses = addressesOf(ours.gateway)
      const inputs = [...addresses.flatMap(({ type, value }) => [type, value]), ...ours.listeners.map(attachedRoutes)]
      return ofGateway(ours, inputs, () => ({
        ...refOf(ours.gateway),
        status: gatewayStatus({ ours, addresses, attachedRoutes }),
      }))
    })
    const ofSets = [...gateways.listenerSets.values()].map((ours) => {
      const sharedHosts = sharedHostsOf(ours.set)
      return ofSet(ours, [sharedHosts, ...ours.parent.listeners.map(attachedRoutes)], () => ({
        ...refOf(ours.set),
        status: listenerSetStatus({ ours, attachedRoutes, sharedHosts }),
      }))
    })
    kept = sameList(kept, [...statuses, ...ofSets], statusKey)
    return kept.list
  }
}

function statusOfRoute(attached: AttachedRoute, controllerName: string): ObjectStatus | undefined {
  const { parents, route } = attached
  if (parents.length === 0 && !hasEntry(route.status?.parents, controllerName)) return undefined
  return { ...refOf(route), status: routeStatus(attached, controllerName) }
}

function statusOfBackend({ backend, isUsable, problems }: BackendTranslation): ObjectStatus {
  const status = backendStatus({ isUsable, problems, generation: backend.metadata.generation })
  return { ...refOf(backend), status }
}

function statusOfModel(attached: AttachedModel, controllerName: string): ObjectStatus | undefined {
  const { model, parents } = attached
  if (parents.length === 0 && !hasEntry(model.status?.parents, controllerName)) return undefined
  return { ...refOf(model), status: modelStatus(attached, controllerName) }
}

function statusOfPolicy(
  { policy, ...translation }: PolicyTranslation,
  controllerName: string,
): ObjectStatus | undefined {
  const status = policyStatus({ ...translation, controllerName, generation: policy.metadata.generation })
  const isSilent = status.ancestors.length === 0 && !hasEntry(policy.status?.ancestors, controllerName)
  return isSilent ? undefined : { ...refOf(policy), status }
}

function statusOfBackendTls(translation: BackendTlsTranslation, controllerName: string): ObjectStatus | undefined {
  const { policy, perGateway } = translation
  if (perGateway.size === 0 && !hasEntry(policy.status?.ancestors, controllerName)) return undefined
  return { ...refOf(policy), status: backendTlsPolicyStatus(translation, controllerName) }
}

function statusOfPool(attached: PoolAtGateways, controllerName: string): ObjectStatus | undefined {
  const { pool, perGateway } = attached
  if (perGateway.size === 0 && !hasEntry(pool.status?.parents, controllerName)) return undefined
  return { ...refOf(pool), status: inferencePoolStatus(attached, controllerName) }
}

function hasEntry(
  entries: ReadonlyArray<{ readonly controllerName?: string }> | undefined,
  controllerName: string,
): boolean {
  return entries?.some((entry) => entry.controllerName === controllerName) ?? false
}
