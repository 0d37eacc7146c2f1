// Whole answers of the responses format, and the items of which streams consist.
import { AnswerWriter, streamError } from '../../canonical/answer-writer.ts'
import type { AnswerEvent, FinishReason, ModelError } from '../../canonical/answer.ts'
import type { Citation } from '../../canonical/request.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { decodeLogprobs } from '../logprobs.ts'
import { decodeError } from '../openai-error.ts'
import { decodeUsage } from '../openai-usage.ts'
import { reasoningOf, signatureOf } from './reasoning.ts'

/** undefined: not an answer in this format. */
export function decodeAnswer(body: JsonObject): readonly AnswerEvent[] | undefined {
  const { output } = body
  if ((body['object'] ?? 'response') !== 'response' || !Array.isArray(output)) return undefined
  const writer = new AnswerWriter()
  writer.start(asString(body['id']) ?? '', asString(body['model']) ?? '')
  for (const item of output) writeItem(writer, asObject(item))
  writeEnd(writer, body, output.some(isCall))
  return writer.take()
}

export function isCall(item: unknown): boolean {
  return asObject(item)['type'] === 'function_call'
}

/** Usage and reason of a response that has ended. */
export function writeEnd(writer: AnswerWriter, response: JsonObject, hasCalls: boolean): void {
  writer.usage(decodeUsage(asObject(response['usage'])))
  const error = failureOf(response)
  if (error !== undefined) writer.fail(error)
  else writer.finish(reasonOf(response, hasCalls))
}

function failureOf(response: JsonObject): ModelError | undefined {
  const { status } = response
  if (status !== 'failed' && status !== 'cancelled') return undefined
  return decodeError(response, undefined) ?? streamError('the provider reported that the response failed')
}

function reasonOf(response: JsonObject, hasCalls: boolean): FinishReason {
  const { reason } = asObject(response['incomplete_details'])
  if (reason === 'content_filter') return 'contentFilter'
  if (reason === 'max_output_tokens' || response['status'] === 'incomplete') return 'length'
  return hasCalls ? 'toolCalls' : 'stop'
}

/** A complete item. */
export function writeItem(writer: AnswerWriter, item: JsonObject): void {
  switch (item['type']) {
    case 'message':
      for (const part of asArray(item['content'])) writeContent(writer, asObject(part))
      break
    case 'function_call':
      writer.close(openCall(writer, item))
      break
    case 'reasoning':
      writeReasoning(writer, item)
      break
    default:
      writer.close(writer.open({ kind: 'opaque', format: 'Responses', value: item }))
  }
}

/** With the arguments of the item, if no others follow. */
export function openCall(writer: AnswerWriter, item: JsonObject): number {
  const id = asString(item['call_id']) ?? ''
  const text = asString(item['arguments']) ?? ''
  return writer.open({ kind: 'toolCall', id, name: asString(item['name']) ?? '' }, text === '' ? undefined : text)
}

function writeContent(writer: AnswerWriter, part: JsonObject): void {
  if (part['type'] === 'refusal') {
    const index = writer.open({ kind: 'refusal' })
    writer.text(index, asString(part['refusal']) ?? '')
    writer.close(index)
    return
  }
  const index = writer.open({ kind: 'text' })
  writer.text(index, asString(part['text']) ?? '', decodeLogprobs(part['logprobs']))
  for (const citation of asArray(part['annotations']).flatMap(decodeAnnotation)) writer.citation(index, citation)
  writer.close(index)
}

function writeReasoning(writer: AnswerWriter, item: JsonObject): void {
  const { text, isSummary } = reasoningOf(item)
  const signature = signatureOf(item)
  if (text === '' && signature === undefined) return
  const index = writer.open({ kind: 'reasoning', isSummary })
  writer.text(index, text)
  if (signature !== undefined) writer.signature(index, signature)
  writer.close(index)
}

export function decodeAnnotation(annotation: unknown): readonly Citation[] {
  const { type, url, title, start_index: start, end_index: end } = asObject(annotation)
  if (type !== 'url_citation') return []
  return [
    {
      url: asString(url),
      title: asString(title),
      quote: undefined,
      start: asNumber(start),
      end: asNumber(end),
      original: undefined,
    },
  ]
}
