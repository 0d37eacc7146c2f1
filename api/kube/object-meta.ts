// What every Kubernetes object carries in `metadata`, as far as Gw reads or writes it. Hand-written: CRDs leave it out.

export interface ObjectMeta {
  name: string
  namespace?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  uid?: string
  generation?: number
  /** RFC 3339, whole seconds. */
  creationTimestamp?: string
  resourceVersion?: string
  /** Set while the object waits for its finalizers. */
  deletionTimestamp?: string
  ownerReferences?: OwnerReference[]
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}
