// Whole answers of the messages format.
import { AnswerWriter } from '../../canonical/answer-writer.ts'
import type { AnswerEvent, FinishReason } from '../../canonical/answer.ts'
import { fold, type FoldedPart } from '../../canonical/fold.ts'
import { toolInput } from '../../canonical/tool-input.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'
import { reportedUsage } from '../../usage.ts'
import { decodeCitation, encodeCitations } from './citations.ts'
import { signatureOf, thinkingBlock } from './thinking.ts'
import { encodeUsage, readUsage } from './usage.ts'

const DECODED_REASONS: ReadonlyMap<unknown, FinishReason> = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stopSequence'],
  ['pause_turn', 'pause'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'contextLength'],
  ['tool_use', 'toolCalls'],
  ['refusal', 'refusal'],
])

export const REASONS: { readonly [R in FinishReason]: string } = {
  stop: 'end_turn',
  stopSequence: 'stop_sequence',
  pause: 'pause_turn',
  length: 'max_tokens',
  contextLength: 'model_context_window_exceeded',
  toolCalls: 'tool_use',
  contentFilter: 'refusal',
  refusal: 'refusal',
}

export function decodeReason(reason: unknown): FinishReason {
  return DECODED_REASONS.get(reason) ?? 'stop'
}

/** undefined: not an answer in this format. */
export function decodeAnswer(message: JsonObject): readonly AnswerEvent[] | undefined {
  const { type, content } = message
  if ((type ?? 'message') !== 'message' || !Array.isArray(content)) return undefined
  const writer = new AnswerWriter()
  writer.start(asString(message['id']) ?? '', asString(message['model']) ?? '')
  for (const item of content) writer.close(openBlock(writer, asObject(item)))
  writer.usage(reportedUsage(readUsage(asObject(message['usage']))))
  writer.finish(decodeReason(message['stop_reason']), asString(message['stop_sequence']))
  return writer.take()
}

/** With what the block has at its beginning: all in a whole answer, mostly nothing in a stream. */
export function openBlock(writer: AnswerWriter, block: JsonObject): number {
  switch (block['type']) {
    case 'text': {
      const index = writer.open({ kind: 'text' })
      writer.text(index, asString(block['text']) ?? '')
      for (const citation of asArray(block['citations'])) writer.citation(index, decodeCitation(citation))
      return index
    }
    case 'thinking':
    case 'redacted_thinking': {
      const index = writer.open({ kind: 'reasoning', isSummary: true })
      writer.text(index, asString(block['thinking']) ?? '')
      const signature = signatureOf(block)
      if (signature !== undefined) writer.signature(index, signature)
      return index
    }
    case 'tool_use': {
      const [id, name] = [asString(block['id']) ?? '', asString(block['name']) ?? '']
      return writer.open({ kind: 'toolCall', id, name }, JSON.stringify(block['input'] ?? {}))
    }
    default:
      return writer.open({ kind: 'opaque', format: 'Messages', value: block })
  }
}

export function encodeAnswer(events: readonly AnswerEvent[]): JsonObject {
  const { id, model, parts, reason, stopSequence, usage } = fold(events)
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: parts.flatMap(encodePart),
    // Data-plane supplement section 3.9: streams report a refusal.
    stop_reason: reason === 'contentFilter' ? 'end_turn' : REASONS[reason ?? 'stop'],
    stop_sequence: stopSequence ?? null,
    usage: encodeUsage(usage),
  }
}

/** Parts that the format does not have are left out, as in streams. */
function encodePart(part: FoldedPart): readonly JsonObject[] {
  switch (part.kind) {
    case 'text': {
      const citations = encodeCitations(part.citations)
      return [{ type: 'text', text: part.text, ...(citations.length > 0 && { citations }) }]
    }
    case 'refusal':
      return [{ type: 'text', text: part.text }]
    case 'reasoning':
      return [part.signature === undefined ? unsigned(part.text) : thinkingBlock(part.text, part.signature)]
    case 'toolCall':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: toolInput(part.text) }]
    case 'image':
      return []
    case 'opaque':
  }
  return part.format === 'Messages' ? [part.value] : []
}

function unsigned(text: string): JsonObject {
  return { type: 'thinking', thinking: text, signature: '' }
}
