// The status of an InferencePool: one entry for each Gateway whose routes lead to it.
import { GATEWAY_GROUP } from '../translate/groups.ts'
import type { PoolAtGateways } from '../translate/inference/pools.ts'
import { sortedBy } from '../translate/order.ts'
import { condition } from './condition.ts'
import type { RouteBody } from '../translate/object-status.ts'

/** InferencePoolStatus allows this many entries. */
const PARENTS_MAX = 32

export function inferencePoolStatus({ pool, fault, perGateway }: PoolAtGateways, controllerName: string): RouteBody {
  const { generation } = pool.metadata
  const conditions = [
    condition({
      type: 'Accepted',
      isTrue: true,
      reason: 'Accepted',
      message: 'InferencePool has been accepted by the Gateway',
      generation,
    }),
    condition({
      type: 'ResolvedRefs',
      isTrue: fault === undefined,
      reason: fault === undefined ? 'ResolvedRefs' : 'InvalidExtensionRef',
      message: fault ?? 'All InferencePool references have been resolved',
      generation,
    }),
  ]
  const parents = sortedBy(perGateway.keys(), (key) => key).map((key) => {
    const slash = key.indexOf('/')
    const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)]
    return { parentRef: { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }, controllerName, conditions }
  })
  return { parents: parents.slice(0, PARENTS_MAX) }
}
