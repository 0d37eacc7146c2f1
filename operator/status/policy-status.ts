// The status of a GwPolicy: one entry for each Gateway that receives it, and one summary of what went nowhere.
import type { Problem } from '#api/problem.ts'
import { GATEWAY_GROUP, GW_GROUP } from '../translate/groups.ts'
import { compareText } from '../translate/order.ts'
import { type Condition, condition, problemLine } from './condition.ts'
import type { ParentRef, PolicyAncestorBody, PolicyBody } from './object-status.ts'

/** PolicyStatus allows this many entries. */
export const ANCESTORS_MAX = 16

export interface PolicyStatusInput {
  readonly controllerName: string
  readonly generation: number | undefined
  readonly problems: readonly Problem[]
  readonly hasEmissions: boolean
  /** By `namespace/name` of the Gateway. */
  readonly perGateway: ReadonlyMap<string, PolicyOutcome>
  /** Lines about targets that are missing or reach no Gateway. */
  readonly unattached: readonly string[]
}

export interface PolicyOutcome {
  readonly policies: { readonly length: number }
  readonly lost: ReadonlyArray<{ readonly field: string; readonly winner: string; readonly target: string }>
}

export function policyStatus(input: PolicyStatusInput): PolicyBody {
  const accepted = acceptedCondition(input)
  const ancestors = [...input.perGateway]
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, outcome]) => entry(input, gatewayRef(key), [accepted, ...attachedCondition(input, outcome)]))
  const isTooMany = ancestors.length + (input.unattached.length > 0 ? 1 : 0) > ANCESTORS_MAX
  if (!isTooMany && input.unattached.length === 0) return { ancestors }
  const kept = isTooMany ? ancestors.slice(0, ANCESTORS_MAX - 1) : ancestors
  const conditions = [
    accepted,
    ...(input.unattached.length === 0 ? [] : [notAttached(input)]),
    ...(isTooMany ? [summarized(input, ancestors.length - kept.length)] : []),
  ]
  return { ancestors: [...kept, entry(input, { group: GW_GROUP, name: 'StatusSummary' }, conditions)] }
}

function acceptedCondition({ problems, hasEmissions, generation }: PolicyStatusInput): Condition {
  const type = 'Accepted'
  if (problems.length === 0) {
    return condition({ type, isTrue: true, reason: 'Valid', message: 'Policy accepted', generation })
  }
  const message = [...new Set(problems.map(problemLine))].join('\n')
  return condition({
    type,
    isTrue: hasEmissions,
    reason: hasEmissions ? 'PartiallyValid' : 'Invalid',
    message,
    generation,
  })
}

/** Absent on an entry that is valid only in part: what was attached is then told by Accepted. */
function attachedCondition(input: PolicyStatusInput, { policies, lost }: PolicyOutcome): Condition[] {
  const { problems, hasEmissions, generation } = input
  const type = 'Attached'
  if (problems.length > 0 && !hasEmissions) {
    const message = 'Policy is not attached due to invalid status'
    return [condition({ type, isTrue: false, reason: 'Pending', message, generation })]
  }
  if (lost.length > 0) {
    const isSome = policies.length > 0
    const fields = lost.map(({ field, winner, target }) => `${field} of ${target} is set by the older policy ${winner}`)
    const message = [...new Set(fields)].join('\n')
    return [condition({ type, isTrue: isSome, reason: isSome ? 'Merged' : 'Overridden', message, generation })]
  }
  if (problems.length > 0) return []
  return [condition({ type, isTrue: true, reason: 'Attached', message: 'Attached to all targets', generation })]
}

function notAttached({ unattached, generation }: PolicyStatusInput): Condition {
  const message = `Policy is not attached: ${unattached.join('\n')}`
  return condition({ type: 'Attached', isTrue: false, reason: 'Pending', message, generation })
}

function summarized({ generation }: PolicyStatusInput, count: number): Condition {
  const message = `${count} more Gateways receive this policy than the status can list`
  return condition({ type: 'StatusSummarized', isTrue: true, reason: 'StatusSummarized', message, generation })
}

function entry(input: PolicyStatusInput, ref: ParentRef, conditions: readonly Condition[]): PolicyAncestorBody {
  return { ancestorRef: ref, controllerName: input.controllerName, conditions }
}

function gatewayRef(key: string): ParentRef {
  const slash = key.indexOf('/')
  return { group: GATEWAY_GROUP, kind: 'Gateway', namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
