// Event streams of chat completions. Texts and reasoning become one part after the other; tool calls run side by side,
// as their deltas may come in any order.
import type { SseEvent } from '../../../http/sse.ts'
import { AnswerWriter, streamError } from '../../canonical/answer-writer.ts'
import type { AnswerEvent, TokenLogprob } from '../../canonical/answer.ts'
import type { StreamDecoder } from '../../canonical/format.ts'
import { receivedArguments } from '../../canonical/tool-input.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { decodeAnnotation, decodeReason } from './answer.ts'
import { decodeLogprobs } from '../logprobs.ts'
import { decodeError } from '../openai-error.ts'
import { decodeImages } from './images.ts'
import { JsonEnd } from './json-end.ts'
import { decodeReasoning, reasoningText } from './thinking.ts'
import { decodeUsage } from '../openai-usage.ts'

type Kind = 'text' | 'refusal' | 'reasoning'

interface Call {
  readonly id: string
  readonly index: number
  readonly part: number
  readonly end: JsonEnd
}

export class CompletionsDecoder implements StreamDecoder {
  readonly #writer = new AnswerWriter()
  /** The open part that is not a tool call. */
  #current: { readonly kind: Kind; readonly part: number } | undefined
  /** By the index of the provider. */
  readonly #calls = new Map<number, Call>()
  #last: Call | undefined
  /** Calls whose arguments are a complete object. */
  readonly #complete = new Set<Call>()
  #reason: unknown

  event({ data }: SseEvent): readonly AnswerEvent[] {
    if (this.#writer.isDone) return []
    if (data.trim() === '[DONE]') return this.end()
    const json = this.#writer.json(data)
    if (json !== undefined) this.#read(json)
    return this.#writer.take()
  }

  /** Some providers omit `[DONE]`: an answer with a reason for its end is complete. */
  end(): readonly AnswerEvent[] {
    if (typeof this.#reason === 'string') this.#writer.finish(decodeReason(this.#reason, this.#last !== undefined))
    else this.#writer.failEarly()
    return this.#writer.take()
  }

  #read(json: JsonObject): void {
    if (json['error'] !== undefined && json['error'] !== null) {
      this.#writer.fail(decodeError(json, undefined) ?? streamError('the provider reported an error'))
      return
    }
    const choice = asObject(asArray(json['choices']).find((one) => (asObject(one)['index'] ?? 0) === 0))
    // Azure sends an event without choices and without a model first.
    if (Object.keys(choice).length > 0) this.#writer.start(asString(json['id']) ?? '', asString(json['model']) ?? '')
    this.#delta(asObject(choice['delta']), asObject(choice['logprobs']))
    this.#reason = choice['finish_reason'] ?? this.#reason
    const usage = asObject(json['usage'])
    if (Object.keys(usage).length > 0) this.#writer.usage(decodeUsage(usage))
  }

  #delta(delta: JsonObject, { content, refusal }: JsonObject): void {
    this.#text('reasoning', reasoningText(delta))
    for (const { signature, text } of decodeReasoning({ thinking_blocks: delta['thinking_blocks'] }, '')) {
      if (signature === undefined) continue
      // The text of a block came before it, unless the vendor sent only an encrypted form.
      const part = text === '' ? this.#openPart('reasoning') : this.#partOf('reasoning')
      this.#writer.signature(part, signature)
      this.#closeCurrent()
    }
    this.#text('text', asString(delta['content']) ?? '', decodeLogprobs(content))
    this.#text('refusal', asString(delta['refusal']) ?? '', decodeLogprobs(refusal))
    for (const citation of asArray(delta['annotations']).flatMap(decodeAnnotation)) {
      this.#writer.citation(this.#partOf('text'), citation)
    }
    for (const image of decodeImages(delta)) {
      this.#closeCurrent()
      this.#writer.close(this.#writer.open(image))
    }
    for (const call of asArray(delta['tool_calls'])) this.#call(asObject(call))
  }

  #text(kind: Kind, text: string, logprobs: readonly TokenLogprob[] = []): void {
    if (text !== '' || logprobs.length > 0) this.#writer.text(this.#partOf(kind), text, logprobs)
  }

  #partOf(kind: Kind): number {
    return this.#current?.kind === kind ? this.#current.part : this.#openPart(kind)
  }

  #openPart(kind: Kind): number {
    this.#closeCurrent()
    const part = this.#writer.open(kind === 'reasoning' ? { kind, isSummary: false } : { kind })
    this.#current = { kind, part }
    return part
  }

  #closeCurrent(): void {
    if (this.#current !== undefined) this.#writer.close(this.#current.part)
    this.#current = undefined
  }

  #call(delta: JsonObject): void {
    const fn = asObject(delta['function'])
    const call = this.#callOf(delta, fn)
    const text = receivedArguments(fn['arguments'])
    call.end.push(text)
    if (call.end.isComplete) this.#complete.add(call)
    this.#writer.arguments(call.part, text)
  }

  /** Some providers send the same index for all calls, or none: another id with a name is another call. */
  #callOf(delta: JsonObject, fn: JsonObject): Call {
    const [id, name] = [asString(delta['id']) ?? '', asString(fn['name']) ?? '']
    const index = asNumber(delta['index']) ?? this.#defaultIndex(id)
    const known = this.#calls.get(index)
    const isNew = known === undefined || (id !== '' && id !== known.id && name !== '')
    return isNew ? this.#openCall(index, id, name) : known
  }

  #defaultIndex(id: string): number {
    return id === '' ? (this.#last?.index ?? 0) : this.#calls.size
  }

  #openCall(index: number, id: string, name: string): Call {
    this.#closeCurrent()
    // What follows a complete object cannot belong to it.
    for (const { part } of this.#complete) this.#writer.close(part)
    this.#complete.clear()
    const call = { id, index, part: this.#writer.open({ kind: 'toolCall', id, name }), end: new JsonEnd() }
    this.#calls.set(index, call)
    this.#last = call
    return call
  }
}
