// Event streams of the responses format. Parts are found by the places of their items and contents, so that deltas may
// come in any order; an item of which no delta came is read when it is done.
import type { SseEvent } from '../../../http/sse.ts'
import { AnswerWriter, streamError } from '../../canonical/answer-writer.ts'
import type { AnswerEvent, OpenPart } from '../../canonical/answer.ts'
import type { StreamDecoder } from '../../canonical/format.ts'
import { asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { decodeLogprobs } from '../logprobs.ts'
import { decodeError } from '../openai-error.ts'
import { decodeAnnotation, openCall, writeEnd, writeItem } from './decode-answer.ts'
import { reasoningOf, signatureOf, SUMMARY_SEPARATOR } from './reasoning.ts'

interface OpenItem {
  /** Parts by the index of the content; reasoning and calls are one part, at -1. */
  readonly parts: Map<number, number>
  hasText: boolean
}

export class ResponsesDecoder implements StreamDecoder {
  readonly #writer = new AnswerWriter()
  readonly #items = new Map<number, OpenItem>()
  #hasCalls = false

  event({ data }: SseEvent): readonly AnswerEvent[] {
    if (this.#writer.isDone || data.trim() === '[DONE]') return []
    const json = this.#writer.json(data)
    if (json !== undefined) this.#read(json)
    return this.#writer.take()
  }

  end(): readonly AnswerEvent[] {
    this.#writer.failEarly()
    return this.#writer.take()
  }

  #read(json: JsonObject): void {
    const response = asObject(json['response'])
    switch (json['type']) {
      case 'response.created':
        this.#start(response)
        break
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.#start(response)
        writeEnd(this.#writer, response, this.#hasCalls)
        break
      case 'error':
        this.#writer.fail(decodeError(errorOf(json), undefined) ?? streamError('the provider reported an error'))
        break
      case 'response.output_item.added':
        this.#added(json)
        break
      case 'response.output_item.done':
        this.#done(json)
        break
      default:
        this.#delta(json)
    }
  }

  #start(response: JsonObject): void {
    this.#writer.start(asString(response['id']) ?? '', asString(response['model']) ?? '')
  }

  #added(json: JsonObject): void {
    const item = asObject(json['item'])
    if (item['type'] !== 'function_call') return
    this.#hasCalls = true
    this.#itemOf(json).parts.set(ONLY, openCall(this.#writer, item))
  }

  #done(json: JsonObject): void {
    const item = asObject(json['item'])
    const open = this.#items.get(placeOf(json))
    if (item['type'] === 'function_call') this.#hasCalls = true
    if (open === undefined) {
      writeItem(this.#writer, item)
      return
    }
    this.#items.delete(placeOf(json))
    this.#complete(open, item)
    for (const part of open.parts.values()) this.#writer.close(part)
  }

  /** With what only the finished item has. */
  #complete(open: OpenItem, item: JsonObject): void {
    const part = open.parts.get(ONLY)
    if (part === undefined) return
    if (item['type'] === 'function_call' && !open.hasText) {
      this.#writer.arguments(part, asString(item['arguments']) ?? '')
    }
    if (item['type'] !== 'reasoning') return
    if (!open.hasText) this.#writer.text(part, reasoningOf(item).text)
    const signature = signatureOf(item)
    if (signature !== undefined) this.#writer.signature(part, signature)
  }

  #delta(json: JsonObject): void {
    const delta = asString(json['delta']) ?? ''
    switch (json['type']) {
      case 'response.output_text.delta':
        this.#text(json, { kind: 'text' }, delta)
        break
      case 'response.refusal.delta':
        this.#text(json, { kind: 'refusal' }, delta)
        break
      case 'response.reasoning_text.delta':
        this.#reasoning(json, false, delta)
        break
      case 'response.reasoning_summary_text.delta':
        this.#reasoning(json, true, delta)
        break
      case 'response.reasoning_summary_part.added':
        if ((asNumber(json['summary_index']) ?? 0) > 0) this.#reasoning(json, true, SUMMARY_SEPARATOR)
        break
      case 'response.function_call_arguments.delta':
        this.#arguments(json, delta)
        break
      case 'response.output_text.annotation.added':
        for (const citation of decodeAnnotation(json['annotation'])) {
          this.#writer.citation(this.#partOf(json, contentOf(json), { kind: 'text' }), citation)
        }
        break
      default:
    }
  }

  #text(json: JsonObject, part: OpenPart, text: string): void {
    this.#writer.text(this.#partOf(json, contentOf(json), part), text, decodeLogprobs(json['logprobs']))
  }

  #reasoning(json: JsonObject, isSummary: boolean, text: string): void {
    this.#writer.text(this.#partOf(json, ONLY, { kind: 'reasoning', isSummary }), text)
    this.#itemOf(json).hasText = true
  }

  #arguments(json: JsonObject, text: string): void {
    const item = this.#itemOf(json)
    this.#writer.arguments(item.parts.get(ONLY) ?? -1, text)
    if (text !== '') item.hasText = true
  }

  #itemOf(json: JsonObject): OpenItem {
    const known = this.#items.get(placeOf(json))
    if (known !== undefined) return known
    const item: OpenItem = { parts: new Map(), hasText: false }
    this.#items.set(placeOf(json), item)
    return item
  }

  #partOf(json: JsonObject, content: number, part: OpenPart): number {
    const { parts } = this.#itemOf(json)
    const known = parts.get(content)
    if (known !== undefined) return known
    const index = this.#writer.open(part)
    parts.set(content, index)
    return index
  }
}

const ONLY = -1

function placeOf(json: JsonObject): number {
  return asNumber(json['output_index']) ?? 0
}

function contentOf(json: JsonObject): number {
  return asNumber(json['content_index']) ?? 0
}

/** The members of an error stand in the event itself, or in one of them. */
function errorOf(json: JsonObject): JsonObject {
  return json['error'] === undefined ? { error: { ...json, type: undefined } } : json
}
