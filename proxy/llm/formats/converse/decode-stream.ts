// Event streams of the Converse API. Blocks of text begin with their first delta. The usage comes after the event that
// names the reason, so the answer ends with the event of the usage, or with the stream.
import type { SseEvent } from '../../../http/sse.ts'
import { AnswerWriter } from '../../canonical/answer-writer.ts'
import type { AnswerEvent, OpenPart } from '../../canonical/answer.ts'
import type { StreamDecoder } from '../../canonical/format.ts'
import { isRecord } from '#api/json.ts'
import { asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { decodeCitation, decodeReason, isOfClient } from './answer.ts'
import { exception } from './error.ts'
import { signatureOf } from './reasoning.ts'
import { decodeUsage } from './usage.ts'

export class ConverseDecoder implements StreamDecoder {
  readonly #writer = new AnswerWriter()
  /** Indexes of the parts by those of the blocks. */
  readonly #blocks = new Map<number, number>()
  #stopReason: string | undefined

  event({ event, data }: SseEvent): readonly AnswerEvent[] {
    if (this.#writer.isDone) return []
    const json = this.#writer.json(data)
    if (json !== undefined) this.#read(event, json)
    return this.#writer.take()
  }

  end(): readonly AnswerEvent[] {
    if (this.#stopReason === undefined) {
      this.#writer.failEarly()
    } else this.#writer.finish(decodeReason(this.#stopReason))
    return this.#writer.take()
  }

  #read(event: string, json: JsonObject): void {
    const block = asNumber(json['contentBlockIndex']) ?? -1
    switch (event) {
      case 'messageStart':
        this.#writer.start('', '')
        break
      case 'contentBlockStart':
        this.#start(block, asObject(json['start']))
        break
      case 'contentBlockDelta':
        this.#delta(block, asObject(json['delta']))
        break
      case 'contentBlockStop':
        this.#writer.close(this.#blocks.get(block) ?? -1)
        this.#blocks.delete(block)
        break
      case 'messageStop':
        this.#stopReason = asString(json['stopReason']) ?? ''
        break
      case 'metadata':
        this.#writer.usage(decodeUsage(asObject(json['usage'])))
        if (this.#stopReason !== undefined) this.#writer.finish(decodeReason(this.#stopReason))
        break
      default:
        if (/exception$|^error$/i.test(event)) this.#fail(event, json)
    }
  }

  #fail(type: string, { message }: JsonObject): void {
    this.#writer.fail(exception(type, asString(message) ?? 'the provider reported an error in its stream', undefined))
  }

  #start(block: number, { toolUse }: JsonObject): void {
    if (!isRecord(toolUse) || !isOfClient(toolUse)) return
    const { toolUseId, name } = toolUse
    this.#open(block, { kind: 'toolCall', id: asString(toolUseId) ?? '', name: asString(name) ?? '' })
  }

  #open(block: number, part: OpenPart): number {
    const index = this.#writer.open(part)
    this.#blocks.set(block, index)
    return index
  }

  #delta(block: number, { text, toolUse, reasoningContent, citation }: JsonObject): void {
    const open = this.#blocks.get(block)
    if (typeof text === 'string') this.#writer.text(open ?? this.#open(block, { kind: 'text' }), text)
    else if (isRecord(toolUse)) this.#writer.arguments(open ?? -1, asString(toolUse['input']) ?? '')
    else if (isRecord(reasoningContent)) {
      const index = open ?? this.#open(block, { kind: 'reasoning', isSummary: true })
      this.#writer.text(index, asString(reasoningContent['text']) ?? '')
      const signature = signatureOf(reasoningContent)
      if (signature !== undefined) this.#writer.signature(index, signature)
    } else if (isRecord(citation)) {
      this.#writer.citation(open ?? this.#open(block, { kind: 'text' }), decodeCitation(citation))
    }
  }
}
