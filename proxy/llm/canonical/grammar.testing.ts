// Checks the grammar of answer.ts, for tests.
import type { AnswerEvent, OpenPart, PartEvent } from './answer.ts'

/** Which events each kind of part may have. */
const INSIDE: Readonly<Record<OpenPart['kind'], readonly AnswerEvent['kind'][]>> = {
  text: ['text', 'citation', 'close'],
  refusal: ['text', 'close'],
  reasoning: ['text', 'signature', 'close'],
  toolCall: ['arguments', 'close'],
  image: ['close'],
  opaque: ['close'],
}

export class AnswerGrammar {
  #state: 'before' | 'open' | 'done' = 'before'
  #parts = 0
  readonly #open = new Map<number, { kind: OpenPart['kind']; hasArguments: boolean }>()

  /** @throws {Error} for an event that is out of the grammar. */
  push(event: AnswerEvent): void {
    const out = this.#fault(event)
    if (out !== undefined) throw new Error(`${out}: ${JSON.stringify(event)}`)
  }

  /** @throws {Error} if the answer is not complete. */
  end(): void {
    if (this.#state !== 'done') throw new Error('the answer has neither finish nor error')
  }

  #fault(event: AnswerEvent): string | undefined {
    if (this.#state === 'done') return 'event after the end'
    if (event.kind === 'error') {
      this.#state = 'done'
      return undefined
    }
    if (event.kind === 'start') {
      if (this.#state === 'open') return 'second start'
      this.#state = 'open'
      return undefined
    }
    if (this.#state === 'before') return 'event before start'
    return this.#within(event)
  }

  #within(event: Exclude<AnswerEvent, { kind: 'start' | 'error' }>): string | undefined {
    switch (event.kind) {
      case 'usage':
        return Object.values(event.usage).every((count) => Number.isFinite(count)) ? undefined : 'count is not a number'
      case 'finish':
        this.#state = 'done'
        return this.#open.size === 0 ? undefined : 'finish with open parts'
      case 'open':
        if (event.index !== this.#parts++) return 'part out of order'
        this.#open.set(event.index, { kind: event.part.kind, hasArguments: false })
        return undefined
      case 'text':
      case 'arguments':
      case 'citation':
      case 'signature':
      case 'close':
    }
    return this.#inPart(event)
  }

  #inPart(event: PartEvent): string | undefined {
    const part = this.#open.get(event.index)
    if (part === undefined) return 'event of a part that is not open'
    if (!INSIDE[part.kind].includes(event.kind)) return `event that a ${part.kind} does not have`
    if ((event.kind === 'text' || event.kind === 'arguments') && event.text === '') return 'empty text'
    if (event.kind === 'arguments') part.hasArguments = true
    if (event.kind !== 'close') return undefined
    this.#open.delete(event.index)
    return part.kind === 'toolCall' && !part.hasArguments ? 'tool call without arguments' : undefined
  }
}

/** The events, if they are a complete answer in the grammar. @throws {Error} */
export function grammatical(events: readonly AnswerEvent[]): readonly AnswerEvent[] {
  const grammar = new AnswerGrammar()
  for (const event of events) grammar.push(event)
  grammar.end()
  return events
}
