// The status of an object of any kind, not validated.
import type { KubeObject } from '../translate/kube.ts'

export function statusOf(object: KubeObject | undefined): unknown {
  return object !== undefined && 'status' in object ? object.status : undefined
}
