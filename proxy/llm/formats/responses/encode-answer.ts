// Whole answers of the responses format, and the items of which streams consist.
import type { AnswerEvent, AnswerImage, FinishReason } from '../../canonical/answer.ts'
import { fold, type FoldedAnswer, type FoldedPart } from '../../canonical/fold.ts'
import type { AnswerContext } from '../../canonical/format.ts'
import type { Citation } from '../../canonical/request.ts'
import type { JsonObject } from '../../json.ts'
import { encodeLogprobs } from '../logprobs.ts'
import { signedFields } from './reasoning.ts'
import { encodeUsage } from './usage.ts'

export function encodeAnswer(events: readonly AnswerEvent[], { createdSeconds }: AnswerContext): JsonObject {
  return encodeResponse(fold(events), createdSeconds)
}

const INCOMPLETE: { readonly [R in FinishReason]?: string } = {
  length: 'max_output_tokens',
  contextLength: 'max_output_tokens',
  contentFilter: 'content_filter',
  refusal: 'content_filter',
}

/** As it is by now: in progress, failed, or complete. Settings of the request are not repeated. */
export function encodeResponse(answer: FoldedAnswer, createdSeconds: number): JsonObject {
  const { reason, error, parts, usage } = answer
  const incomplete = reason === undefined ? undefined : INCOMPLETE[reason]
  return {
    id: responseId(answer.id),
    object: 'response',
    created_at: createdSeconds,
    status: statusOf(answer),
    error: error === undefined ? null : { code: error.vendorCode ?? 'server_error', message: error.message },
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: answer.model,
    output: reason === undefined ? [] : parts.flatMap((part, index) => encodeItem(part, index, answer.id)),
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: reason === undefined ? null : encodeUsage(usage),
  }
}

/** What an event of a stream calls the response, too. */
export function statusOf({ reason, error }: FoldedAnswer): string {
  if (error !== undefined) return 'failed'
  if (reason === undefined) return 'in_progress'
  return INCOMPLETE[reason] === undefined ? 'completed' : 'incomplete'
}

function responseId(id: string): string {
  return id.startsWith('resp_') ? id : `resp_${id}`
}

const ID_PREFIXES: { readonly [K in FoldedPart['kind']]: string } = {
  text: 'msg',
  refusal: 'msg',
  reasoning: 'rs',
  toolCall: 'fc',
  image: 'ig',
  opaque: 'item',
}

export function itemId(kind: FoldedPart['kind'], index: number, answerId: string): string {
  return `${ID_PREFIXES[kind]}_${answerId}_${index}`
}

/** None for a part that only another format knows. */
export function encodeItem(part: FoldedPart, index: number, answerId: string): readonly JsonObject[] {
  const id = itemId(part.kind, index, answerId)
  const status = 'completed'
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return [{ id, type: 'message', status, role: 'assistant', content: [encodeContent(part)] }]
    case 'toolCall':
      return [encodeCall(part, { id, status })]
    case 'reasoning':
      return [encodeReasoning(part, id)]
    case 'image':
      return [{ id, type: 'image_generation_call', status, output_format: formatOf(part), result: part.data }]
    case 'opaque':
  }
  return part.format === 'Responses' ? [part.value] : []
}

/** Such as `png`. */
export function formatOf({ mediaType }: AnswerImage): string {
  return mediaType.replace(/^image\/|\+xml$/g, '')
}

/** A call with the arguments so far. */
export function encodeCall(
  { id: callId, name, namespace, text }: FoldedPart & { kind: 'toolCall' },
  { id, status }: { readonly id: string; readonly status: string },
): JsonObject {
  const group = namespace === undefined ? {} : { namespace }
  return { id, type: 'function_call', status, call_id: callId, name, ...group, arguments: text }
}

export function encodeContent(part: FoldedPart & { kind: 'text' | 'refusal' }): JsonObject {
  if (part.kind === 'refusal') return { type: 'refusal', refusal: part.text }
  return {
    type: 'output_text',
    text: part.text,
    annotations: part.citations.map(encodeAnnotation).filter((one) => one !== undefined),
    logprobs: encodeLogprobs(part.logprobs),
  }
}

/** undefined: without a URL, which the format requires. */
export function encodeAnnotation({ url, title, start, end }: Citation): JsonObject | undefined {
  if (url === undefined) return undefined
  return { type: 'url_citation', url, title: title ?? url, start_index: start ?? 0, end_index: end ?? 0 }
}

function encodeReasoning({ text, isSummary, signature }: FoldedPart & { kind: 'reasoning' }, id: string): JsonObject {
  const isShown = text !== ''
  return {
    type: 'reasoning',
    ...signedFields(signature, id),
    summary: isShown && isSummary ? [{ type: 'summary_text', text }] : [],
    ...(isShown && !isSummary && { content: [{ type: 'reasoning_text', text }] }),
  }
}
