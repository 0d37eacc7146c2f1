// The cost of a call to a model, in exact decimals: whole numbers of 10⁻¹² USD (data-plane supplement section 3.5).
import type { LlmAmounts, LlmCost, LlmFacts, LlmPricing } from '../../exchange/facts.ts'
import { RATE_NAMES, type CatalogModel, type ModelCatalog, type ModelRates, type RateName } from './catalog.ts'

/** Units of a price of one token in a USD. */
const UNITS_PER_USD = 1e12
/** Units of a rate in a USD per million tokens. */
const RATE_UNITS = 1e6

const NO_CATALOG: LlmCost = { status: 'NoCatalog', usd: undefined, rates: undefined }
const MISSING: LlmCost = { status: 'Missing', usd: undefined, rates: undefined }
const UNPRICED: LlmCost = { status: 'Unpriced', usd: undefined, rates: undefined }

/** Prices calls by a catalog; undefined: there is none. */
export function pricingOf(catalog: ModelCatalog | undefined): LlmPricing {
  return { costOf: (facts) => costOf(catalog, facts) }
}

/** undefined: the provider reported no tokens, so the call has no known cost. */
function costOf(catalog: ModelCatalog | undefined, facts: LlmFacts): LlmCost | undefined {
  if (facts.inputTokens === undefined && facts.outputTokens === undefined) return undefined
  if (catalog === undefined) return NO_CATALOG
  const model = modelOf(catalog, facts)
  if (model === undefined) return MISSING
  const rates = ratesOf(model, facts.inputTokens ?? 0)
  const named = RATE_NAMES.filter((name) => rates[name] !== undefined)
  if (named.length === 0) return UNPRICED
  const costs = bucketCosts(tokensOf(facts, rates), rates)
  const total = RATE_NAMES.reduce((sum, name) => sum + (costs[name] ?? 0n), 0n)
  return {
    status: 'Exact',
    usd: { total: usd(total), ...amounts(RATE_NAMES, (name) => usdOrNot(costs[name])) },
    rates: amounts(named, (name) => Number(rates[name]) / RATE_UNITS),
  }
}

/** The model that answered, else the one that was requested; exact names only. */
function modelOf(catalog: ModelCatalog, { provider, responseModel, requestModel }: LlmFacts): CatalogModel | undefined {
  const models = catalog.get(provider)
  return models?.get(responseModel ?? '') ?? models?.get(requestModel ?? '')
}

/** The rates of the highest tier below the number of input tokens, over the base rates. */
function ratesOf({ rates, tiers = [] }: CatalogModel, contextTokens: number): ModelRates {
  const tier = tiers.findLast(({ contextOver }) => contextOver < contextTokens)
  return tier === undefined ? rates : { ...rates, ...tier.rates }
}

/** Each token in exactly one bucket; a provider that reports more of a kind than of all is cut. */
function tokensOf(facts: LlmFacts, rates: ModelRates): { readonly [N in RateName]: bigint } {
  const input = new Remainder(facts.inputTokens)
  const output = new Remainder(facts.outputTokens)
  // Without a rate of their own, cache tokens are input tokens.
  const cacheRead = rates.cacheRead === undefined ? 0n : input.take(facts.cachedInputTokens)
  const cacheWrite = rates.cacheWrite === undefined ? 0n : input.take(facts.cacheCreationInputTokens)
  const inputAudio = input.take(facts.kinds?.inputAudio)
  const outputAudio = output.take(facts.kinds?.outputAudio)
  const reasoning = output.take(facts.reasoningTokens)
  return { input: input.left, output: output.left, cacheRead, cacheWrite, reasoning, inputAudio, outputAudio }
}

class Remainder {
  left: bigint

  constructor(tokens: number | undefined) {
    this.left = whole(tokens)
  }

  take(tokens: number | undefined): bigint {
    const given = whole(tokens)
    const taken = given < this.left ? given : this.left
    this.left -= taken
    return taken
  }
}

function whole(tokens: number | undefined): bigint {
  return BigInt(Math.trunc(Math.max(0, tokens ?? 0)))
}

/** A kind of tokens without a rate of its own has that of text; without that, it has no cost. */
function bucketCosts(
  tokens: { readonly [N in RateName]: bigint },
  rates: ModelRates,
): { readonly [N in RateName]: bigint | undefined } {
  const { input, output } = rates
  const cost = (name: RateName, rate: bigint | undefined): bigint | undefined =>
    rate === undefined ? undefined : tokens[name] * rate
  return {
    input: cost('input', input),
    output: cost('output', output),
    cacheRead: cost('cacheRead', rates.cacheRead),
    cacheWrite: cost('cacheWrite', rates.cacheWrite),
    reasoning: cost('reasoning', rates.reasoning ?? output),
    inputAudio: cost('inputAudio', rates.inputAudio ?? input),
    outputAudio: cost('outputAudio', rates.outputAudio ?? output),
  }
}

/** The closest double: it prints as the exact decimal up to 15 digits. */
function usd(units: bigint): number {
  return Number(units) / UNITS_PER_USD
}

function usdOrNot(units: bigint | undefined): number | undefined {
  return units === undefined ? undefined : usd(units)
}

function amounts(names: readonly RateName[], amountOf: (name: RateName) => number | undefined): LlmAmounts {
  const entries = names.map((name) => [name, amountOf(name)] as const).filter(([, amount]) => amount !== undefined)
  // Object.fromEntries loses the type of the keys, which are exactly the names.
  return Object.fromEntries(entries) as LlmAmounts
}
