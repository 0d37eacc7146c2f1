// Whole answers of the Converse API. Id and model are not in the body.
import { AnswerWriter } from '../../canonical/answer-writer.ts'
import type { AnswerEvent, FinishReason } from '../../canonical/answer.ts'
import type { Citation } from '../../canonical/request.ts'
import { isRecord } from '#api/json.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'
import { signatureOf } from './reasoning.ts'
import { decodeUsage } from './usage.ts'

const REASONS: ReadonlyMap<unknown, FinishReason> = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stopSequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'contextLength'],
  ['tool_use', 'toolCalls'],
  ['content_filtered', 'contentFilter'],
  ['guardrail_intervened', 'contentFilter'],
])

export function decodeReason(reason: unknown): FinishReason {
  return REASONS.get(reason) ?? 'stop'
}

/** undefined: not an answer in this format. */
export function decodeAnswer(body: JsonObject): readonly AnswerEvent[] | undefined {
  const { content } = asObject(asObject(body['output'])['message'])
  if (!Array.isArray(content)) return undefined
  const writer = new AnswerWriter()
  writer.start('', '')
  for (const block of content) decodeBlock(writer, asObject(block))
  writer.usage(decodeUsage(asObject(body['usage'])))
  writer.finish(decodeReason(body['stopReason']))
  return writer.take()
}

function decodeBlock(writer: AnswerWriter, block: JsonObject): void {
  const { text, toolUse, reasoningContent, citationsContent } = block
  if (typeof text === 'string') decodeText(writer, text, [])
  else if (isRecord(toolUse) && isOfClient(toolUse)) decodeCall(writer, toolUse)
  else if (isRecord(reasoningContent)) decodeReasoning(writer, reasoningContent)
  else if (isRecord(citationsContent)) {
    const texts = asArray(citationsContent['content']).map((one) => asString(asObject(one)['text']) ?? '')
    decodeText(writer, texts.join(''), asArray(citationsContent['citations']).map(decodeCitation))
  } else writer.close(writer.open({ kind: 'opaque', format: 'Converse', value: block }))
}

/** The vendor has called its own tools already. */
export function isOfClient(toolUse: JsonObject): boolean {
  return toolUse['type'] !== 'server_tool_use'
}

function decodeText(writer: AnswerWriter, text: string, citations: readonly Citation[]): void {
  const index = writer.open({ kind: 'text' })
  writer.text(index, text)
  for (const citation of citations) writer.citation(index, citation)
  writer.close(index)
}

function decodeCall(writer: AnswerWriter, { toolUseId, name, input }: JsonObject): void {
  const call = { kind: 'toolCall', id: asString(toolUseId) ?? '', name: asString(name) ?? '' } as const
  writer.close(writer.open(call, JSON.stringify(input ?? {})))
}

function decodeReasoning(writer: AnswerWriter, content: JsonObject): void {
  const index = writer.open({ kind: 'reasoning', isSummary: true })
  const { reasoningText } = content
  writer.text(index, asString(asObject(reasoningText)['text']) ?? '')
  const signature = signatureOf(isRecord(reasoningText) ? reasoningText : content)
  if (signature !== undefined) writer.signature(index, signature)
  writer.close(index)
}

export function decodeCitation(value: unknown): Citation {
  const citation = asObject(value)
  const { title, source, sourceContent, location } = citation
  const quotes = asArray(sourceContent).map((one) => asString(asObject(one)['text']) ?? '')
  return {
    url: asString(asObject(asObject(location)['web'])['url']),
    title: asString(title) ?? asString(source),
    quote: quotes.length === 0 ? undefined : quotes.join(''),
    start: undefined,
    end: undefined,
    original: { format: 'Converse', value: citation },
  }
}
