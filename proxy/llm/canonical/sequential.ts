// Parts of an answer one after the other, for formats whose parts must not overlap: events of a later part wait until
// the earlier ones are closed.
import type { AnswerEvent, PartEvent } from './answer.ts'
import { AnswerTooLarge, charsOf, FOLDED_CHARS_MAX } from './fold.ts'

/** What an event counts beside its text: it is an object in memory. */
const EVENT_CHARS = 64

export class Sequential {
  readonly #waiting = new Map<number, PartEvent[]>()
  #current = 0
  #heldChars = 0

  /** The texts of the events that may be sent now. @throws {AnswerTooLarge} when too much waits. */
  encode(event: AnswerEvent, textOf: (event: AnswerEvent) => string): string {
    return this.push(event).map(textOf).join('')
  }

  /** The events that may be sent now. @throws {AnswerTooLarge} when too much waits. */
  push(event: AnswerEvent): readonly AnswerEvent[] {
    // `finish` comes when all parts are closed, so nothing waits.
    if (!('index' in event)) return [event]
    if (event.index !== this.#current) {
      this.#hold(event)
      return []
    }
    if (event.kind !== 'close') return [event]
    return [event, ...this.#next()]
  }

  #hold(event: PartEvent): void {
    this.#heldChars += EVENT_CHARS + charsOf(event)
    if (this.#heldChars > FOLDED_CHARS_MAX) {
      throw new AnswerTooLarge(`the parts that wait for an earlier one are larger than ${FOLDED_CHARS_MAX} characters`)
    }
    const held = this.#waiting.get(event.index)
    if (held === undefined) this.#waiting.set(event.index, [event])
    else held.push(event)
  }

  #next(): readonly AnswerEvent[] {
    const out: AnswerEvent[] = []
    for (;;) {
      const held = this.#waiting.get(++this.#current)
      if (held === undefined) return out
      this.#waiting.delete(this.#current)
      out.push(...held)
      if (held.at(-1)?.kind !== 'close') return out
    }
  }
}
