// The status of a GwPolicy: one entry for each Gateway that receives it, and one summary of targets without effect.
import { INTERNAL_ERROR, type Problem } from '#api/problem.ts'
import { GATEWAY_GROUP, GW_GROUP } from '../translate/groups.ts'
import { compareText } from '../translate/order.ts'
import { condition, problemLine } from './condition.ts'
import type { Condition, ParentRef, PolicyAncestorBody, PolicyBody } from '../translate/object-status.ts'

/** PolicyStatus allows this many entries. */
export const ANCESTORS_MAX = 16

export interface PolicyStatusInput {
  readonly controllerName: string
  readonly generation: number | undefined
  readonly problems: readonly Problem[]
  readonly hasEmissions: boolean
  /** By `namespace/name` of the Gateway. */
  readonly perGateway: ReadonlyMap<string, PolicyOutcome>
  /** Targets that are missing or reach no Gateway. */
  readonly unattached: ReadonlyArray<{ readonly message: string }>
}

export interface PolicyOutcome {
  readonly policies: { readonly length: number }
  readonly lost: ReadonlyArray<{ readonly field: string; readonly winner: string; readonly target: string }>
  /** The Gateway has no room for the policy. */
  readonly beyond?: string
}

export function policyStatus(input: PolicyStatusInput): PolicyBody {
  const accepted = acceptedCondition(input)
  const ancestors = [...input.perGateway]
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, outcome]) => entry(input, gatewayRef(key), [accepted, ...attachedCondition(input, outcome)]))
  if (input.unattached.length > 0) ancestors.push(entry(input, SUMMARY, [accepted, notAttached(input)]))
  return { ancestors: fittingAncestors(ancestors, ANCESTORS_MAX) }
}

const SUMMARY: ParentRef = { group: GW_GROUP, name: 'StatusSummary' }

/** The entry is about the policy itself, not about a Gateway. */
export function isSummary({ group, name }: ParentRef): boolean {
  return group === SUMMARY.group && name === SUMMARY.name
}

const SUMMARIZED = 'StatusSummarized'

/**
 * The first Gateways and a summary that counts the others: the API allows 16 entries, including those of other
 * controllers. Adds the count of Gateways that were left out before.
 */
export function fittingAncestors(all: readonly PolicyAncestorBody[], room: number): readonly PolicyAncestorBody[] {
  const [first] = all
  if (first === undefined || all.length <= room) return all
  if (room < 1) return []
  const summary = all.find(({ ancestorRef }) => isSummary(ancestorRef))
  const gateways = all.filter(({ ancestorRef }) => !isSummary(ancestorRef))
  const kept = gateways.slice(0, room - 1)
  const conditions = summary?.conditions ?? first.conditions.slice(0, 1)
  const known = conditions.find(({ type }) => type === SUMMARIZED)
  const count = gateways.length - kept.length + (known === undefined ? 0 : Number.parseInt(known.message, 10))
  const others = conditions.filter((one) => one !== known)
  const { controllerName } = first
  const summaryCondition = summarized(others[0]?.observedGeneration, count)
  return [...kept, { ancestorRef: SUMMARY, controllerName, conditions: [...others, summaryCondition] }]
}

function acceptedCondition({ problems, hasEmissions, generation }: PolicyStatusInput): Condition {
  const type = 'Accepted'
  if (problems.length === 0) {
    return condition({ type, isTrue: true, reason: 'Valid', message: 'Policy accepted', generation })
  }
  const message = [...new Set(problems.map(problemLine))]
  if (problems.some(({ reason }) => reason === INTERNAL_ERROR)) {
    return condition({ type, isTrue: false, reason: INTERNAL_ERROR, message, generation })
  }
  return condition({
    type,
    isTrue: hasEmissions,
    reason: hasEmissions ? 'PartiallyValid' : 'Invalid',
    message,
    generation,
  })
}

/** Absent on an entry that is valid only in part: Accepted then reports what was attached. */
function attachedCondition(input: PolicyStatusInput, { policies, lost, beyond }: PolicyOutcome): Condition[] {
  const { problems, hasEmissions, generation } = input
  const type = 'Attached'
  if (problems.length > 0 && !hasEmissions) {
    const message = 'Policy is not attached due to invalid status'
    return [condition({ type, isTrue: false, reason: 'Pending', message, generation })]
  }
  if (beyond !== undefined) {
    return [condition({ type, isTrue: false, reason: 'TooManyTargets', message: beyond, generation })]
  }
  if (lost.length > 0) {
    const isSome = policies.length > 0
    const fields = lost.map(({ field, winner, target }) => `${field} of ${target} is set by the older policy ${winner}`)
    const message = [...new Set(fields)]
    return [condition({ type, isTrue: isSome, reason: isSome ? 'Merged' : 'Overridden', message, generation })]
  }
  if (problems.length > 0) return []
  return [condition({ type, isTrue: true, reason: 'Attached', message: 'Attached to all targets', generation })]
}

function notAttached({ unattached, generation }: PolicyStatusInput): Condition {
  const message = unattached.map((one, index) => (index === 0 ? 'Policy is not attached: ' : '') + one.message)
  return condition({ type: 'Attached', isTrue: false, reason: 'Pending', message, generation })
}

/** The message begins with the count. */
function summarized(generation: number | undefined, count: number): Condition {
  const message = `${count} more Gateways use this policy than the status can list`
  return condition({ type: SUMMARIZED, isTrue: true, reason: SUMMARIZED, message, generation })
}

function entry(input: PolicyStatusInput, ref: ParentRef, conditions: readonly Condition[]): PolicyAncestorBody {
  return { ancestorRef: ref, controllerName: input.controllerName, conditions }
}

function gatewayRef(key: string): ParentRef {
  const slash = key.indexOf('/')
  return { group: GATEWAY_GROUP, kind: 'Gateway', namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
