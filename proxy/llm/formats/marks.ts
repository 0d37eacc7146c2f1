// Marks on parts of a request that the formats of OpenAI and Google do not have: for the prompt cache, and citations.
import type { TranslationNotes } from '../canonical/format.ts'
import type { Part } from '../canonical/request.ts'
import { CACHE_HINT_REASON } from './fields.ts'

export function noteMarks(part: Part, notes: TranslationNotes): void {
  if (part.cache !== undefined) notes.dropped(`${part.at}.cache_control`, CACHE_HINT_REASON)
  if (part.kind === 'text' && (part.citations?.length ?? 0) > 0) {
    notes.dropped(`${part.at}.citations`, 'the format has none in requests')
  }
  if (part.kind === 'toolResult') for (const one of part.content) noteMarks(one, notes)
}
