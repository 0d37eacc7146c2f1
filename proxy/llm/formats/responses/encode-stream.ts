// Answers as event streams of the responses format. Each part is an item of the output; the last event has the whole
// response.
import { sseData } from '../../../http/sse.ts'
import type { AnswerEvent, ModelError, OpenPart, PartEvent } from '../../canonical/answer.ts'
import { AnswerFold, type FoldedPart } from '../../canonical/fold.ts'
import type { AnswerContext, StreamEncoder } from '../../canonical/format.ts'
import type { Citation } from '../../canonical/request.ts'
import { asArray, asObject, type JsonObject } from '../../json.ts'
import { encodeLogprobs } from '../logprobs.ts'
import { encodeError } from '../openai-error.ts'
import {
  encodeAnnotation,
  encodeCall,
  encodeContent,
  encodeItem,
  encodeResponse,
  formatOf,
  itemId,
  statusOf,
} from './encode-answer.ts'

/** The place of a part in the output. */
interface Place {
  readonly item_id: string
  readonly output_index: number
}

export class ResponsesEncoder implements StreamEncoder {
  readonly #created: number
  readonly #answer = new AnswerFold()
  /** By the index of the part; parts that only another format knows have none. */
  readonly #places = new Map<number, Place>()
  #items = 0
  #sequence = 0
  #isStarted = false

  constructor({ createdSeconds }: AnswerContext) {
    this.#created = createdSeconds
  }

  event(event: AnswerEvent): string {
    this.#answer.push(event)
    switch (event.kind) {
      case 'start':
        this.#isStarted = true
        return this.#response('response.created') + this.#response('response.in_progress')
      case 'usage':
        return ''
      case 'finish':
        return this.#response(`response.${statusOf(this.#answer)}`)
      case 'error':
        return this.#error(event.error)
      case 'open':
        return this.#open(event.index, event.part)
      case 'text':
      case 'arguments':
      case 'citation':
      case 'signature':
      case 'close':
    }
    return this.#inPart(event)
  }

  #error(error: ModelError): string {
    const { message, code, param } = asObject(encodeError(error)['error'])
    const event = this.#frame('error', { code: code ?? 'server_error', message, param })
    return this.#isStarted ? event + this.#response('response.failed') : event
  }

  #response(type: string): string {
    return this.#frame(type, { response: encodeResponse(this.#answer, this.#created) })
  }

  #open(index: number, part: OpenPart): string {
    if (part.kind === 'opaque' && part.format !== 'Responses') return ''
    const place = { item_id: itemId(part.kind, index, this.#answer.id), output_index: this.#items++ }
    this.#places.set(index, place)
    const { output_index } = place
    const added = this.#frame('response.output_item.added', { output_index, item: openItem(part, place.item_id) })
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return (
          added + this.#frame('response.content_part.added', { ...place, ...FIRST_CONTENT, part: EMPTY[part.kind] })
        )
      case 'reasoning':
      case 'toolCall':
      case 'image':
      case 'opaque':
    }
    return added
  }

  #inPart(event: Exclude<PartEvent, { kind: 'open' }>): string {
    const [part, place] = [this.#answer.parts[event.index], this.#places.get(event.index)]
    if (part === undefined || place === undefined) return ''
    switch (event.kind) {
      case 'text':
        return this.#text(part, place, event)
      case 'arguments':
        return this.#frame('response.function_call_arguments.delta', { ...place, delta: event.text })
      case 'citation':
        return this.#citation(part, place, event.citation)
      case 'signature':
        return ''
      case 'close':
    }
    return this.#close(event.index, part, place)
  }

  #text(part: FoldedPart, place: Place, { text: delta, logprobs = [] }: PartEvent & { kind: 'text' }): string {
    if (part.kind === 'text') {
      return this.#frame('response.output_text.delta', {
        ...place,
        ...FIRST_CONTENT,
        delta,
        logprobs: encodeLogprobs(logprobs),
      })
    }
    if (part.kind === 'refusal') return this.#frame('response.refusal.delta', { ...place, ...FIRST_CONTENT, delta })
    if (part.kind !== 'reasoning') return ''
    // The part begins with its first text: reasoning without text has none.
    const isFirst = part.text.length === delta.length
    return (isFirst ? this.#beginReasoning(part.isSummary, place) : '') + this.#reasoning(part.isSummary, place, delta)
  }

  #beginReasoning(isSummary: boolean, place: Place): string {
    return isSummary
      ? this.#frame('response.reasoning_summary_part.added', { ...place, ...FIRST_SUMMARY, part: summaryPart('') })
      : this.#frame('response.content_part.added', { ...place, ...FIRST_CONTENT, part: reasoningPart('') })
  }

  #reasoning(isSummary: boolean, place: Place, delta: string): string {
    return isSummary
      ? this.#frame('response.reasoning_summary_text.delta', { ...place, ...FIRST_SUMMARY, delta })
      : this.#frame('response.reasoning_text.delta', { ...place, ...FIRST_CONTENT, delta })
  }

  #citation(part: FoldedPart, place: Place, citation: Citation): string {
    const annotation = encodeAnnotation(citation)
    if (annotation === undefined || part.kind !== 'text') return ''
    const annotation_index = asArray(encodeContent(part)['annotations']).length - 1
    const fields = { ...place, ...FIRST_CONTENT, annotation_index, annotation }
    return this.#frame('response.output_text.annotation.added', fields)
  }

  #close(index: number, part: FoldedPart, place: Place): string {
    const [item] = encodeItem(part, index, this.#answer.id)
    const { output_index } = place
    return this.#closeContent(part, place) + this.#frame('response.output_item.done', { output_index, item })
  }

  #closeContent(part: FoldedPart, place: Place): string {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return this.#closeText(part, { ...place, ...FIRST_CONTENT })
      case 'toolCall': {
        const { name, text } = part
        return this.#frame('response.function_call_arguments.done', { ...place, name, arguments: text })
      }
      case 'reasoning':
        return part.text === '' ? '' : this.#closeReasoning(part, place)
      case 'image':
        return this.#frame('response.image_generation_call.completed', place)
      case 'opaque':
    }
    return ''
  }

  #closeText(part: FoldedPart & { kind: 'text' | 'refusal' }, content: object): string {
    const { text } = part
    const done =
      part.kind === 'text'
        ? this.#frame('response.output_text.done', { ...content, text, logprobs: encodeLogprobs(part.logprobs) })
        : this.#frame('response.refusal.done', { ...content, refusal: text })
    return done + this.#frame('response.content_part.done', { ...content, part: encodeContent(part) })
  }

  #closeReasoning({ isSummary, text }: FoldedPart & { kind: 'reasoning' }, place: Place): string {
    const fields = { ...place, ...(isSummary ? FIRST_SUMMARY : FIRST_CONTENT) }
    return isSummary
      ? this.#frame('response.reasoning_summary_text.done', { ...fields, text }) +
          this.#frame('response.reasoning_summary_part.done', { ...fields, part: summaryPart(text) })
      : this.#frame('response.reasoning_text.done', { ...fields, text }) +
          this.#frame('response.content_part.done', { ...fields, part: reasoningPart(text) })
  }

  #frame(type: string, fields: object): string {
    return `event: ${type}\n${sseData({ type, sequence_number: this.#sequence++, ...fields })}`
  }
}

const FIRST_CONTENT = { content_index: 0 }
const FIRST_SUMMARY = { summary_index: 0 }
const EMPTY = {
  text: { type: 'output_text', text: '', annotations: [], logprobs: [] },
  refusal: { type: 'refusal', refusal: '' },
} as const

function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text }
}

function reasoningPart(text: string): JsonObject {
  return { type: 'reasoning_text', text }
}

function openItem(part: OpenPart, id: string): JsonObject {
  const status = 'in_progress'
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { id, type: 'message', status, role: 'assistant', content: [] }
    case 'toolCall':
      return encodeCall({ ...part, text: '' }, { id, status })
    case 'reasoning':
      return { id, type: 'reasoning', summary: [] }
    case 'image':
      return { id, type: 'image_generation_call', status, output_format: formatOf(part), result: null }
    case 'opaque':
  }
  return part.value
}
