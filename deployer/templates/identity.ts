// Base manifests of what the pods are and may do: the ServiceAccount, and a Role with its binding that reaches the
// delivered configuration of this Gateway and nothing else.
import type { PolicyRule } from '#api/delivery/pod-contract.ts'
import type { ObjectMeta } from '#api/kube/object-meta.ts'
import { manifest } from './manifest.ts'

export const serviceAccountManifest = manifest<{ readonly metadata: ObjectMeta }>(`
apiVersion: v1
kind: ServiceAccount
metadata: {{yaml metadata}}
automountServiceAccountToken: false
`)

export const roleManifest = manifest<{ readonly metadata: ObjectMeta; readonly rules: readonly PolicyRule[] }>(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{yaml metadata}}
rules: {{yaml rules}}
`)

export interface RoleBindingValues {
  readonly metadata: ObjectMeta
  readonly name: string
  readonly namespace: string
}

export const roleBindingManifest = manifest<RoleBindingValues>(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{yaml metadata}}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{yaml name}}
subjects:
  - kind: ServiceAccount
    name: {{yaml name}}
    namespace: {{yaml namespace}}
`)
