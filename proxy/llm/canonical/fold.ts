// The whole answer from its events. A format that ends a stream with the whole answer folds as the stream runs.
import type {
  AnswerEvent,
  AnswerImage,
  CalledName,
  FinishReason,
  ModelError,
  OpenPart,
  PartEvent,
  TokenLogprob,
  Usage,
} from './answer.ts'
import type { Citation, OpaqueValue, Signature } from './request.ts'

export interface FoldedAnswer {
  readonly id: string
  readonly model: string
  readonly parts: readonly FoldedPart[]
  readonly usage: Partial<Usage>
  /** undefined: the answer is not complete. */
  readonly reason: FinishReason | undefined
  readonly stopSequence: string | undefined
  readonly error: ModelError | undefined
}

export type FoldedPart =
  | { readonly kind: 'text'; text: string; readonly citations: Citation[]; readonly logprobs: TokenLogprob[] }
  | { readonly kind: 'refusal'; text: string; readonly logprobs: TokenLogprob[] }
  | { readonly kind: 'reasoning'; text: string; readonly isSummary: boolean; signature: Signature | undefined }
  | ({ readonly kind: 'toolCall'; readonly id: string; text: string } & CalledName)
  | ({ readonly kind: 'image' } & AnswerImage)
  | ({ readonly kind: 'opaque' } & OpaqueValue)

/** Characters of all texts of an answer: as much as a whole answer that is translated may have (docs/limits.md). */
export const FOLDED_CHARS_MAX = 2 ** 24

/** What the probability of one token counts, about its length as JSON. */
const LOGPROB_CHARS = 64

export class AnswerTooLarge extends Error {}

export class AnswerFold implements FoldedAnswer {
  id = ''
  model = ''
  readonly parts: FoldedPart[] = []
  usage: Partial<Usage> = {}
  reason: FinishReason | undefined = undefined
  stopSequence: string | undefined = undefined
  error: ModelError | undefined = undefined
  #chars = 0

  /** @throws {AnswerTooLarge} */
  push(event: AnswerEvent): void {
    switch (event.kind) {
      case 'start':
        this.id = event.id
        this.model = event.model
        break
      case 'open':
        this.#count(charsOf(event))
        this.parts.push(opened(event.part))
        break
      case 'text':
      case 'arguments':
      case 'citation':
      case 'signature':
      case 'close':
        this.#add(event)
        break
      case 'usage':
        this.usage = { ...this.usage, ...event.usage }
        break
      case 'finish':
        this.reason = event.reason
        this.stopSequence = event.stopSequence
        break
      case 'error':
        this.error = event.error
    }
  }

  #add(event: Exclude<PartEvent, { kind: 'open' }>): void {
    const part = this.parts[event.index]
    if (event.kind === 'text' || event.kind === 'arguments') {
      this.#append(part, event.text)
      if (event.kind === 'text') this.#addLogprobs(part, event.logprobs)
    } else if (event.kind === 'citation' && part?.kind === 'text') {
      this.#count(charsOf(event))
      part.citations.push(event.citation)
    } else if (event.kind === 'signature' && part?.kind === 'reasoning') part.signature = event.signature
  }

  #addLogprobs(part: FoldedPart | undefined, logprobs: readonly TokenLogprob[] = []): void {
    if (part?.kind !== 'text' && part?.kind !== 'refusal') return
    for (const one of logprobs) {
      part.logprobs.push(one)
      this.#count(LOGPROB_CHARS * (1 + one.top.length))
    }
  }

  #append(part: FoldedPart | undefined, text: string): void {
    this.#count(text.length)
    if (part !== undefined && 'text' in part) part.text += text
  }

  #count(chars: number): void {
    this.#chars += chars
    if (this.#chars > FOLDED_CHARS_MAX) {
      throw new AnswerTooLarge(`the answer is larger than ${FOLDED_CHARS_MAX} characters`)
    }
  }
}

/** Of the texts of an event, or of its JSON. */
export function charsOf(event: PartEvent): number {
  switch (event.kind) {
    case 'text':
    case 'arguments':
      return event.text.length
    case 'citation': {
      const { original, url = '', title = '', quote = '' } = event.citation
      return original === undefined ? url.length + title.length + quote.length : JSON.stringify(original.value).length
    }
    case 'signature':
      return event.signature.value.length
    case 'open':
      return openedChars(event.part)
    case 'close':
  }
  return 0
}

function openedChars(part: OpenPart): number {
  if (part.kind === 'image') return part.data.length
  return part.kind === 'opaque' ? JSON.stringify(part.value).length : 0
}

/** @throws {AnswerTooLarge} */
export function fold(events: readonly AnswerEvent[]): FoldedAnswer {
  const answer = new AnswerFold()
  for (const event of events) answer.push(event)
  return answer
}

function opened(part: OpenPart): FoldedPart {
  switch (part.kind) {
    case 'text':
      return { kind: 'text', text: '', citations: [], logprobs: [] }
    case 'refusal':
      return { kind: 'refusal', text: '', logprobs: [] }
    case 'reasoning':
      return { kind: 'reasoning', text: '', isSummary: part.isSummary, signature: undefined }
    case 'toolCall':
      return { ...part, text: '' }
    case 'image':
    case 'opaque':
  }
  return part
}
