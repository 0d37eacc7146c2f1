// Removes our entries from the status of an object that translation does not cover: they were written while it was
// covered, by a slow request or by a former leader.
import { isRecord } from '#api/json.ts'
import type { KubeObject } from '../translate/kube.ts'
import { refOf } from '../translate/object-ref.ts'
import type { ObjectStatus } from '../translate/object-status.ts'

/** The status without our entries; undefined: there are none. */
export function forgottenStatus(object: KubeObject | undefined, controllerName: string): ObjectStatus | undefined {
  if (object === undefined || !('status' in object) || !isRecord(object.status)) return undefined
  const { parents, ancestors } = object.status
  if (hasOurs(parents, controllerName)) return { ...refOf(object), status: { parents: [] } }
  return hasOurs(ancestors, controllerName) ? { ...refOf(object), status: { ancestors: [] } } : undefined
}

function hasOurs(entries: unknown, controllerName: string): boolean {
  return Array.isArray(entries) && entries.some((one) => isRecord(one) && one['controllerName'] === controllerName)
}
