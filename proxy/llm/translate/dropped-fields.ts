// Collects the fields of a request that its translation dropped, for the trace of the request.
import type { TranslationNotes } from '../canonical/format.ts'
import type { Exchange } from '../../exchange/exchange.ts'

/** Names of fields come from the client: a request with more has one line for the rest. */
const FIELDS_MAX = 32

export class DroppedFields implements TranslationNotes {
  readonly #lines: string[] = []
  #rest = 0

  dropped(field: string, reason: string): void {
    if (this.#lines.length < FIELDS_MAX) this.#lines.push(`${field} was dropped: ${reason}`)
    else this.#rest++
  }

  report({ trace }: Exchange): void {
    if (trace === undefined) return
    for (const line of this.#lines) trace.note(line)
    if (this.#rest > 0) trace.note(`${this.#rest} more fields were dropped`)
  }
}
