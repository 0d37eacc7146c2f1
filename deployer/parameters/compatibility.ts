// What parameters say that has no place once class and Gateway are put together.
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployInput, DeployProblem } from '../input.ts'
import { isJsonObject, refOf } from '../kube-object.ts'
import type { OverlayField } from '../overlay.ts'

type Kind = 'Deployment' | 'DaemonSet'

/** Overlays of the other kind. */
const INCOMPATIBLE: { readonly [K in Kind]: readonly OverlayField[] } = {
  Deployment: ['daemonSet'],
  DaemonSet: ['deployment', 'horizontalPodAutoscaler'],
}

export function compatibilityProblems(
  { classParameters, gatewayParameters }: Pick<DeployInput, 'classParameters' | 'gatewayParameters'>,
  kind: Kind,
): DeployProblem[] {
  return [
    ...overlayProblems(classParameters, kind),
    ...overlayProblems(gatewayParameters, kind),
    ...classCatalogProblems(classParameters),
    ...[classParameters, gatewayParameters].flatMap(imageProblems),
    ...rawConfigProblems(gatewayParameters?.spec.rawConfig === undefined ? classParameters : gatewayParameters),
  ]
}

function overlayProblems(parameters: GwParameters | undefined, kind: Kind): DeployProblem[] {
  if (parameters === undefined) return []
  const { namespace, name } = refOf(parameters)
  return INCOMPATIBLE[kind]
    .filter((field) => parameters.spec[field] !== undefined)
    .map((field) => ({
      object: refOf(parameters),
      path: `spec.${field}`,
      reason: 'InvalidParameters',
      message: `GwParameters ${namespace}/${name} has incompatible ${field} overlay for final workload kind ${kind}`,
      severity: 'error',
    }))
}

/** No effect there: their ConfigMaps would have to be in the namespace of every Gateway. */
function classCatalogProblems(parameters: GwParameters | undefined): DeployProblem[] {
  if (parameters === undefined || (parameters.spec.modelCatalog?.sources ?? []).length === 0) return []
  return [
    {
      object: refOf(parameters),
      path: 'spec.modelCatalog',
      reason: 'InvalidParameters',
      message: 'has no effect in parameters of a GatewayClass; set it in those of the Gateway',
      severity: 'warning',
    },
  ]
}

function imageProblems(parameters: GwParameters | undefined): DeployProblem[] {
  if (parameters?.spec.image?.repository !== '') return []
  return [
    {
      object: refOf(parameters),
      path: 'spec.image.repository',
      reason: 'InvalidParameters',
      message: 'must not be empty; omit it to use the default',
      severity: 'error',
    },
  ]
}

/** Typed fields are put into its `config`: what else stands there would be lost in silence. */
function rawConfigProblems(parameters: GwParameters | undefined): DeployProblem[] {
  const config = parameters?.spec.rawConfig?.['config']
  if (parameters === undefined || config === undefined || config === null || isJsonObject(config)) return []
  return [
    {
      object: refOf(parameters),
      path: 'spec.rawConfig.config',
      reason: 'InvalidParameters',
      message: 'must be a map of settings, as in a standalone file',
      severity: 'error',
    },
  ]
}
