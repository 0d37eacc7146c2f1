// The status of a GwModel: one entry for each parentRef of ours. Faults of the model itself are reported in
// ResolvedRefs.
import type { GwModel } from '#api/v1alpha1/gwmodel.gen.ts'
import { INTERNAL_ERROR, type Problem } from '#api/problem.ts'
import type { RouteListener } from '../translate/gateway/listener.ts'
import type { AttachedModel } from '../translate/model/models.ts'
import { overriddenLine } from '../translate/model/precedence.ts'
import type { ParentResult } from '../translate/route/routes.ts'
import { condition } from './condition.ts'
import type { Condition, RouteBody } from '../translate/object-status.ts'

export function modelStatus(attached: AttachedModel, controllerName: string): RouteBody {
  const { model, parents, problems, overridden = NONE } = attached
  const { generation } = model.metadata
  const resolved = resolvedCondition(problems, generation)
  return {
    parents: parents.map((parent) => ({
      parentRef: parent.parentRef,
      controllerName,
      conditions: [acceptedCondition(parent, { problems, overridden, generation }), resolved],
    })),
  }
}

const NONE: ReadonlyMap<RouteListener, GwModel> = new Map()

interface Facts {
  readonly problems: readonly Problem[]
  readonly overridden: ReadonlyMap<RouteListener, GwModel>
  readonly generation: number | undefined
}

function acceptedCondition({ acceptance }: ParentResult, { problems, overridden, generation }: Facts): Condition {
  const type = 'Accepted'
  if ('denial' in acceptance) return condition({ type, isTrue: false, ...acceptance.denial, generation })
  const losses = acceptance.listeners.flatMap((listener) => {
    const winner = overridden.get(listener)
    return winner === undefined ? [] : [overriddenLine(listener, winner)]
  })
  if (losses.length > 0 && losses.length === acceptance.listeners.length) {
    return condition({ type, isTrue: false, reason: 'Overridden', message: losses, generation })
  }
  const warnings = problems.filter(({ severity }) => severity === 'warning')
  const message = ['Successfully accepted GwModel', ...losses, ...warnings.map(lineOf)]
  return condition({ type, isTrue: true, reason: type, message, generation })
}

function resolvedCondition(problems: readonly Problem[], generation: number | undefined): Condition {
  const type = 'ResolvedRefs'
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) {
    return condition({ type, isTrue: true, reason: type, message: 'All references are resolved', generation })
  }
  const reason = errors.some((error) => error.reason === INTERNAL_ERROR) ? INTERNAL_ERROR : 'Invalid'
  return condition({ type, isTrue: false, reason, message: errors.map(lineOf), generation })
}

function lineOf({ path, message }: Problem): string {
  return `${path}: ${message}`
}
