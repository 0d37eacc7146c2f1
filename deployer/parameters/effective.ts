// The typed fields of parameters, merged: defaults of the controller, then the class, then the Gateway. Overlays are
// not merged here: they are applied one after the other.
import type {
  EnvVar,
  GwParameters,
  GwParametersSpec,
  Image,
  Logging,
  ModelCatalogSource,
  Quantity,
  ResourceRequirements,
  Shutdown,
} from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeploySettings } from '../input.ts'
import { effectiveMesh, type EffectiveMesh } from './mesh.ts'
import { quantityValue } from './quantity.ts'

export interface EffectiveParameters {
  readonly workloadKind: 'Deployment' | 'DaemonSet'
  readonly image: Image & { readonly registry: string; readonly repository: string; readonly tag: string }
  readonly env: readonly EnvVar[]
  readonly resources: ResourceRequirements
  readonly logging: Readonly<Logging>
  readonly shutdown: Shutdown
  readonly rawConfig: Readonly<Record<string, unknown>>
  /** undefined: not in a mesh. */
  readonly mesh: EffectiveMesh | undefined
  readonly catalogs: readonly ModelCatalogSource[]
}

const SHUTDOWN: Shutdown = { min: 10, max: 60 }
const REQUESTS: Readonly<Record<string, Quantity>> = { cpu: '100m', memory: '128Mi' }

export function effectiveParameters(
  levels: { readonly ofClass: GwParameters | undefined; readonly ofGateway: GwParameters | undefined },
  settings: DeploySettings,
): EffectiveParameters {
  const low: GwParametersSpec = levels.ofClass?.spec ?? {}
  const high: GwParametersSpec = levels.ofGateway?.spec ?? {}
  return {
    workloadKind: { kind: 'Deployment' as const, ...low.workload, ...high.workload }.kind,
    image: { ...settings.image, ...low.image, ...high.image },
    env: mergeEnv(low.env ?? [], high.env ?? []),
    resources: mergeResources(low.resources ?? {}, high.resources ?? {}),
    logging: { ...low.logging, ...high.logging },
    ...wholeObjects(low, high),
    mesh: effectiveMesh({ ofClass: low.meshIntegration, ofGateway: high.meshIntegration }, settings.mesh),
    // The specification gives catalogues of a class no effect.
    catalogs: high.modelCatalog?.sources ?? [],
  }
}

/** The Gateway replaces them as a whole. */
function wholeObjects(
  low: GwParametersSpec,
  high: GwParametersSpec,
): Pick<EffectiveParameters, 'shutdown' | 'rawConfig'> {
  return { shutdown: high.shutdown ?? low.shutdown ?? SHUTDOWN, rawConfig: high.rawConfig ?? low.rawConfig ?? {} }
}

/** A variable of the Gateway takes the place of the class's one, new ones follow. */
function mergeEnv(low: readonly EnvVar[], high: readonly EnvVar[]): EnvVar[] {
  const merged = new Map(low.map((variable) => [variable.name, variable]))
  for (const variable of high) merged.set(variable.name, variable)
  return [...merged.values()]
}

/** A default request stands beside a limit; above it the pod would be invalid, and Kubernetes requests the limit. */
function mergeResources(low: ResourceRequirements, high: ResourceRequirements): ResourceRequirements {
  const limits = { ...low.limits, ...high.limits }
  const fitting = Object.entries(REQUESTS).filter(([name, request]) => isWithin(request, limits[name]))
  const requests = { ...Object.fromEntries(fitting), ...low.requests, ...high.requests }
  const claims = high.claims ?? low.claims
  return {
    ...(Object.keys(requests).length > 0 ? { requests } : {}),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(claims === undefined ? {} : { claims }),
  }
}

function isWithin(request: Quantity, limit: Quantity | undefined): boolean {
  return limit === undefined || quantityValue(request) <= quantityValue(limit)
}
