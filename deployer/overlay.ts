// Overlays: changes of one rendered object, first those of the class, then those of the Gateway. What makes the object
// belong to its Gateway cannot be changed, and what the administrator keeps from Gateways not by those of a Gateway.
import { isDeepStrictEqual } from 'node:util'
import { GATEWAY_NAME_LABEL } from '#api/delivery/names.ts'
import type { GwParameters, KubernetesResourceOverlay } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployProblem } from './input.ts'
import { isJsonObject, type Json, type JsonObject, type KubeObject, refOf } from './kube-object.ts'
import { MANAGED_BY_LABEL } from './labels.ts'
import type { GatewayLimits } from './restrictions/gateway-limits.ts'
import { strategicMerge } from './strategicmerge/merge.ts'

export type OverlayField =
  | 'deployment'
  | 'daemonSet'
  | 'service'
  | 'serviceAccount'
  | 'podDisruptionBudget'
  | 'horizontalPodAutoscaler'

const KINDS: { readonly [K in OverlayField]: string } = {
  deployment: 'Deployment',
  daemonSet: 'DaemonSet',
  service: 'Service',
  serviceAccount: 'ServiceAccount',
  podDisruptionBudget: 'PodDisruptionBudget',
  horizontalPodAutoscaler: 'HorizontalPodAutoscaler',
}

/** Parameters of the class or of the Gateway. */
export interface ParametersLevel {
  readonly parameters: GwParameters | undefined
  /** undefined: they may change anything. */
  readonly limits: GatewayLimits | undefined
}

export interface OverlayLayer {
  readonly field: OverlayField
  readonly parameters: GwParameters
  readonly overlay: KubernetesResourceOverlay
  readonly limits: GatewayLimits | undefined
}

/** In the order they are applied. */
export function overlayLayers(field: OverlayField, levels: readonly ParametersLevel[]): OverlayLayer[] {
  return levels.flatMap(({ parameters, limits }) => {
    const overlay = parameters?.spec[field]
    return parameters === undefined || overlay === undefined ? [] : [{ field, parameters, overlay, limits }]
  })
}

export interface Overlaid {
  readonly object: KubeObject
  readonly problems: readonly DeployProblem[]
}

export function withOverlays(rendered: JsonObject, layers: readonly OverlayLayer[]): Overlaid {
  let value = rendered
  const problems: DeployProblem[] = []
  for (const layer of layers) {
    const result = strategicMerge({
      original: value,
      patch: patchOf(layer),
      kind: KINDS[layer.field],
      directives: 'whole',
    })
    if ('value' in result) {
      const refused = layer.limits?.overlayProblems(layer.field, { before: value, after: result.value }) ?? []
      problems.push(...identityProblems(rendered, result.value, layer), ...refused)
      value = result.value
    } else {
      problems.push(
        ...result.problems.map(({ path, message }) => overlayProblem(layer, overlayPath(path, layer), message)),
      )
    }
  }
  return { object: asKubeObject(value), problems }
}

/** Of the metadata only labels and annotations. A ServiceAccount has no spec: its own fields are meant. */
function patchOf({ overlay, field }: OverlayLayer): JsonObject {
  const { labels, annotations } = overlay.metadata ?? {}
  const metadata = {
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  }
  // Objects of the API server are JSON.
  const spec = (overlay.spec ?? {}) as JsonObject
  if (field !== 'serviceAccount') return { metadata, ...(overlay.spec === undefined ? {} : { spec }) }
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = spec
  return { ...fields, metadata }
}

/** Fields of a ServiceAccount stand in the `spec` of its overlay. */
function overlayPath(path: string, { field }: OverlayLayer): string {
  return field === 'serviceAccount' && !path.startsWith('metadata') ? `.spec.${path}` : `.${path}`
}

interface Identity {
  readonly path: readonly string[]
  /** As paths in problems are written. */
  readonly shown: string
  readonly cure: string
}

/** The fields that others find the object and its pods by. */
const IDENTITY: readonly Identity[] = [
  ...[GATEWAY_NAME_LABEL, MANAGED_BY_LABEL].map((label) => ({
    path: ['metadata', 'labels', label],
    shown: `.metadata.labels[${label}]`,
    cure: 'the controller finds its objects by this value; do not change it',
  })),
  {
    path: ['spec', 'selector', 'matchLabels'],
    shown: '.spec.selector.matchLabels',
    cure: 'this value selects the pods of the Gateway; do not change it',
  },
]

function identityProblems(before: JsonObject, after: JsonObject, layer: OverlayLayer): DeployProblem[] {
  const changed = IDENTITY.filter(({ path }) => !isDeepStrictEqual(read(after, path), read(before, path)))
  const problems = changed.map(({ shown, cure }) => overlayProblem(layer, shown, cure))
  const selector = read(after, ['spec', 'selector', 'matchLabels'])
  const labels = read(after, ['spec', 'template', 'metadata', 'labels'])
  if (read(before, ['spec', 'template']) === undefined || !isJsonObject(selector)) return problems
  const lost = Object.entries(selector).find(([key, value]) => !isJsonObject(labels) || labels[key] !== value)
  if (lost === undefined) return problems
  const message = `the label ${lost[0]} selects the pods of the Gateway; leave it as it is`
  return [...problems, overlayProblem(layer, '.spec.template.metadata.labels', message)]
}

function read(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((at, field) => (isJsonObject(at) ? at[field] : undefined), value)
}

export function overlayProblem({ field, parameters }: OverlayLayer, path: string, message: string): DeployProblem {
  return {
    object: refOf({ ...parameters }),
    path: `spec.${field}${path}`,
    reason: 'InvalidParameters',
    message,
    severity: 'error',
  }
}

function asKubeObject(value: JsonObject): KubeObject {
  // Base manifests give apiVersion, kind and metadata; overlays reach none of them but labels and annotations.
  return value as unknown as KubeObject
}
