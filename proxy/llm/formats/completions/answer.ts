// Whole chat-completions answers.
import { AnswerWriter } from '../../canonical/answer-writer.ts'
import type { AnswerEvent, FinishReason, TokenLogprob } from '../../canonical/answer.ts'
import { fold, type FoldedPart } from '../../canonical/fold.ts'
import type { AnswerContext } from '../../canonical/format.ts'
import type { Citation } from '../../canonical/request.ts'
import { receivedArguments } from '../../canonical/tool-input.ts'
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../json.ts'
import { decodeImages, encodeImage } from './images.ts'
import { decodeReasoning, thinkingBlocks } from './thinking.ts'
import { decodeLogprobs, encodeLogprobs } from '../logprobs.ts'
import { decodeUsage } from '../openai-usage.ts'
import { encodeUsage } from './usage.ts'

const REASONS: { readonly [R in FinishReason]: string } = {
  stop: 'stop',
  stopSequence: 'stop',
  pause: 'stop',
  length: 'length',
  contextLength: 'length',
  toolCalls: 'tool_calls',
  contentFilter: 'content_filter',
  refusal: 'content_filter',
}

const DECODED_REASONS: ReadonlyMap<unknown, FinishReason> = new Map<string, FinishReason>([
  ['length', 'length'],
  ['tool_calls', 'toolCalls'],
  ['function_call', 'toolCalls'],
  ['content_filter', 'contentFilter'],
])

export function encodeReason(reason: FinishReason | undefined): string {
  return REASONS[reason ?? 'stop']
}

/** Some providers report `stop` also behind tool calls. */
export function decodeReason(reason: unknown, hasToolCalls: boolean): FinishReason {
  return DECODED_REASONS.get(reason) ?? (hasToolCalls ? 'toolCalls' : 'stop')
}

/** undefined: not an answer in this format. */
export function decodeAnswer(body: JsonObject): readonly AnswerEvent[] | undefined {
  const choice = asObject(asArray(body['choices'])[0])
  const { message } = choice
  if (typeof message !== 'object' || message === null) return undefined
  const reply = asObject(message)
  const writer = new AnswerWriter()
  writer.start(asString(body['id']) ?? '', asString(body['model']) ?? '')
  writeReasoning(writer, reply)
  const logprobs = asObject(choice['logprobs'])
  const annotations = asArray(reply['annotations'])
  writeText(writer, 'text', { value: reply['content'], annotations, logprobs: logprobs['content'] })
  writeText(writer, 'refusal', { value: reply['refusal'], annotations: [], logprobs: logprobs['refusal'] })
  for (const image of decodeImages(reply)) writer.close(writer.open(image))
  const calls = asArray(reply['tool_calls']).map(asObject)
  for (const call of calls) {
    const fn = asObject(call['function'])
    const [id, name] = [asString(call['id']) ?? '', asString(fn['name']) ?? '']
    writer.close(writer.open({ kind: 'toolCall', id, name }, receivedArguments(fn['arguments']) || '{}'))
  }
  writer.usage(decodeUsage(asObject(body['usage'])))
  writer.finish(decodeReason(choice['finish_reason'], calls.length > 0))
  return writer.take()
}

function writeReasoning(writer: AnswerWriter, reply: JsonObject): void {
  for (const { text, signature } of decodeReasoning(reply, '')) {
    const index = writer.open({ kind: 'reasoning', isSummary: false })
    writer.text(index, text)
    if (signature !== undefined) writer.signature(index, signature)
    writer.close(index)
  }
}

interface WrittenText {
  readonly value: unknown
  readonly annotations: readonly unknown[]
  readonly logprobs: unknown
}

function writeText(
  writer: AnswerWriter,
  kind: 'text' | 'refusal',
  { value, annotations, logprobs }: WrittenText,
): void {
  const text = asString(value) ?? ''
  if (text === '') return
  const index = writer.open({ kind })
  writer.text(index, text, decodeLogprobs(logprobs))
  for (const citation of annotations.flatMap(decodeAnnotation)) writer.citation(index, citation)
  writer.close(index)
}

export function decodeAnnotation(annotation: unknown): readonly Citation[] {
  const { type, url_citation: cited } = asObject(annotation)
  if (type !== 'url_citation') return []
  const { url, title, start_index: start, end_index: end } = asObject(cited)
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

/**
 * undefined: without a URL, which the format requires.
 * @param base where the part begins in the content of the message
 */
export function encodeAnnotation({ url, title, start = 0, end = 0 }: Citation, base: number): JsonObject | undefined {
  if (url === undefined) return undefined
  return {
    type: 'url_citation',
    url_citation: { url, title: title ?? url, start_index: base + start, end_index: base + end },
  }
}

function annotationsOf(parts: readonly FoldedPart[]): readonly JsonObject[] {
  let base = 0
  return parts.flatMap((part) => {
    if (part.kind !== 'text') return []
    const start = base
    base += part.text.length
    return part.citations.map((one) => encodeAnnotation(one, start)).filter((one) => one !== undefined)
  })
}

export function encodeAnswer(events: readonly AnswerEvent[], { createdSeconds }: AnswerContext): JsonObject {
  const { id, model, parts, reason, usage } = fold(events)
  const logprobs = choiceLogprobs(logprobsOf(parts, 'text'), logprobsOf(parts, 'refusal'))
  const choice = { index: 0, message: messageOf(parts), logprobs, finish_reason: encodeReason(reason) }
  return {
    id,
    object: 'chat.completion',
    created: createdSeconds,
    model,
    choices: [choice],
    usage: encodeUsage(usage),
  }
}

function logprobsOf(parts: readonly FoldedPart[], kind: 'text' | 'refusal'): readonly TokenLogprob[] {
  return parts.flatMap((part) => (part.kind === kind ? part.logprobs : []))
}

/** Of a choice, or of its delta in a stream; null: the provider sends none. */
export function choiceLogprobs(content: readonly TokenLogprob[], refusal: readonly TokenLogprob[]): JsonObject | null {
  if (content.length === 0 && refusal.length === 0) return null
  const listOf = (tokens: readonly TokenLogprob[]): unknown => (tokens.length === 0 ? null : encodeLogprobs(tokens))
  return { content: listOf(content), refusal: listOf(refusal) }
}

function messageOf(parts: readonly FoldedPart[]): JsonObject {
  const texts = joined(parts, 'text')
  const reasoning = joined(parts, 'reasoning')
  const calls = parts.flatMap((part) => (part.kind === 'toolCall' ? [toolCall(part)] : []))
  const images = parts.flatMap((part) => (part.kind === 'image' ? [encodeImage(part)] : []))
  const cited = annotationsOf(parts)
  const blocks = thinkingBlocks(parts)
  return {
    role: 'assistant',
    content: texts ?? null,
    refusal: joined(parts, 'refusal') ?? null,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(blocks !== undefined && { thinking_blocks: blocks }),
    ...(cited.length > 0 && { annotations: cited }),
    ...(images.length > 0 && { images }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function joined(parts: readonly FoldedPart[], kind: 'text' | 'refusal' | 'reasoning'): string | undefined {
  const texts = parts.flatMap((part) => (part.kind === kind ? [part.text] : []))
  return texts.length === 0 ? undefined : texts.join('')
}

function toolCall({ id, name, text }: FoldedPart & { kind: 'toolCall' }): JsonObject {
  return { id, type: 'function', function: { name, arguments: text } }
}
