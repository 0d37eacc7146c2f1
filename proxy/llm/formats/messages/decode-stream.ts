// Event streams of the messages format. A delta for a block that was never opened is dropped, and an answer without
// `message_stop` is not complete.
import type { SseEvent } from '../../../http/sse.ts'
import { AnswerWriter, streamError } from '../../canonical/answer-writer.ts'
import type { AnswerEvent } from '../../canonical/answer.ts'
import type { StreamDecoder } from '../../canonical/format.ts'
import { asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { addReport, canonicalUsage, noUsage } from '../../usage.ts'
import { decodeReason, openBlock } from './answer.ts'
import { decodeCitation } from './citations.ts'
import { decodeError } from './error.ts'
import { signatureOf } from './thinking.ts'
import { readUsage } from './usage.ts'

export class MessagesDecoder implements StreamDecoder {
  readonly #writer = new AnswerWriter()
  readonly #usage = noUsage()
  /** Indexes of the parts by those of the blocks. */
  readonly #blocks = new Map<number, number>()
  #stopReason: unknown
  #stopSequence: string | undefined

  event({ data }: SseEvent): readonly AnswerEvent[] {
    if (this.#writer.isDone) return []
    const json = this.#writer.json(data)
    if (json !== undefined) this.#read(json)
    return this.#writer.take()
  }

  end(): readonly AnswerEvent[] {
    this.#writer.failEarly()
    return this.#writer.take()
  }

  #read(json: JsonObject): void {
    switch (json['type']) {
      case 'message_start': {
        const message = asObject(json['message'])
        this.#writer.start(asString(message['id']) ?? '', asString(message['model']) ?? '')
        this.#readUsage(message['usage'])
        break
      }
      case 'content_block_start': {
        const index = indexOf(json)
        this.#close(index)
        this.#blocks.set(index, openBlock(this.#writer, asObject(json['content_block'])))
        break
      }
      case 'content_block_delta':
        this.#delta(this.#blocks.get(indexOf(json)) ?? -1, asObject(json['delta']))
        break
      case 'content_block_stop':
        this.#close(indexOf(json))
        break
      case 'message_delta':
        this.#learnEnd(json)
        break
      case 'message_stop':
        this.#writer.finish(decodeReason(this.#stopReason), this.#stopSequence)
        break
      case 'error':
        this.#writer.fail(decodeError(json, undefined) ?? streamError('the provider reported an error'))
        break
      default:
    }
  }

  #close(block: number): void {
    this.#writer.close(this.#blocks.get(block) ?? -1)
    this.#blocks.delete(block)
  }

  #delta(part: number, delta: JsonObject): void {
    switch (delta['type']) {
      case 'text_delta':
        this.#writer.text(part, asString(delta['text']) ?? '')
        break
      case 'thinking_delta':
        this.#writer.text(part, asString(delta['thinking']) ?? '')
        break
      case 'input_json_delta':
        this.#writer.arguments(part, asString(delta['partial_json']) ?? '')
        break
      case 'citations_delta':
        this.#writer.citation(part, decodeCitation(delta['citation']))
        break
      case 'signature_delta': {
        const signature = signatureOf(delta)
        if (signature !== undefined) this.#writer.signature(part, signature)
        break
      }
      default:
    }
  }

  #learnEnd(json: JsonObject): void {
    const delta = asObject(json['delta'])
    this.#stopReason = delta['stop_reason'] ?? this.#stopReason
    this.#stopSequence = asString(delta['stop_sequence']) ?? this.#stopSequence
    this.#readUsage(json['usage'])
  }

  /** A count of null is not repeated; it keeps its value. */
  #readUsage(usage: unknown): void {
    addReport(this.#usage, readUsage(asObject(usage)))
    this.#writer.usage(canonicalUsage(this.#usage))
  }
}

/** Of the content block that an event is about. */
function indexOf(json: JsonObject): number {
  return asNumber(json['index']) ?? -1
}
