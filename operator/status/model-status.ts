// The status of a GwModel: one entry for each parentRef of ours. What is wrong with the model itself is said in
// ResolvedRefs.
import type { Problem } from '#api/problem.ts'
import type { AttachedModel } from '../translate/model/models.ts'
import type { ParentResult } from '../translate/route/routes.ts'
import { type Condition, condition } from './condition.ts'
import type { RouteBody } from './object-status.ts'

export function modelStatus({ model, parents, problems }: AttachedModel, controllerName: string): RouteBody {
  const { generation } = model.metadata
  const resolved = resolvedCondition(problems, generation)
  return {
    parents: parents.map((parent) => ({
      parentRef: parent.parentRef,
      controllerName,
      conditions: [acceptedCondition(parent, { problems, generation }), resolved],
    })),
  }
}

interface Facts {
  readonly problems: readonly Problem[]
  readonly generation: number | undefined
}

function acceptedCondition({ acceptance }: ParentResult, { problems, generation }: Facts): Condition {
  const type = 'Accepted'
  if ('denial' in acceptance) return condition({ type, isTrue: false, ...acceptance.denial, generation })
  const warnings = problems.filter(({ severity }) => severity === 'warning')
  const message = ['Successfully accepted GwModel', ...warnings.map(lineOf)]
  return condition({ type, isTrue: true, reason: type, message, generation })
}

function resolvedCondition(problems: readonly Problem[], generation: number | undefined): Condition {
  const type = 'ResolvedRefs'
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) {
    return condition({ type, isTrue: true, reason: type, message: 'All references are resolved', generation })
  }
  return condition({ type, isTrue: false, reason: 'Invalid', message: errors.map(lineOf), generation })
}

function lineOf({ path, message }: Problem): string {
  return `${path}: ${message}`
}
