// The status of an object of any kind, as it came.
import type { KubeObject } from '../translate/kube.ts'

export function statusOf(object: KubeObject | undefined): unknown {
  return object !== undefined && 'status' in object ? object.status : undefined
}
