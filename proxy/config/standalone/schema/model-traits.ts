// A file of model traits: what models accept that no built-in row knows, such as deployments with names of their own.
import * as z from 'zod'
import { EFFORTS, THINKING_FORMS, UNKNOWN_MODEL, type ModelTraits, type TraitsRow } from '../../../llm/traits/traits.ts'
import { traitsOf } from '../../../llm/traits/table.ts'
import { fields } from './object.ts'

const NAME_CHARS_MAX = 256
const MODELS_MAX = 1000

const name = z.string().min(1).max(NAME_CHARS_MAX)
const tokens = z.int().min(1)

const model = fields({
  /** `*` stands for any text. */
  match: z.union([name, z.array(name).min(1).max(MODELS_MAX)]),
  like: name.optional(),
  thinking: z.enum(THINKING_FORMS).optional(),
  efforts: z.array(z.enum(EFFORTS)).min(1).optional(),
  budgetMin: z.int().min(0).optional(),
  budgetMax: tokens.optional(),
  canStopThinking: z.boolean().optional(),
  acceptsForcedCallWithThinking: z.boolean().optional(),
  acceptsSampling: z.boolean().optional(),
  acceptsOutputSchema: z.boolean().optional(),
  acceptsCacheMarks: z.boolean().optional(),
  maxOutputTokens: tokens.optional(),
})

export const modelTraits = fields({ models: z.array(model).max(MODELS_MAX) }).transform(({ models }) =>
  models.map(rowOf),
)

function rowOf({ match, like, ...given }: z.output<typeof model>): TraitsRow {
  const base = like === undefined ? UNKNOWN_MODEL : traitsOf(like)
  const own = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const traits: ModelTraits = { ...base, ...own }
  const efforts = EFFORTS.filter((effort) => traits.efforts.includes(effort))
  return { match: anyOf([match].flat()), traits: { ...traits, efforts } }
}

function anyOf(names: readonly string[]): RegExp {
  const patterns = names.map((text) => text.replaceAll(/[^\w*]/g, String.raw`\$&`).replaceAll('*', '.*'))
  return new RegExp(`^(?:${patterns.join('|')})$`)
}
