// The objects that the operator would create for the Gateways of manifests: the deployer with defaults of the
// controller, and problems with their positions in the files.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { FileProblem } from '#api/source/document.ts'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployProblem, DeployResult } from '#deployer/input.ts'
import type { KubeObject } from '#deployer/kube-object.ts'
import type { RenderedGateway } from '#operator/translate/translation.ts'
import type { Snapshot } from '#operator/translate/snapshot.ts'
import { readSources } from './manifests/files.ts'
import { type LoadedManifests, loadManifests } from './manifests/load.ts'
import { TRANSLATE_SETTINGS } from './source.ts'

export interface LoadedDeployment {
  readonly objects: readonly KubeObject[]
  readonly problems: readonly FileProblem[]
}

/** `problem`: the path cannot be read, or has no Gateway of our controller. */
export async function loadDeployment(path: string): Promise<LoadedDeployment | { readonly problem: string }> {
  const sources = readSources(path)
  if ('problem' in sources) return sources
  const loaded = loadManifests(sources.files)
  if (loaded.problems.some(({ severity }) => severity === 'error')) return { objects: [], problems: loaded.problems }
  const { snapshotOf } = await import('#operator/translate/snapshot.ts')
  const { translate } = await import('#operator/translate/cluster/translate.ts')
  const snapshot = snapshotOf(loaded.objects)
  const { perGateway } = translate(snapshot, TRANSLATE_SETTINGS)
  if (perGateway.size === 0) {
    const controller = TRANSLATE_SETTINGS.controllerName
    return { problem: `${path}: nothing to deploy: no Gateway has a GatewayClass with controllerName ${controller}` }
  }
  const results = await deployments({ snapshot, perGateway, parameters: parametersIn(loaded) })
  return {
    objects: results.flatMap(({ objects }) => objects),
    problems: [...loaded.problems, ...results.flatMap(({ problems }) => problems.map((each) => located(loaded, each)))],
  }
}

interface DeploymentsInput {
  readonly snapshot: Snapshot
  readonly perGateway: ReadonlyMap<string, RenderedGateway>
  readonly parameters: readonly GwParameters[]
}

async function deployments({ snapshot, perGateway, parameters }: DeploymentsInput): Promise<DeployResult[]> {
  const { renderDeployment } = await import('#deployer/render.ts')
  const { renderedFacts } = await import('#deployer/rendered-facts.ts')
  const { parametersOf } = await import('#deployer/parameters/references.ts')
  const { DEFAULT_DEPLOY_SETTINGS } = await import('#deployer/default-settings.ts')
  const find = (namespace: string, name: string): GwParameters | undefined =>
    parameters.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name)
  return snapshot.Gateway.all.flatMap((gateway) => {
    const rendered = perGateway.get(`${gateway.metadata.namespace ?? ''}/${gateway.metadata.name}`)
    const gatewayClass = snapshot.GatewayClass.get('', gateway.spec.gatewayClassName)
    if (rendered === undefined || gatewayClass === undefined) return []
    const references = parametersOf({
      gateway,
      gatewayClass,
      find,
      restrictions: DEFAULT_DEPLOY_SETTINGS.restrictions,
    })
    if (references.problems.length > 0) return [{ objects: [], problems: references.problems }]
    return renderDeployment({
      gateway: withoutOwner(gateway),
      gatewayClass,
      classParameters: references.classParameters,
      gatewayParameters: references.gatewayParameters,
      ...renderedFacts(rendered.config),
      settings: DEFAULT_DEPLOY_SETTINGS,
      sessionKey: { state: 'unknown' },
    })
  })
}

/** Manifests read from a cluster have the UID of that cluster's object, which is invalid in another cluster. */
function withoutOwner(gateway: Gateway): Gateway {
  const { uid: _, ...metadata } = gateway.metadata
  return { ...gateway, metadata }
}

function parametersIn({ objects }: LoadedManifests): GwParameters[] {
  // The schema of the kind accepted them.
  return objects.filter(
    ({ kind, apiVersion }) => kind === 'GwParameters' && apiVersion === 'gw.dev/v1alpha1',
  ) as GwParameters[]
}

function located(loaded: LoadedManifests, { object, path, message, severity }: DeployProblem): FileProblem {
  const place = loaded.locate(object, path)
  const where = place ?? { file: `${object.kind}/${object.name}`, line: 1, column: 1 }
  return { ...where, path, message, severity }
}
