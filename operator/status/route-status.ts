// The status of a route: one entry for each parentRef of this controller, always with both Accepted and ResolvedRefs.
import { GROUP } from '#api/group.ts'
import { SharedParts } from '#api/incremental/shared-parts.ts'
import type { RouteFault } from '../translate/route-fault.ts'
import type { AttachedRoute, ParentResult } from '../translate/route/routes.ts'
import { condition, problemLine, sharedHostCondition } from './condition.ts'
import type { Condition, RouteBody } from '../translate/object-status.ts'

/** Present only when it is False: nothing to write for the many routes whose backends can answer. */
const BACKENDS_AVAILABLE = `${GROUP}/BackendsAvailable`

export function routeStatus(attached: AttachedRoute, controllerName: string): RouteBody {
  const { route, translation, parents, unavailable = [] } = attached
  const { generation } = route.metadata
  const resolved = resolvedCondition(translation.unresolved, generation)
  const shared = sharedHostCondition(attached.sharedHosts, generation)
  const available = availableCondition(unavailable, generation)
  return SHARED.of({
    parents: parents.map((parent) => ({
      parentRef: parent.parentRef,
      controllerName,
      conditions: [acceptedCondition(parent, { ...translation, generation }), resolved, ...available, ...shared],
    })),
  })
}

/** Most routes of a Gateway have the same status. */
const SHARED = new SharedParts()

interface RouteFacts {
  readonly faults: readonly RouteFault[]
  readonly notProgrammed: readonly RouteFault[]
  readonly generation: number | undefined
}

function acceptedCondition({ acceptance }: ParentResult, { faults, notProgrammed, generation }: RouteFacts): Condition {
  const type = 'Accepted'
  if ('denial' in acceptance) return condition({ type, isTrue: false, ...acceptance.denial, generation })
  const [first] = faults
  if (first !== undefined) {
    return condition({ type, isTrue: false, reason: first.reason, message: lines(faults), generation })
  }
  const message = ['Route is accepted', ...lines(notProgrammed)]
  return condition({ type, isTrue: true, reason: 'Accepted', message, generation })
}

function resolvedCondition(unresolved: readonly RouteFault[], generation: number | undefined): Condition {
  const [first] = unresolved
  const type = 'ResolvedRefs'
  if (first === undefined) {
    return condition({ type, isTrue: true, reason: type, message: 'All references are resolved', generation })
  }
  return condition({ type, isTrue: false, reason: first.reason, message: lines(unresolved), generation })
}

/** Gateway API has no reason for these: the references are resolved, a Service without endpoints is a valid backend. */
function availableCondition(unavailable: readonly RouteFault[], generation: number | undefined): Condition[] {
  const [first] = unavailable
  if (first === undefined) return []
  const message = lines(unavailable)
  return [condition({ type: BACKENDS_AVAILABLE, isTrue: false, reason: first.reason, message, generation })]
}

function lines(faults: readonly RouteFault[]): string[] {
  return faults.map(problemLine)
}
