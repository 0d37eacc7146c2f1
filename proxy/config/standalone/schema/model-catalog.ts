// A model catalog: the JSON of a file, or `inline` in a standalone file (data-plane supplement section 3.5).
import * as z from 'zod'
import { RATE_NAMES, type CatalogModel, type ModelCatalog, type ModelRates } from '../../../llm/cost/catalog.ts'
import { fields } from './object.ts'
import { text } from './values.ts'

const NAME_CHARS_MAX = 256
const PROVIDERS_MAX = 256
/** Of each provider. */
const MODELS_MAX = 10_000
const TIERS_MAX = 16
const TAGS_MAX = 64
/** A whole part of twelve digits is more than any price. */
const DECIMAL = /^(\d{1,12})(?:\.(\d{1,6}))?$/
const DECIMALS = 6

const rate = z.string().transform((value, context): bigint => {
  const [, whole, fraction = ''] = DECIMAL.exec(value) ?? []
  if (whole !== undefined) return BigInt(whole + fraction.padEnd(DECIMALS, '0'))
  context.addIssue({
    code: 'custom',
    message: `must be a decimal number in USD per million tokens with at most ${DECIMALS} decimals, for example "2.50"`,
  })
  return z.NEVER
})
const rates = fields({
  input: rate.optional(),
  output: rate.optional(),
  cacheRead: rate.optional(),
  cacheWrite: rate.optional(),
  reasoning: rate.optional(),
  inputAudio: rate.optional(),
  outputAudio: rate.optional(),
}).transform((given): ModelRates => {
  const named = RATE_NAMES.flatMap((name) => {
    const value = given[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(named)
})
const tiers = z
  .array(fields({ contextOver: z.int().min(0), rates }))
  .max(TIERS_MAX)
  .superRefine((list, context) => {
    for (const [index, { contextOver }] of list.entries()) {
      if (contextOver > (list[index - 1]?.contextOver ?? -1)) continue
      const message = 'must be larger than contextOver of the previous tier'
      context.addIssue({ code: 'custom', message, path: [index, 'contextOver'] })
    }
  })
const model = fields({
  rates: rates.optional(),
  tiers: tiers.optional(),
  tags: z.array(z.string().min(1).max(NAME_CHARS_MAX)).max(TAGS_MAX).optional(),
}).transform((given): CatalogModel => ({ rates: given.rates ?? {}, tiers: given.tiers, tags: given.tags ?? [] }))

export const modelCatalog = fields({
  providers: named(fields({ models: named(model, MODELS_MAX) }), PROVIDERS_MAX),
}).transform(({ providers }): ModelCatalog => {
  const byProvider = Object.entries(providers)
  return new Map(byProvider.map(([provider, { models }]) => [provider, new Map(Object.entries(models))]))
})

/** A source of `config.modelCatalog`. */
export const catalogSource = fields({ file: text.optional(), inline: modelCatalog.optional() }).refine(
  ({ file, inline }) => (file === undefined) !== (inline === undefined),
  { error: 'must be {file: …} or {inline: …}' },
)

/** A mapping whose names are not empty. */
function named<T extends z.ZodType>(value: T, entriesMax: number): z.ZodType<Record<string, z.output<T>>> {
  return z.record(z.string().min(1).max(NAME_CHARS_MAX), value).superRefine((entries, context) => {
    if (Object.keys(entries).length <= entriesMax) return
    context.addIssue({ code: 'custom', message: `must have at most ${entriesMax} entries` })
  })
}
