// Base manifests of what exists only when an overlay asks for it: it names the workload and its pods, the overlay says
// the rest.
import type { ObjectMeta } from '#api/kube/object-meta.ts'
import { manifest } from './manifest.ts'

export interface DisruptionBudgetValues {
  readonly metadata: ObjectMeta
  readonly selector: unknown
}

export const disruptionBudgetManifest = manifest<DisruptionBudgetValues>(`
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{yaml metadata}}
spec:
  selector: {{yaml selector}}
`)

export interface AutoscalerValues {
  readonly metadata: ObjectMeta
  readonly name: string
}

export const autoscalerManifest = manifest<AutoscalerValues>(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{yaml metadata}}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{yaml name}}
`)
