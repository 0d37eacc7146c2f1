// Settings that models of Anthropic or Amazon accept only within limits: the rest is dropped with a note, or rejected.
import type { TranslationNotes } from '../canonical/format.ts'
import type { OutputFormat, Setting, Settings } from '../canonical/request.ts'
import type { ModelTraits } from '../traits/traits.ts'
import { unsupported } from './fields.ts'

/** Other formats allow 2. */
const TEMPERATURE_MAX = 1

export interface Sampling {
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly topK?: number | undefined
}

/** `isThinking`: models reject sampling parameters together with thinking. */
export function sampling(
  settings: Settings,
  { traits, isThinking }: { readonly traits: ModelTraits; readonly isThinking: boolean },
  notes: TranslationNotes,
): Sampling {
  const { temperature, topP, topK } = settings
  if (!traits.acceptsSampling || isThinking) {
    const reason = isThinking ? 'the model rejects it together with thinking' : 'the model rejects it'
    for (const setting of [temperature, topP, topK]) if (setting !== undefined) notes.dropped(setting.at, reason)
    return {}
  }
  if (temperature !== undefined && temperature.value > TEMPERATURE_MAX) {
    notes.dropped(temperature.at, `the part over ${TEMPERATURE_MAX}, the maximum of the provider`)
  }
  return {
    temperature: temperature && Math.min(temperature.value, TEMPERATURE_MAX),
    topP: topP?.value,
    topK: topK?.value,
  }
}

/** undefined: the client sets none. */
export function outputLimit(
  { maxOutputTokens: asked }: Settings,
  { maxOutputTokens: max }: ModelTraits,
  notes: TranslationNotes,
): number | undefined {
  if (asked === undefined || max === undefined || asked.value <= max) return asked?.value
  notes.dropped(asked.at, `the part over ${max}, the maximum of the model`)
  return max
}

export type OutputSchema = Extract<OutputFormat, { readonly kind: 'schema' }>

/** undefined: the client asks for text. @throws {Untranslatable} */
export function outputSchema({ value, at }: Setting<OutputFormat>, traits: ModelTraits): OutputSchema | undefined {
  if (value.kind === 'text') return undefined
  if (value.kind === 'json') throw unsupported(`${at} other than text and json_schema`)
  if (!traits.acceptsOutputSchema) throw unsupported(`${at} json_schema with this model`)
  return value
}

/** @throws {Untranslatable} for texts that models of both vendors reject. */
export function checkedStopSequences({ stopSequences: stop }: Settings): readonly string[] | undefined {
  if (stop?.value.some((text) => text.trim() === '') === true) throw unsupported(`${stop.at} with white space alone`)
  return stop?.value
}
