// The cost of a call to a model, in exact decimals: whole numbers of 10⁻¹² USD (data-plane supplement section 3.5).
import type { LlmAmounts, LlmCost, LlmFacts, LlmPricing } from '../../exchange/facts.ts'
import { RATE_NAMES, type CatalogModel, type ModelCatalog, type ModelRates, type RateName } from './catalog.ts'

/** Units of a price of one token in a USD. */
const UNITS_PER_USD = 1e12
/** Units of a rate in a USD per million tokens. */
const RATE_UNITS = 1e6

const NO_CATALOG: LlmCost = { status: 'NoCatalog', usd: undefined, rates: undefined }
/** Tokens that each cost something, by their kind. */
type Units = { readonly [N in RateName]?: bigint }

interface Priced extends Pick<LlmCost, 'status' | 'rates'> {
  /** undefined: the price is unknown. */
  readonly units: Units | undefined
}

const MISSING: Priced = { status: 'Missing', units: undefined, rates: undefined }
const UNPRICED: Priced = { status: 'Unpriced', units: undefined, rates: undefined }

/** The rates of a model for calls with more than `contextOver` input tokens. */
interface PriceList {
  readonly contextOver: number
  /** Of each kind of tokens, also of those that cost as much as text; absent: they cost nothing. */
  readonly rates: ModelRates
  /** For expressions; undefined: the model has no rates. */
  readonly shown: LlmAmounts | undefined
}

/** By falling `contextOver`. */
type PriceLists = readonly PriceList[]

/** Prices calls by a catalog; undefined: none is configured. */
export function pricingOf(catalog: ModelCatalog | undefined): LlmPricing {
  return catalog === undefined
    ? {
        costOf: withoutCatalog,
        totalOf: (facts) => withoutCatalog(facts) ?? withoutCatalog(facts.transcription?.facts),
      }
    : new Pricing(catalog)
}

function withoutCatalog(facts: LlmFacts | undefined): LlmCost | undefined {
  return facts !== undefined && hasTokens(facts) ? NO_CATALOG : undefined
}

class Pricing implements LlmPricing {
  readonly #catalog: ModelCatalog
  readonly #lists = new WeakMap<CatalogModel, PriceLists>()
  /** Log, metrics and expressions ask for the cost of the same call one after the other. */
  #last: { readonly facts: LlmFacts; readonly of: LlmFacts; readonly cost: LlmCost } | undefined = undefined

  constructor(catalog: ModelCatalog) {
    this.#catalog = catalog
  }

  costOf(facts: LlmFacts): LlmCost | undefined {
    if (!hasTokens(facts)) return undefined
    if (this.#last?.facts === facts && isSameCall(this.#last.of, facts)) return this.#last.cost
    const cost = costFrom(this.#priced(facts))
    this.#last = { facts, of: { ...facts }, cost }
    return cost
  }

  totalOf(facts: LlmFacts): LlmCost | undefined {
    const other = facts.transcription?.facts
    if (other === undefined || !hasTokens(other)) return this.costOf(facts)
    const priced = this.#priced(other)
    return costFrom(hasTokens(facts) ? withUnits(this.#priced(facts), priced.units) : priced)
  }

  #priced(facts: LlmFacts): Priced {
    const model = modelOf(this.#catalog, facts)
    return model === undefined ? MISSING : priceBy(this.#listsOf(model), facts)
  }

  #listsOf(model: CatalogModel): PriceLists {
    const known = this.#lists.get(model)
    if (known !== undefined) return known
    const lists = priceLists(model)
    this.#lists.set(model, lists)
    return lists
  }
}

/** Without tokens the call has no known cost. */
function hasTokens({ inputTokens, outputTokens }: LlmFacts): boolean {
  return inputTokens !== undefined || outputTokens !== undefined
}

/** Since then, no event of a stream has changed what the cost depends on. */
function isSameCall(before: LlmFacts, now: LlmFacts): boolean {
  return (
    before.inputTokens === now.inputTokens &&
    before.outputTokens === now.outputTokens &&
    before.cachedInputTokens === now.cachedInputTokens &&
    before.cacheCreationInputTokens === now.cacheCreationInputTokens &&
    before.reasoningTokens === now.reasoningTokens &&
    before.kinds === now.kinds &&
    before.responseModel === now.responseModel &&
    before.requestModel === now.requestModel
  )
}

/** The model that answered, else the one that was requested; exact names only. */
function modelOf(catalog: ModelCatalog, { provider, responseModel, requestModel }: LlmFacts): CatalogModel | undefined {
  const models = catalog.get(provider)
  return models?.get(responseModel ?? '') ?? models?.get(requestModel ?? '')
}

function priceLists({ rates, tiers = [] }: CatalogModel): PriceLists {
  const base = { contextOver: -1, rates }
  return [base, ...tiers].toReversed().map((tier) => priceList(tier.contextOver, { ...rates, ...tier.rates }))
}

function priceList(contextOver: number, rates: ModelRates): PriceList {
  const named = RATE_NAMES.filter((name) => rates[name] !== undefined)
  return {
    contextOver,
    rates: { ...ratesOfText(rates), ...rates },
    shown: named.length === 0 ? undefined : amounts(named, (name) => Number(rates[name]) / RATE_UNITS),
  }
}

/** Reasoning and audio without a rate of their own. */
function ratesOfText({ input, output }: ModelRates): ModelRates {
  return {
    ...(input !== undefined && { inputAudio: input }),
    ...(output !== undefined && { reasoning: output, outputAudio: output }),
  }
}

function priceBy(lists: PriceLists, facts: LlmFacts): Priced {
  const contextTokens = facts.inputTokens ?? 0
  const list = lists.find(({ contextOver }) => contextOver < contextTokens)
  if (list?.shown === undefined) return UNPRICED
  const tokens = tokensOf(facts, list.rates)
  const units: { -readonly [N in RateName]?: bigint } = {}
  for (const name of RATE_NAMES) {
    const rate = list.rates[name]
    if (rate !== undefined) units[name] = BigInt(tokens[name]) * rate
  }
  return { status: 'Exact', units, rates: list.shown }
}

/** A known price stays known if the added one is unknown. */
function withUnits(priced: Priced, added: Units | undefined): Priced {
  if (added === undefined) return priced
  const units: { -readonly [N in RateName]?: bigint } = { ...priced.units }
  for (const name of RATE_NAMES) {
    const more = added[name]
    if (more !== undefined) units[name] = (units[name] ?? 0n) + more
  }
  return { ...priced, units }
}

function costFrom({ status, units, rates }: Priced): LlmCost {
  if (units === undefined) return { status, usd: undefined, rates }
  let total = 0n
  const parts = amounts(RATE_NAMES, (name) => {
    const own = units[name]
    if (own === undefined) return undefined
    total += own
    return usd(own)
  })
  return { status, usd: { ...parts, total: usd(total) }, rates }
}

/** Each token in exactly one bucket; a provider that reports more of a kind than of all is cut. */
function tokensOf(facts: LlmFacts, rates: ModelRates): { readonly [N in RateName]: number } {
  const input = new Remainder(facts.inputTokens)
  const output = new Remainder(facts.outputTokens)
  // Without a rate of their own, cache tokens are input tokens.
  const cacheRead = rates.cacheRead === undefined ? 0 : input.take(facts.cachedInputTokens)
  const cacheWrite = rates.cacheWrite === undefined ? 0 : input.take(facts.cacheCreationInputTokens)
  const inputAudio = input.take(facts.kinds?.inputAudio)
  const outputAudio = output.take(facts.kinds?.outputAudio)
  const reasoning = output.take(facts.reasoningTokens)
  return { input: input.left, output: output.left, cacheRead, cacheWrite, reasoning, inputAudio, outputAudio }
}

/** Whole numbers. */
class Remainder {
  left: number

  constructor(tokens: number | undefined) {
    this.left = whole(tokens)
  }

  take(tokens: number | undefined): number {
    const taken = Math.min(whole(tokens), this.left)
    this.left -= taken
    return taken
  }
}

function whole(tokens: number | undefined): number {
  return Math.min(Math.trunc(Math.max(0, tokens ?? 0)), Number.MAX_SAFE_INTEGER)
}

/** The closest double: it prints as the exact decimal up to 15 digits. */
function usd(units: bigint): number {
  return Number(units) / UNITS_PER_USD
}

function amounts(names: readonly RateName[], amountOf: (name: RateName) => number | undefined): LlmAmounts {
  const given: { -readonly [N in RateName]?: number } = {}
  for (const name of names) {
    const amount = amountOf(name)
    if (amount !== undefined) given[name] = amount
  }
  return given
}
