// Every problem with its object, for logs, events and the command line. Statuses report the same in their own form.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { Listener, ListenerFault } from '../gateway/listener.ts'
import type { BackendTranslation } from '../backend/backend.ts'
import type { OurGateway } from '../gateway/gateways.ts'
import type { PoolAtGateways } from '../inference/pools.ts'
import { joined, mappedParts } from '../lists.ts'
import { derived } from '../memory.ts'
import type { AttachedModel } from '../model/models.ts'
import type { PolicyTranslation } from '../policy/attached-policies.ts'
import type { BackendTlsTranslation } from '../policy/backend-tls-policy.ts'
import { keptList, sameList } from '../same.ts'
import { overriddenLine } from '../model/precedence.ts'
import { describe, nameKey, type ObjectRef, refOf } from '../object-ref.ts'
import { sortedBy } from '../order.ts'
import { NOT_YET_PROGRAMMED } from '../policy/field.ts'
import type { StageResults } from './results.ts'
import type { AttachedRoute } from '../route/routes.ts'
import type { ObjectProblem } from '../translation.ts'

/** The same list as last time if all problems are the same objects. */
export function problemCollector(): (results: StageResults) => readonly ObjectProblem[] {
  const ofRoutes = mappedParts(routeProblems)
  const ofBackends = mappedParts(backendProblems)
  const ofModels = mappedParts(modelProblems)
  const ofPolicies = mappedParts(policyProblems)
  const ofBackendTls = mappedParts(backendTlsProblems)
  const ofPools = mappedParts(poolProblems)
  const ofGateways = mappedParts(gatewayProblems)
  const listOf = derived((gateways: ReadonlyMap<string, OurGateway>) => [...gateways.values()])
  const all = joined<ObjectProblem>()
  const inOrder = derived((problems: readonly ObjectProblem[]) =>
    sortedBy(problems, ({ object, path }) => `${object.kind}/${nameKey(object.namespace, object.name)}/${path}`),
  )
  let others = keptList<ObjectProblem>([], problemKey)
  return (results) => {
    others = sameList(others, [...malformedProblems(results), ...listenerSetProblems(results)], problemKey)
    return inOrder(
      all(
        others.list,
        ofGateways(listOf(results.gateways.gateways)),
        ofRoutes(results.routes),
        ofBackends([...results.backends.values()]),
        ofModels(results.models),
        ofPolicies(results.policies),
        ofBackendTls(results.backendTls),
        ofPools(results.pools),
      ),
    )
  }
}

function problemKey({ object, path, reason, message }: ObjectProblem): string {
  return [describe(object), path, reason, message].join(' ')
}

function malformedProblems({ snapshot }: StageResults): ObjectProblem[] {
  return snapshot.malformed.map((object) => ({
    path: 'spec',
    reason: 'Malformed',
    message: `the ${object.kind} does not match the schema of its kind and is ignored; check it against the CRD`,
    severity: 'error',
    object,
  }))
}

function listenerSetProblems({ gateways, sharedHostsOf }: StageResults): ObjectProblem[] {
  return [...gateways.listenerSets.values()].flatMap(({ set, refusal }) => [
    ...(refusal === undefined
      ? []
      : [{ path: 'spec.parentRef', ...refusal, severity: 'error' as const, object: refOf(set) }]),
    ...sharedHostProblems(sharedHostsOf(set), 'spec.listeners', refOf(set)),
  ])
}

function gatewayProblems({ gateway, listeners, internal, clientCertificate }: OurGateway): readonly ObjectProblem[] {
  const ofListeners = listeners.flatMap((listener) => {
    const owner = listener.set ?? gateway
    const index = owner.spec.listeners.findIndex(({ name }) => name === listener.spec.name)
    return faultsOf(listener).map(({ field, ...fault }) => {
      const path = `spec.listeners[${index}]${field === undefined ? '' : `.${field}`}`
      return { path, ...fault, severity: 'error' as const, object: refOf(owner) }
    })
  })
  const ofAnnotations = internal.faults.map((message) => ({
    path: 'metadata.annotations',
    reason: 'Invalid',
    message,
    severity: 'error' as const,
    object: refOf(gateway),
  }))
  const fault = clientCertificate?.fault
  const ofCertificate = fault === undefined ? [] : [problemOfGateway(gateway, fault)]
  const all = [...ofListeners, ...ofAnnotations, ...ofCertificate]
  return all.length === 0 ? NONE : all
}

/** Here the field is a field of the Gateway. */
function problemOfGateway(gateway: Gateway, { field = 'spec', reason, message }: ListenerFault): ObjectProblem {
  return { path: field, reason, message, severity: 'error', object: refOf(gateway) }
}

/** If there are other conditions, Programmed follows from them. */
function faultsOf({ notAccepted, unresolvedRef, notProgrammed }: Listener): ListenerFault[] {
  const causes = [notAccepted, unresolvedRef].filter((fault) => fault !== undefined)
  return causes.length === 0 && notProgrammed !== undefined ? [notProgrammed] : causes
}

const NONE: readonly ObjectProblem[] = []

function routeProblems({ route, translation, parents, sharedHosts }: AttachedRoute): readonly ObjectProblem[] {
  if (parents.length === 0 || (sharedHosts === undefined && isFine(translation, parents))) return NONE
  const object = refOf(route)
  const denials = parents.flatMap(({ acceptance }) =>
    'denial' in acceptance ? [{ path: 'spec.parentRefs', ...acceptance.denial }] : [],
  )
  const faults = [...denials, ...translation.faults, ...translation.unresolved, ...translation.notProgrammed]
  return [
    ...faults.map((fault) => ({
      ...fault,
      severity: fault.reason === NOT_YET_PROGRAMMED ? ('warning' as const) : ('error' as const),
      object,
    })),
    ...sharedHostProblems(sharedHosts ?? '', 'spec.hostnames', object),
  ]
}

function backendProblems({ backend, problems }: BackendTranslation): readonly ObjectProblem[] {
  return problems.length === 0 ? NONE : problems.map((one) => ({ ...one, object: refOf(backend) }))
}

function modelProblems({ model, parents, problems, overridden = new Map() }: AttachedModel): readonly ObjectProblem[] {
  if (parents.length === 0) return NONE
  const object = refOf(model)
  const denials = parents.flatMap(({ acceptance }) =>
    'denial' in acceptance ? [{ path: 'spec.parentRefs', ...acceptance.denial, severity: 'error' as const }] : [],
  )
  const losses = [...overridden].map(([listener, winner]) => ({
    path: 'spec.match.model',
    reason: 'Overridden',
    message: overriddenLine(listener, winner),
    severity: 'warning' as const,
  }))
  return [...denials, ...losses, ...problems].map((problem) => ({ ...problem, object }))
}

function sharedHostProblems(message: string, path: string, object: ObjectRef): ObjectProblem[] {
  return message === '' ? [] : [{ path, reason: 'HostShared', message, severity: 'warning', object }]
}

/** Nearly all are. */
function isFine(translation: AttachedRoute['translation'], parents: AttachedRoute['parents']): boolean {
  const { faults, unresolved, notProgrammed } = translation
  return faults.length + unresolved.length + notProgrammed.length === 0 && parents.every(isAccepted)
}

function isAccepted({ acceptance }: AttachedRoute['parents'][number]): boolean {
  return 'listeners' in acceptance
}

function backendTlsProblems(translation: BackendTlsTranslation): readonly ObjectProblem[] {
  const { policy, invalid, unresolved, missing } = translation
  return [...(invalid === undefined ? [] : [invalid]), ...unresolved, ...missing].map((fault) => ({
    ...fault,
    severity: 'error' as const,
    object: refOf(policy),
  }))
}

function policyProblems({ policy, problems, unattached, perGateway }: PolicyTranslation): readonly ObjectProblem[] {
  // The order of the Gateways depends on what changed last.
  const beyond = [...perGateway.values()].flatMap((one) => one.beyond ?? []).toSorted()
  if (problems.length + unattached.length + beyond.length === 0) return NONE
  const object = refOf(policy)
  return [
    ...problems.map((one) => ({ ...one, object })),
    ...beyond.map((message) => ({
      path: 'spec',
      reason: 'TooManyTargets',
      message,
      severity: 'error' as const,
      object,
    })),
    ...unattached.map((one) => ({
      ...one,
      reason: 'NotAttached',
      severity: 'warning' as const,
      object,
    })),
  ]
}

function poolProblems({ pool, fault }: PoolAtGateways): readonly ObjectProblem[] {
  if (fault === undefined) return NONE
  return [
    {
      path: 'spec.endpointPickerRef',
      reason: 'InvalidExtensionRef',
      message: fault,
      severity: 'error' as const,
      object: refOf(pool),
    },
  ]
}
