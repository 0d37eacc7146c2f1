// Collects the fields of a request that its translation dropped, for the trace and the access log.
import type { TranslationNotes } from '../canonical/format.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { LlmFacts } from '../../exchange/facts.ts'

/** A client may send any number of them: the rest is only counted. */
const FIELDS_MAX = 32

export class DroppedFields implements TranslationNotes {
  readonly #fields: { readonly field: string; readonly reason: string }[] = []
  #rest = 0

  dropped(field: string, reason: string): void {
    if (this.#fields.length < FIELDS_MAX) this.#fields.push({ field, reason })
    else this.#rest++
  }

  report({ trace }: Exchange, facts: LlmFacts): void {
    if (this.#fields.length === 0) return
    const more = this.#rest === 0 ? [] : [`${this.#rest} more`]
    facts.droppedFields = [...this.#fields.map(({ field }) => field), ...more].join(', ')
    for (const { field, reason } of this.#fields) {
      trace?.write({ type: 'policyEvent', kind: 'translation', details: `${field} was dropped: ${reason}` })
    }
    for (const count of more)
      trace?.write({ type: 'policyEvent', kind: 'translation', details: `${count} were dropped` })
  }
}

/** Parts of an answer, as they come. A name is reported once. */
export function answerNotes({ trace }: Exchange, facts: LlmFacts): TranslationNotes {
  // Most answers drop nothing.
  let seen: Set<string> | undefined
  return {
    dropped(field, reason) {
      seen ??= new Set()
      if (seen.has(field) || seen.size === FIELDS_MAX) return
      seen.add(field)
      facts.droppedFields = facts.droppedFields === undefined ? field : `${facts.droppedFields}, ${field}`
      trace?.write({ type: 'policyEvent', kind: 'translation', details: `${field} was dropped: ${reason}` })
    },
  }
}
