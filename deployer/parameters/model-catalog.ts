// The ConfigMaps of `spec.modelCatalog`: which entries the pods mount, and which of them do not exist. Does not read
// the catalogs themselves.
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployProblem } from '../input.ts'
import { refOf } from '../kube-object.ts'

/** When `key` of a source is unset. */
export const CATALOG_KEY = 'catalog.json'

/** As far as a catalog may be in it. */
export interface CatalogConfigMap {
  readonly data?: Readonly<Record<string, string>>
  /** In base64. */
  readonly binaryData?: Readonly<Record<string, string>>
}

export interface CatalogEntry {
  /** Of the field in the parameters. */
  readonly path: string
  readonly configMap: string
  readonly key: string
  /** undefined: the ConfigMap or its key does not exist. */
  readonly text: string | undefined
}

/** `find`: a ConfigMap in the namespace of the parameters. */
export function catalogEntries(
  { spec }: GwParameters,
  find: (name: string) => CatalogConfigMap | undefined,
): CatalogEntry[] {
  return (spec.modelCatalog?.sources ?? []).map(({ configMap: { name, key = CATALOG_KEY } }, index) => ({
    path: `spec.modelCatalog.sources[${index}].configMap`,
    configMap: name,
    key,
    text: textOf(find(name), key),
  }))
}

/** Pods start without these entries, and read them when they are created. */
export function missingCatalogs(
  parameters: GwParameters | undefined,
  find: (name: string) => CatalogConfigMap | undefined,
): DeployProblem[] {
  if (parameters === undefined) return []
  const object = refOf(parameters)
  return catalogEntries(parameters, find)
    .filter(({ text }) => text === undefined)
    .map(({ path, configMap, key }) => ({
      object,
      path,
      reason: 'ModelCatalogNotFound',
      message: `ConfigMap ${object.namespace}/${configMap} not found, or without the key ${key}: the proxies have no prices from it until it is created`,
      severity: 'warning',
    }))
}

function textOf(found: CatalogConfigMap | undefined, key: string): string | undefined {
  const encoded = found?.binaryData?.[key]
  return found?.data?.[key] ?? (encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8'))
}
