// Answers of GenerateContent for clients. A stream is a list of partial answers, whose parts one after the other are
// those of the whole answer. A call has no pieces: it is sent when it is complete.
import { sseData } from '../../../http/sse.ts'
import type {
  AnswerEvent,
  AnswerImage,
  FinishReason,
  OpenPart,
  PartEvent,
  TokenLogprob,
  Usage,
} from '../../canonical/answer.ts'
import { AnswerTooLarge, fold, FOLDED_CHARS_MAX, type FoldedPart } from '../../canonical/fold.ts'
import type { StreamEncoder } from '../../canonical/format.ts'
import type { Citation, Signature } from '../../canonical/request.ts'
import { Sequential } from '../../canonical/sequential.ts'
import { toolInput } from '../../canonical/tool-input.ts'
import type { JsonObject } from '../../json.ts'
import { defined } from '../fields.ts'
import { encodeError } from './error.ts'
import { encodeLogprobs } from './logprobs.ts'
import { CitedText } from './ranges.ts'
import { thoughtSignatureOf } from './signature.ts'
import { encodeUsage } from './usage.ts'

/** A call ends an answer as its text does. The SDK of Google continues `CONTINUATION` with a token of the vendor. */
const REASONS: { readonly [R in FinishReason]: string } = {
  stop: 'STOP',
  stopSequence: 'STOP',
  pause: 'STOP',
  toolCalls: 'STOP',
  length: 'MAX_TOKENS',
  contextLength: 'MAX_TOKENS',
  contentFilter: 'SAFETY',
  refusal: 'SAFETY',
}

export function encodeAnswer(events: readonly AnswerEvent[]): JsonObject {
  const { id, model, parts, reason, usage } = fold(events)
  const citations = citationsOf(parts)
  const logprobs = parts.flatMap((part) => (part.kind === 'text' || part.kind === 'refusal' ? part.logprobs : []))
  return answer(parts.flatMap(encodePart), { reason, citations, logprobs, usage, head: { id, model } })
}

interface AnswerRest {
  readonly reason?: FinishReason | undefined
  readonly citations?: readonly JsonObject[] | undefined
  readonly logprobs?: readonly TokenLogprob[] | undefined
  readonly usage?: Partial<Usage> | undefined
  readonly head: { readonly id: string; readonly model: string }
}

/** Clients keep an answer in their history only if each of its pieces has a part. */
const NO_PARTS = [{ text: '' }]

function answer(
  parts: readonly JsonObject[],
  { reason, citations = [], logprobs = [], usage, head }: AnswerRest,
): JsonObject {
  return defined({
    candidates: [
      defined({
        content: { role: 'model', parts: parts.length === 0 ? NO_PARTS : parts },
        finishReason: reason && REASONS[reason],
        citationMetadata: citations.length === 0 ? undefined : { citations },
        logprobsResult: encodeLogprobs(logprobs),
        index: 0,
      }),
    ],
    usageMetadata: usage && encodeUsage(usage),
    modelVersion: head.model,
    responseId: head.id,
  })
}

function encodePart(part: FoldedPart): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'reasoning':
      return part.text === '' && part.signature === undefined ? [] : [thought(part.text, part.signature)]
    case 'toolCall':
      return [functionCall(part.id, part.name, part.text)]
    case 'image':
      return [inlineImage(part)]
    case 'opaque':
  }
  return []
}

function thought(text: string, signature: Signature | undefined): JsonObject {
  return defined({ text, thought: true, thoughtSignature: signature && thoughtSignatureOf(signature) })
}

function inlineImage({ mediaType, data }: AnswerImage): JsonObject {
  return { inlineData: { mimeType: mediaType, data } }
}

function functionCall(id: string, name: string, text: string): JsonObject {
  return { functionCall: { id, name, args: toolInput(text) } }
}

function citationsOf(parts: readonly FoldedPart[]): readonly JsonObject[] {
  let base = 0
  return parts.flatMap((part) => {
    if (part.kind !== 'text') return []
    const text = new CitedText()
    text.append(part.text)
    const start = base
    base += text.byteLength
    return part.citations.flatMap((one) => encodeCitation(one, text, start))
  })
}

function encodeCitation(citation: Citation, text: CitedText, base: number): readonly JsonObject[] {
  const { url: uri, title } = citation
  return uri === undefined ? [] : [defined({ uri, title, ...text.bytesOf(citation, base) })]
}

export class GeminiEncoder implements StreamEncoder {
  readonly #sequential = new Sequential()
  #head = { id: '', model: '' }
  #usage: Partial<Usage> = {}
  #open: OpenPart | undefined
  /** Of the open call. */
  #arguments = ''
  /** Of the open part. */
  #text = new CitedText()
  /** Bytes of the texts in front of it. */
  #base = 0

  /** @throws {AnswerTooLarge} */
  event(event: AnswerEvent): string {
    return this.#sequential.encode(event, (one) => this.#encode(one))
  }

  #encode(event: AnswerEvent): string {
    switch (event.kind) {
      case 'start':
        this.#head = { id: event.id, model: event.model }
        return ''
      case 'usage':
        this.#usage = { ...this.#usage, ...event.usage }
        return ''
      case 'finish':
        return sseData(answer([], { reason: event.reason, usage: this.#usage, head: this.#head }))
      case 'error':
        return sseData(encodeError(event.error, undefined))
      case 'open':
        this.#open = event.part
        this.#arguments = ''
        this.#base += this.#text.byteLength
        this.#text = new CitedText()
        return event.part.kind === 'image' ? this.#part(inlineImage(event.part)) : ''
      case 'text':
      case 'arguments':
      case 'citation':
      case 'signature':
      case 'close':
    }
    return this.#inPart(event)
  }

  #inPart(event: Exclude<PartEvent, { kind: 'open' }>): string {
    switch (event.kind) {
      case 'text':
        return this.#textPart(event)
      case 'signature':
        return this.#part(thought('', event.signature))
      case 'citation': {
        const citations = encodeCitation(event.citation, this.#text, this.#base)
        return citations.length === 0 ? '' : sseData(answer([], { citations, head: this.#head }))
      }
      case 'arguments':
        this.#arguments += event.text
        if (this.#arguments.length <= FOLDED_CHARS_MAX) return ''
        throw new AnswerTooLarge(`the arguments of a call are larger than ${FOLDED_CHARS_MAX} characters`)
      case 'close':
    }
    if (this.#open?.kind !== 'toolCall') return ''
    return this.#part(functionCall(this.#open.id, this.#open.name, this.#arguments))
  }

  #textPart({ text, logprobs }: PartEvent & { kind: 'text' }): string {
    if (this.#open?.kind === 'reasoning') return this.#part(thought(text, undefined))
    if (this.#open?.kind === 'text') this.#text.append(text)
    return this.#part({ text }, logprobs)
  }

  #part(part: JsonObject, logprobs?: readonly TokenLogprob[]): string {
    return sseData(answer([part], { logprobs, head: this.#head }))
  }
}
