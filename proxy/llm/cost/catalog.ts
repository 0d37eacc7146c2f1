// The model catalog: prices of models by provider and model, merged from several sources (data-plane supplement
// section 3.5). Data only: proxy/config/standalone/schema/model-catalog.ts reads it.

/** Kinds of tokens with a price of their own, as named in a catalog and in CEL `llm.cost`. */
export const RATE_NAMES = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'inputAudio',
  'outputAudio',
] as const

export type RateName = (typeof RATE_NAMES)[number]

/** In millionths of a USD per million tokens, so that one token costs a whole number of 10⁻¹² USD. */
export type ModelRates = { readonly [N in RateName]?: bigint }

/** Rates of calls with more than `contextOver` input tokens. */
export interface RateTier {
  readonly contextOver: number
  readonly rates: ModelRates
}

export interface CatalogModel {
  readonly rates: ModelRates
  /** By rising `contextOver`; undefined: the source has none, and those of an earlier source stay. */
  readonly tiers: readonly RateTier[] | undefined
  readonly tags: readonly string[]
}

/** By provider, then by model. */
export type ModelCatalog = ReadonlyMap<string, ReadonlyMap<string, CatalogModel>>

/** Later sources win: rates field by field, tiers as a whole; tags are collected. */
export function mergeCatalogs(sources: readonly ModelCatalog[]): ModelCatalog {
  const merged = new Map<string, Map<string, CatalogModel>>()
  for (const source of sources) {
    for (const [provider, models] of source) {
      const known = merged.get(provider) ?? new Map<string, CatalogModel>()
      for (const [name, model] of models) known.set(name, overlaid(known.get(name), model))
      merged.set(provider, known)
    }
  }
  return merged
}

function overlaid(base: CatalogModel | undefined, over: CatalogModel): CatalogModel {
  if (base === undefined) return over
  return {
    rates: { ...base.rates, ...over.rates },
    tiers: over.tiers ?? base.tiers,
    tags: [...new Set([...base.tags, ...over.tags])],
  }
}

export function modelCount(catalog: ModelCatalog): number {
  let count = 0
  for (const models of catalog.values()) count += models.size
  return count
}
