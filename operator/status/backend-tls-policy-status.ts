// The status of a BackendTLSPolicy: one entry for each Gateway that sends traffic to its targets.
import { GATEWAY_GROUP } from '../translate/groups.ts'
import { sortedBy } from '../translate/order.ts'
import type { BackendTlsTranslation } from '../translate/policy/backend-tls-policy.ts'
import { condition, problemLine } from './condition.ts'
import type { Condition, PolicyBody } from '../translate/object-status.ts'
import { ANCESTORS_MAX, fittingAncestors } from './policy-status.ts'

export function backendTlsPolicyStatus(translation: BackendTlsTranslation, controllerName: string): PolicyBody {
  const resolved = resolvedCondition(translation)
  const entries = sortedBy(translation.perGateway, ([key]) => key).map(([key, { policies, winners, clientFault }]) => {
    const slash = key.indexOf('/')
    const isAbsent = policies.length === 0 && winners.length === 0
    const isLost = policies.length === 0 && winners.length > 0
    const accepted = isLost ? conflicted(translation, winners) : acceptedCondition(translation, clientFault, isAbsent)
    return {
      ancestorRef: {
        group: GATEWAY_GROUP,
        kind: 'Gateway',
        namespace: key.slice(0, slash),
        name: key.slice(slash + 1),
      },
      controllerName,
      conditions: [accepted, resolved],
    }
  })
  return { ancestors: fittingAncestors(entries, ANCESTORS_MAX) }
}

/** `clientFault`: of one Gateway; at others the policy may be fine. */
function acceptedCondition(
  { policy, invalid, missing }: BackendTlsTranslation,
  clientFault: string | undefined,
  isAbsent: boolean,
): Condition {
  const { generation } = policy.metadata
  const type = 'Accepted'
  if (isAbsent && missing.length > 0) {
    const message = missing.map(problemLine)
    return condition({ type, isTrue: false, reason: 'TargetNotFound', message, generation })
  }
  if (invalid === undefined && clientFault !== undefined) {
    return condition({ type, isTrue: false, reason: 'Invalid', message: clientFault, generation })
  }
  return invalid === undefined
    ? condition({ type, isTrue: true, reason: type, message: 'Configuration is valid', generation })
    : condition({ type, isTrue: false, reason: invalid.reason, message: problemLine(invalid), generation })
}

function conflicted({ policy }: BackendTlsTranslation, winners: readonly string[]): Condition {
  const { generation } = policy.metadata
  const message = `TLS of all targets is set by ${[...new Set(winners)].join(', ')}`
  return condition({ type: 'Accepted', isTrue: false, reason: 'Conflicted', message, generation })
}

function resolvedCondition({ policy, unresolved }: BackendTlsTranslation): Condition {
  const { generation } = policy.metadata
  const type = 'ResolvedRefs'
  const [first] = unresolved
  if (first === undefined) {
    return condition({ type, isTrue: true, reason: type, message: 'All references are resolved', generation })
  }
  const message = unresolved.map(({ path, message: text }) => `${path}: ${text}`)
  return condition({ type, isTrue: false, reason: first.reason, message, generation })
}
