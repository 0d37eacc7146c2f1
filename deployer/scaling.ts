// PodDisruptionBudget and HorizontalPodAutoscaler: each exists only when an overlay of parameters asks for it.
import type { ObjectMeta } from '#api/kube/object-meta.ts'
import type { DeployProblem } from './input.ts'
import { isJsonObject, type JsonObject, type KubeObject } from './kube-object.ts'
import {
  type Overlaid,
  type OverlayLayer,
  overlayLayers,
  overlayProblem,
  type ParametersLevel,
  withOverlays,
} from './overlay.ts'
import { autoscalerManifest, disruptionBudgetManifest } from './templates/scaling.ts'

export interface ScalingInput {
  /** Class, then Gateway. */
  readonly levels: readonly ParametersLevel[]
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
    const problems = [...overlaid.problems, ...maximumProblems(overlaid.object, scaler.at(-1) ?? first)]
    made.push({ object: overlaid.object, problems: [...problems, ...fixedNumberProblems(workload, levels)] })
  }
  return made
}

function maximumProblems(scaler: KubeObject, layer: OverlayLayer): DeployProblem[] {
  if (typeof fieldsOf(scaler['spec'])['maxReplicas'] === 'number') return []
  return [overlayProblem(layer, '.spec.maxReplicas', 'is required; set the maximum number of pods')]
}

/** Whatever the autoscaler writes there would be taken back at once. */
function fixedNumberProblems(workload: KubeObject, levels: ScalingInput['levels']): DeployProblem[] {
  if (fieldsOf(workload['spec'])[REPLICAS] === undefined) return []
  const layer = overlayLayers('deployment', levels).findLast(
    ({ overlay }) => typeof overlay.spec?.[REPLICAS] === 'number',
  )
  if (layer === undefined) return []
  const message =
    'conflicts with horizontalPodAutoscaler, because it fixes the number of pods; omit it or set it to null'
  return [{ ...overlayProblem(layer, `.spec.${REPLICAS}`, message), severity: 'warning' }]
}

const REPLICAS = 'replicas'

function fieldsOf(spec: unknown): JsonObject {
  return isJsonObject(spec) ? spec : {}
}
