// Answers as chat-completions chunks. `[DONE]` comes only after a complete answer.
import { sseData } from '../../../http/sse.ts'
import type { AnswerEvent, OpenPart, PartEvent, TokenLogprob, Usage } from '../../canonical/answer.ts'
import { AnswerTooLarge, FOLDED_CHARS_MAX } from '../../canonical/fold.ts'
import type { AnswerContext, StreamEncoder } from '../../canonical/format.ts'
import type { Signature } from '../../canonical/request.ts'
import type { JsonObject } from '../../json.ts'
import { choiceLogprobs, encodeAnnotation, encodeReason } from './answer.ts'
import { encodeError } from '../openai-error.ts'
import { encodeImage } from './images.ts'
import { thinkingBlock } from './thinking.ts'
import { encodeUsage } from './usage.ts'

const TEXT_FIELDS: { readonly [K in OpenPart['kind']]?: string } = {
  text: 'content',
  refusal: 'refusal',
  reasoning: 'reasoning_content',
}

export class CompletionsEncoder implements StreamEncoder {
  readonly #context: AnswerContext
  #id = ''
  #model = ''
  #usage: Partial<Usage> = {}
  /** Of the open parts, and the index of each tool call among the calls. */
  readonly #parts = new Map<number, { kind: OpenPart['kind']; call: number; reasoning: string; base: number }>()
  #calls = 0
  /** UTF-16 units of the content so far. */
  #contentLength = 0

  constructor(context: AnswerContext) {
    this.#context = context
  }

  event(event: AnswerEvent): string {
    switch (event.kind) {
      case 'start':
        this.#id = event.id
        this.#model = event.model
        return this.#chunk({ role: 'assistant', content: '', refusal: null })
      case 'usage':
        this.#usage = { ...this.#usage, ...event.usage }
        return ''
      case 'finish':
        return this.#chunk({}, encodeReason(event.reason)) + this.#usageChunk() + 'data: [DONE]\n\n'
      case 'error':
        return sseData(encodeError(event.error))
      case 'open':
      case 'text':
      case 'arguments':
      case 'citation':
      case 'signature':
      case 'close':
    }
    return this.#part(event)
  }

  #part(event: PartEvent): string {
    switch (event.kind) {
      case 'open':
        return this.#open(event.index, event.part)
      case 'text':
        return this.#text(event.index, event.text, event.logprobs ?? [])
      case 'arguments': {
        const call = this.#parts.get(event.index)?.call
        return this.#chunk({ tool_calls: [{ index: call, function: { arguments: event.text } }] })
      }
      case 'citation': {
        const annotation = encodeAnnotation(event.citation, this.#parts.get(event.index)?.base ?? 0)
        return annotation === undefined ? '' : this.#chunk({ annotations: [annotation] })
      }
      case 'signature':
        return this.#signature(event.index, event.signature)
      case 'close':
    }
    this.#parts.delete(event.index)
    return ''
  }

  #open(index: number, part: OpenPart): string {
    const isCall = part.kind === 'toolCall'
    const call = isCall ? this.#calls++ : -1
    this.#parts.set(index, { kind: part.kind, call, reasoning: '', base: this.#contentLength })
    if (part.kind === 'image') return this.#chunk({ images: [encodeImage(part)] })
    if (!isCall) return ''
    const fn = { name: part.name, arguments: '' }
    return this.#chunk({ tool_calls: [{ index: call, id: part.id, type: 'function', function: fn }] })
  }

  #text(index: number, text: string, logprobs: readonly TokenLogprob[]): string {
    const part = this.#parts.get(index)
    const field = part === undefined ? undefined : TEXT_FIELDS[part.kind]
    if (part === undefined || field === undefined) return ''
    if (part.kind === 'reasoning') part.reasoning = bounded(part.reasoning + text)
    if (part.kind === 'text') this.#contentLength += text.length
    const isRefusal = part.kind === 'refusal'
    return this.#chunk({ [field]: text }, null, choiceLogprobs(isRefusal ? [] : logprobs, isRefusal ? logprobs : []))
  }

  /** A complete block, so that a client can send the elements of all deltas back as they are. */
  #signature(index: number, signature: Signature): string {
    const text = this.#parts.get(index)?.reasoning ?? ''
    return this.#chunk({ thinking_blocks: [thinkingBlock(text, signature)] })
  }

  #usageChunk(): string {
    if (!this.#context.includeUsage) return ''
    return sseData({ ...this.#head(), choices: [], usage: encodeUsage(this.#usage) })
  }

  #chunk(delta: JsonObject, reason: string | null = null, logprobs: JsonObject | null = null): string {
    return sseData({ ...this.#head(), choices: [{ index: 0, delta, logprobs, finish_reason: reason }] })
  }

  #head(): JsonObject {
    const { createdSeconds } = this.#context
    return { id: this.#id, object: 'chat.completion.chunk', created: createdSeconds, model: this.#model }
  }
}

function bounded(text: string): string {
  if (text.length <= FOLDED_CHARS_MAX) return text
  throw new AnswerTooLarge(`the reasoning is larger than ${FOLDED_CHARS_MAX} characters`)
}
