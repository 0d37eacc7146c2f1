// What translation cannot know about a GatewayClass: which fields and versions of its kinds the cluster has. Pure.
import type { ObjectStatus } from '../translate/object-status.ts'
import { type ServedVersions, supportedVersion } from './served-versions.ts'

export interface ClassFacts {
  readonly unservedFeatures: ReadonlySet<string>
  /** undefined: the API server has not reported them yet. */
  readonly versions: ServedVersions | undefined
}

export function withClassFacts(status: ObjectStatus, { unservedFeatures, versions }: ClassFacts): ObjectStatus {
  const { status: body } = status
  // Of a GatewayClass.
  if (status.kind !== 'GatewayClass' || !('conditions' in body)) return status
  const generation = body.conditions[0]?.observedGeneration
  const supported = versions === undefined ? [] : [supportedVersion(versions, generation)]
  const features = 'supportedFeatures' in body ? body.supportedFeatures : undefined
  return {
    ...status,
    status: {
      conditions: [...body.conditions, ...supported],
      ...(features && { supportedFeatures: features.filter(({ name }) => !unservedFeatures.has(name)) }),
    },
  }
}
