// The model catalogs that manifests name: ConfigMaps of the GwParameters of their Gateways. One process serves all
// Gateways, so their catalogs are merged.
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { FileProblem } from '#api/source/document.ts'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import { type CatalogConfigMap, type CatalogEntry, catalogEntries } from '#deployer/parameters/model-catalog.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { catalogMistakes, parseCatalog } from '#proxy/config/standalone/model-catalog.ts'
import type { CatalogSource } from '#proxy/llm/cost/offered-catalog.ts'
import type { LoadedManifests } from './load.ts'

export interface ManifestCatalogs {
  /** undefined: a catalog is invalid, and the previous ones stay in use. */
  readonly sources: readonly CatalogSource[] | undefined
  readonly problems: readonly FileProblem[]
}

export function manifestCatalogs(loaded: LoadedManifests): ManifestCatalogs {
  const sources: CatalogSource[] = []
  const problems: FileProblem[] = []
  for (const parameters of parametersOfGateways(loaded)) {
    const { namespace = '' } = parameters.metadata
    // A ConfigMap: its schema has accepted it.
    const find = (name: string): CatalogConfigMap | undefined =>
      found(loaded, { kind: 'ConfigMap', namespace, name }) as CatalogConfigMap | undefined
    for (const entry of catalogEntries(parameters, find)) {
      const read = readEntry(entry, namespace)
      if ('catalog' in read) sources.push(read)
      else problems.push(problemOf(loaded, parameters, { path: entry.path, ...read }))
    }
  }
  return { sources: problems.some(({ severity }) => severity === 'error') ? undefined : sources, problems }
}

/** Each once, in the order of the Gateways. */
function parametersOfGateways(loaded: LoadedManifests): Set<GwParameters> {
  // The schemas of the kinds have accepted them.
  const gateways = loaded.objects.filter(({ kind }) => kind === 'Gateway') as Gateway[]
  return new Set(
    gateways.flatMap(({ metadata: { namespace = '' }, spec }) => {
      const ref = spec.infrastructure?.parametersRef
      if (ref?.kind !== 'GwParameters') return []
      const parameters = found(loaded, { kind: 'GwParameters', namespace, name: ref.name })
      return parameters === undefined ? [] : [parameters as GwParameters]
    }),
  )
}

function found(
  { objects }: LoadedManifests,
  wanted: { readonly kind: string; readonly namespace: string; readonly name: string },
): KubeObject | undefined {
  return objects.find(
    ({ kind, metadata }) =>
      kind === wanted.kind && metadata.name === wanted.name && (metadata.namespace ?? '') === wanted.namespace,
  )
}

type Mistake = Pick<FileProblem, 'message' | 'severity'>

function readEntry({ configMap, key, text }: CatalogEntry, namespace: string): CatalogSource | Mistake {
  const name = `ConfigMap ${namespace}/${configMap}, key ${key}`
  if (text === undefined) return { message: `${name} not found: there are no prices from it`, severity: 'warning' }
  const parsed = parseCatalog(text)
  if ('catalog' in parsed) return { name, catalog: parsed.catalog }
  return { message: catalogMistakes(name, parsed.problems).join('; '), severity: 'error' }
}

function problemOf(
  loaded: LoadedManifests,
  { metadata: { namespace = '', name } }: GwParameters,
  mistake: Mistake & { readonly path: string },
): FileProblem {
  const place = loaded.locate({ kind: 'GwParameters', namespace, name }, mistake.path)
  return { ...(place ?? { file: `GwParameters/${namespace}/${name}`, line: 1, column: 1 }), ...mistake }
}
