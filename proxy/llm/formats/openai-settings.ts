// Settings that the formats of OpenAI share, from those of other formats (data-plane supplement section 3.9).
import { isRecord } from '#api/json.ts'
import type { TranslationNotes } from '../canonical/format.ts'
import type { OutputFormat, Reasoning, Setting } from '../canonical/request.ts'
import { asArray } from '../json.ts'

/** The lowest budget of each effort, as section 3.9 has it for the other direction; few models have more. */
const EFFORTS: readonly (readonly [budget: number, effort: string])[] = [
  [4096, 'high'],
  [2048, 'medium'],
  [0, 'low'],
]

/** undefined: the model decides. */
export function openAiEffort(reasoning: Setting<Reasoning> | undefined, notes: TranslationNotes): string | undefined {
  if (reasoning === undefined) return undefined
  const { effort, budgetTokens, original } = reasoning.value
  // Models without reasoning reject any effort, also `none`.
  if (original?.thinking?.['type'] === 'disabled') {
    notes.dropped(reasoning.at, 'reasoning is not switched on')
    return undefined
  }
  if (budgetTokens === undefined) return effort
  return EFFORTS.find(([budget]) => budgetTokens >= budget)?.[1]
}

const USER_CHARS_MAX = 64

/** Longer identifiers are rejected by OpenAI. */
export function openAiUser(user: Setting<string> | undefined, notes: TranslationNotes): string | undefined {
  if (user === undefined || user.value.length <= USER_CHARS_MAX) return user?.value
  notes.dropped(user.at, `longer than ${USER_CHARS_MAX} characters`)
  return undefined
}

/** OpenAI accepts a strict schema for the answer if all properties are required and no others allowed. */
export function openAiStrict(
  { schema, isStrict }: OutputFormat & { kind: 'schema' },
  at: string,
  notes: TranslationNotes,
): boolean | undefined {
  if (isStrict !== 'ifPossible') return isStrict
  if (isClosed(schema)) return true
  notes.dropped(at, 'the schema is not closed: it is a hint for the model, not a guarantee')
  return undefined
}

/** All objects inside have only required properties. Depth and size are bounded by the parser of the request. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed)
  if (!isRecord(schema)) return true
  const { properties, required, additionalProperties } = schema
  if (isRecord(properties)) {
    if (additionalProperties !== false) return false
    const names = asArray(required)
    if (!Object.keys(properties).every((name) => names.includes(name))) return false
  }
  return Object.values(schema).every(isClosed)
}
