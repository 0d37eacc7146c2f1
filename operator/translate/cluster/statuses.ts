// Statuses of every object that this controller serves or reports about. Another object gets a status only if an old
// entry of this controller must be removed.
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
import { nameKey, type ObjectRef, refOf } from '../object-ref.ts'
import { flatMapped, joined, mapped, tally } from '../lists.ts'
import type { AttachedModel } from '../model/models.ts'
import type { StageResults } from './results.ts'
import type { AttachedRoute } from '../route/routes.ts'
import { keptList, same, sameList } from '../same.ts'
import { sorted } from '../sorted.ts'

/** A status that is equal to the last one is the same object. */
export function statusCollector(controllerName: string): (results: StageResults) => readonly ObjectStatus[] {
  const order = sorted<ObjectStatus>(statusKey)
  const routeStatuses = mapped((attached: AttachedRoute, before: readonly ObjectStatus[] | undefined) =>
    same(before, statusOfRoute(attached, controllerName)),
  )
  const ofRoutes = flatMapped((statuses: readonly ObjectStatus[]) => statuses)
  const countsOf = tally(({ listeners }: AttachedRoute) => listeners)
  const both = joined<ObjectStatus>()
  let others = keptList<ObjectStatus>([], statusKey)
  return (results) => {
    const now = [
      ...classStatuses(results),
      ...gatewayStatuses(results, countsOf(results.routes)),
      ...backendStatuses(results),
      ...modelStatuses(results),
      ...policyStatuses(results),
      ...backendTlsStatuses(results),
      ...poolStatuses(results),
    ]
    others = sameList(others, now, statusKey)
    return order.of(both(others.list, ofRoutes(routeStatuses(results.routes))))
  }
}

function statusKey({ kind, namespace, name }: ObjectRef): string {
  return `${kind}/${nameKey(namespace, name)}`
}

function classStatuses({ snapshot, settings }: StageResults): ObjectStatus[] {
  return snapshot.GatewayClass.all
    .filter(({ spec }) => spec.controllerName === settings.controllerName)
    .map((one) => ({ ...refOf(one), status: gatewayClassStatus(one, settings.className) }))
}

function gatewayStatuses(
  { gateways, models, addressesOf, sharedHostsOf }: StageResults,
  ofRoutes: ReadonlyMap<Listener, number>,
): ObjectStatus[] {
  const ofModels = tally(({ listeners }: AttachedModel) => listeners)(models)
  const attachedRoutes = (listener: Listener): number => (ofRoutes.get(listener) ?? 0) + (ofModels.get(listener) ?? 0)
  return [
    ...[...gateways.gateways.values()].map((ours) => ({
      ...refOf(ours.gateway),
      status: gatewayStatus({ ours, addresses: addressesOf(ours.gateway), attachedRoutes }),
    })),
    ...[...gateways.listenerSets.values()].map((ours) => ({
      ...refOf(ours.set),
      status: listenerSetStatus({ ours, attachedRoutes, sharedHosts: sharedHostsOf(ours.set) }),
    })),
  ]
}

const NOTHING: readonly ObjectStatus[] = []

function statusOfRoute(attached: AttachedRoute, controllerName: string): readonly ObjectStatus[] {
  const { parents, route } = attached
  if (parents.length === 0 && !hasEntry(route.status?.parents, controllerName)) return NOTHING
  return [{ ...refOf(route), status: routeStatus(attached, controllerName) }]
}

function backendStatuses({ backends }: StageResults): ObjectStatus[] {
  return [...backends.values()].map(({ backend, isUsable, problems }) => ({
    ...refOf(backend),
    status: backendStatus({ isUsable, problems, generation: backend.metadata.generation }),
  }))
}

function modelStatuses({ models, settings: { controllerName } }: StageResults): ObjectStatus[] {
  return models
    .filter(({ model, parents }) => parents.length > 0 || hasEntry(model.status?.parents, controllerName))
    .map((one) => ({ ...refOf(one.model), status: modelStatus(one, controllerName) }))
}

function policyStatuses({ policies, settings: { controllerName } }: StageResults): ObjectStatus[] {
  return policies.flatMap(({ policy, ...translation }) => {
    const status = policyStatus({ ...translation, controllerName, generation: policy.metadata.generation })
    const isSilent = status.ancestors.length === 0 && !hasEntry(policy.status?.ancestors, controllerName)
    return isSilent ? [] : [{ ...refOf(policy), status }]
  })
}

function backendTlsStatuses({ backendTls, settings: { controllerName } }: StageResults): ObjectStatus[] {
  return backendTls
    .filter(({ policy, perGateway }) => perGateway.size > 0 || hasEntry(policy.status?.ancestors, controllerName))
    .map((translation) => ({
      ...refOf(translation.policy),
      status: backendTlsPolicyStatus(translation, controllerName),
    }))
}

function poolStatuses({ pools, settings: { controllerName } }: StageResults): ObjectStatus[] {
  return pools
    .filter(({ pool, perGateway }) => perGateway.size > 0 || hasEntry(pool.status?.parents, controllerName))
    .map((one) => ({ ...refOf(one.pool), status: inferencePoolStatus(one, controllerName) }))
}

function hasEntry(
  entries: ReadonlyArray<{ readonly controllerName?: string }> | undefined,
  controllerName: string,
): boolean {
  return entries?.some((entry) => entry.controllerName === controllerName) ?? false
}
