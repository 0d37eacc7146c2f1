// Answers as event streams of the messages format: blocks one after the other, each opened and closed once.
import { sseData } from '../../../http/sse.ts'
import type { AnswerEvent, FinishReason, OpenPart, PartEvent, Usage } from '../../canonical/answer.ts'
import type { StreamEncoder } from '../../canonical/format.ts'
import type { Signature } from '../../canonical/request.ts'
import { Sequential } from '../../canonical/sequential.ts'
import { asString, type JsonObject } from '../../json.ts'
import { REASONS } from './answer.ts'
import { encodeCitations } from './citations.ts'
import { encodeError } from './error.ts'
import { thinkingBlock } from './thinking.ts'
import { encodeUsage } from './usage.ts'

export class MessagesEncoder implements StreamEncoder {
  readonly #sequential = new Sequential()
  #usage: Partial<Usage> = {}
  #block = -1
  /** Of the open part; undefined: it has no block (yet). */
  #open: OpenPart | undefined
  /** Redacted thinking has its content in the event that opens its block. */
  #isPending = false

  event(event: AnswerEvent): string {
    return this.#sequential.encode(event, (one) => this.#encode(one))
  }

  #encode(event: AnswerEvent): string {
    switch (event.kind) {
      case 'start':
        return this.#start(event.id, event.model)
      case 'usage':
        this.#usage = { ...this.#usage, ...event.usage }
        return ''
      case 'finish':
        return this.#finish(event.reason, event.stopSequence)
      case 'error':
        return frame(encodeError(event.error))
      case 'open':
        return this.#openPart(event.part)
      case 'text':
      case 'arguments':
      case 'citation':
      case 'signature':
      case 'close':
    }
    return this.#inPart(event)
  }

  /** The counts that are known by now: with other formats, those of the input come at the end. */
  #start(id: string, model: string): string {
    const usage = encodeUsage(this.#usage)
    const message = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null }
    return frame({ type: 'message_start', message: { ...message, stop_sequence: null, usage } })
  }

  #finish(reason: FinishReason, stopSequence: string | undefined): string {
    const delta = { stop_reason: REASONS[reason], stop_sequence: stopSequence ?? null }
    return frame({ type: 'message_delta', delta, usage: encodeUsage(this.#usage) }) + frame({ type: 'message_stop' })
  }

  #openPart(part: OpenPart): string {
    this.#open = part
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return this.#openBlock({ type: 'text', text: '' })
      case 'toolCall':
        return this.#openBlock({ type: 'tool_use', id: part.id, name: part.name, input: {} })
      case 'reasoning':
        this.#isPending = true
        return ''
      case 'image':
      case 'opaque':
    }
    if (part.kind === 'opaque' && part.format === 'Messages') return this.#openBlock(part.value)
    this.#open = undefined
    return ''
  }

  #openBlock(block: JsonObject): string {
    this.#isPending = false
    return frame({ type: 'content_block_start', index: ++this.#block, content_block: block })
  }

  #inPart(event: Exclude<PartEvent, { kind: 'open' }>): string {
    switch (event.kind) {
      case 'text':
        return this.#open?.kind === 'reasoning'
          ? this.#thinking() + this.#delta({ type: 'thinking_delta', thinking: event.text })
          : this.#delta({ type: 'text_delta', text: event.text })
      case 'arguments':
        return this.#delta({ type: 'input_json_delta', partial_json: event.text })
      case 'citation':
        return encodeCitations([event.citation])
          .map((citation) => this.#delta({ type: 'citations_delta', citation }))
          .join('')
      case 'signature':
        return this.#signature(event.signature)
      case 'close':
    }
    return this.#close()
  }

  /** The event that opens a block of thinking, if it is not open yet. */
  #thinking(): string {
    return this.#isPending ? this.#openBlock({ type: 'thinking', thinking: '', signature: '' }) : ''
  }

  #signature(signature: Signature): string {
    const block = thinkingBlock('', signature)
    if (block['type'] === 'redacted_thinking') return this.#isPending ? this.#openBlock(block) : ''
    return this.#thinking() + this.#delta({ type: 'signature_delta', signature: asString(block['signature']) ?? '' })
  }

  #close(): string {
    const opened = this.#thinking()
    const isOpen = this.#open !== undefined
    this.#open = undefined
    return isOpen ? opened + frame({ type: 'content_block_stop', index: this.#block }) : opened
  }

  #delta(delta: JsonObject): string {
    return frame({ type: 'content_block_delta', index: this.#block, delta })
  }
}

function frame(json: JsonObject): string {
  return `event: ${String(json['type'])}\n${sseData(json)}`
}
