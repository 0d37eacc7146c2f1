// Every problem with its object, for logs, events and the command line. Statuses report the same in their own form.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { Listener, ListenerFault } from '../gateway/listener.ts'
import { flatMapped, mapped } from '../lists.ts'
import { overriddenLine } from '../model/precedence.ts'
import { nameKey, type ObjectRef, refOf } from '../object-ref.ts'
import { sortedBy } from '../order.ts'
import { NOT_YET_PROGRAMMED } from '../policy/field.ts'
import type { StageResults } from './results.ts'
import type { AttachedRoute } from '../route/routes.ts'
import type { ObjectProblem } from '../translation.ts'

export function problemCollector(): (results: StageResults) => ObjectProblem[] {
  const problemsOf = mapped(routeProblems)
  const ofRoutes = flatMapped((problems: readonly ObjectProblem[]) => problems)
  return (results) => collectProblems(results, ofRoutes(problemsOf(results.routes)))
}

function collectProblems(results: StageResults, ofRoutes: readonly ObjectProblem[]): ObjectProblem[] {
  const problems = [
    ...malformedProblems(results),
    ...listenerProblems(results),
    ...ofRoutes,
    ...[...results.backends.values()].flatMap(({ backend, problems: own }) =>
      own.map((one) => ({ ...one, object: refOf(backend) })),
    ),
    ...modelProblems(results),
    ...policyProblems(results),
    ...backendTlsProblems(results),
    ...poolProblems(results),
  ]
  return sortedBy(problems, ({ object, path }) => `${object.kind}/${nameKey(object.namespace, object.name)}/${path}`)
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

function listenerProblems({ gateways, sharedHostsOf }: StageResults): ObjectProblem[] {
  const ofSets = [...gateways.listenerSets.values()].flatMap(({ set, refusal }) =>
    refusal === undefined
      ? []
      : [{ path: 'spec.parentRef', ...refusal, severity: 'error' as const, object: refOf(set) }],
  )
  const ofListeners = [...gateways.gateways.values()].flatMap(({ listeners }) =>
    listeners.flatMap((listener) => {
      const owner = listener.set ?? listener.gateway
      const index = owner.spec.listeners.findIndex(({ name }) => name === listener.spec.name)
      return faultsOf(listener).map(({ field, ...fault }) => {
        const path = `spec.listeners[${index}]${field === undefined ? '' : `.${field}`}`
        return { path, ...fault, severity: 'error' as const, object: refOf(owner) }
      })
    }),
  )
  const ofHosts = [...gateways.listenerSets.values()].flatMap(({ set }) =>
    sharedHostProblems(sharedHostsOf(set), 'spec.listeners', refOf(set)),
  )
  const ofAnnotations = [...gateways.gateways.values()].flatMap(({ gateway, internal }) =>
    internal.faults.map((message) => ({
      path: 'metadata.annotations',
      reason: 'Invalid',
      message,
      severity: 'error' as const,
      object: refOf(gateway),
    })),
  )
  const ofCertificates = [...gateways.gateways.values()].flatMap(({ gateway, clientCertificate }) =>
    clientCertificate?.fault === undefined ? [] : [problemOfGateway(gateway, clientCertificate.fault)],
  )
  return [...ofSets, ...ofListeners, ...ofHosts, ...ofAnnotations, ...ofCertificates]
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

function modelProblems({ models }: StageResults): ObjectProblem[] {
  return models.flatMap(({ model, parents, problems, overridden = [] }) => {
    if (parents.length === 0) return []
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
  })
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

function backendTlsProblems({ backendTls }: StageResults): ObjectProblem[] {
  return backendTls.flatMap(({ policy, invalid, unresolved, missing }) =>
    [...(invalid === undefined ? [] : [invalid]), ...unresolved, ...missing].map((fault) => ({
      ...fault,
      severity: 'error' as const,
      object: refOf(policy),
    })),
  )
}

function policyProblems({ policies }: StageResults): ObjectProblem[] {
  return policies.flatMap(({ policy, problems, unattached, perGateway }) => {
    const object = refOf(policy)
    return [
      ...problems.map((one) => ({ ...one, object })),
      ...[...perGateway.values()].flatMap(({ beyond }) =>
        beyond === undefined
          ? []
          : [{ path: 'spec', reason: 'TooManyTargets', message: beyond, severity: 'error' as const, object }],
      ),
      ...unattached.map((one) => ({
        ...one,
        reason: 'NotAttached',
        severity: 'warning' as const,
        object,
      })),
    ]
  })
}

function poolProblems({ pools }: StageResults): ObjectProblem[] {
  return pools.flatMap(({ pool, fault }) =>
    fault === undefined
      ? []
      : [
          {
            path: 'spec.endpointPickerRef',
            reason: 'InvalidExtensionRef',
            message: fault,
            severity: 'error' as const,
            object: refOf(pool),
          },
        ],
  )
}
