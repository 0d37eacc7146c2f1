// Base manifests of what the pods start with: the ConfigMap of the start-up settings and the Secret of the session key.
import type { ObjectMeta } from '#api/kube/object-meta.ts'
import { manifest } from './manifest.ts'

export interface ConfigMapValues {
  readonly metadata: ObjectMeta
  readonly key: string
  readonly config: string
}

export const configMapManifest = manifest<ConfigMapValues>(`
apiVersion: v1
kind: ConfigMap
metadata: {{yaml metadata}}
data:
  {{yaml key}}: {{yaml config}}
`)

export interface SessionKeyValues {
  readonly metadata: ObjectMeta
  /** base64 */
  readonly value: string
}

export const sessionKeyManifest = manifest<SessionKeyValues>(`
apiVersion: v1
kind: Secret
metadata: {{yaml metadata}}
type: Opaque
data:
  key: {{yaml value}}
`)
