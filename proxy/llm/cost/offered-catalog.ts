// The model catalog as the main thread has it: merged, with the sources it comes from.
import { mergeCatalogs, type ModelCatalog, modelCount } from './catalog.ts'

/** One file, or the part of a configuration file. */
export interface CatalogSource {
  /** Path of the file, or its place in the configuration. */
  readonly name: string
  readonly catalog: ModelCatalog
}

export interface OfferedCatalog {
  /** undefined: no source has a valid catalog. */
  readonly catalog: ModelCatalog | undefined
  readonly sources: readonly CatalogSource[]
}

/** Of sources in their order: later ones win. */
export function offeredCatalog(sources: readonly CatalogSource[]): OfferedCatalog {
  const catalogs = sources.map(({ catalog }) => catalog)
  return { catalog: catalogs.length === 0 ? undefined : mergeCatalogs(catalogs), sources }
}

export interface ShownCatalog {
  /** Models with a price or without, of all sources. */
  readonly models: number
  readonly sources: readonly { readonly name: string; readonly models: number }[]
}

/** For `/config_dump`: never the catalog itself, which may be large. */
export function shownCatalog({ catalog, sources }: OfferedCatalog = offeredCatalog([])): ShownCatalog {
  return {
    models: catalog === undefined ? 0 : modelCount(catalog),
    sources: sources.map((source) => ({ name: source.name, models: modelCount(source.catalog) })),
  }
}
