// PodDisruptionBudget and HorizontalPodAutoscaler: each exists only when an overlay of parameters asks for it.
import type { ObjectMeta } from '#api/kube/object-meta.ts'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import { isJsonObject, type JsonObject, type KubeObject } from './kube-object.ts'
import { type Overlaid, overlayLayers, overlayProblem, withOverlays } from './overlay.ts'
import { autoscalerManifest, disruptionBudgetManifest } from './templates/scaling.ts'

export interface ScalingInput {
  /** Class, then Gateway. */
  readonly levels: readonly (GwParameters | undefined)[]
  /** With its overlays. */
  readonly workload: KubeObject
  /** Of the objects: labels are those of the workload. */
  readonly metadata: ObjectMeta
}

export function scalingObjects({ levels, workload, metadata }: ScalingInput): Overlaid[] {
  const budget = overlayLayers('podDisruptionBudget', levels)
  const scaler = workload.kind === 'Deployment' ? overlayLayers('horizontalPodAutoscaler', levels) : []
  const made: Overlaid[] = []
  if (budget.length > 0) {
    const { spec } = workload
    const selector = isJsonObject(spec) ? spec['selector'] : {}
    made.push(withOverlays(disruptionBudgetManifest({ metadata, selector }), budget))
  }
  const [first] = scaler
  if (first !== undefined) {
    const overlaid = withOverlays(autoscalerManifest({ metadata, name: workload.metadata.name }), scaler)
    const isBounded = hasMaximum(overlaid.object)
    const message = 'is required: the most pods there may be'
    const problem = overlayProblem(scaler.at(-1) ?? first, '.spec.maxReplicas', message)
    made.push(isBounded ? overlaid : { ...overlaid, problems: [...overlaid.problems, problem] })
  }
  return made
}

function hasMaximum({ spec }: KubeObject): boolean {
  const fields: JsonObject = isJsonObject(spec) ? spec : {}
  return typeof fields['maxReplicas'] === 'number'
}
