// The answers of the demo provider in the format of responses: as an object, and as the events of a stream in the order
// of OpenAI.
import type OpenAI from 'openai'
import { CALL, type DemoAnswer, MODEL, TOKENS } from './demo-answer.testing.ts'

/** The client of OpenAI adds the whole text to each response. */
type Answer = Omit<OpenAI.Responses.Response, 'output_text'>
type ClientEvent = OpenAI.Responses.ResponseStreamEvent
/** As the provider sends it. */
type Event = ClientEvent extends infer E
  ? E extends { readonly response: OpenAI.Responses.Response }
    ? Omit<E, 'response'> & { readonly response: Answer }
    : E
  : never
/** Without its position in the stream. */
type Unnumbered = Event extends infer E ? (E extends Event ? Omit<E, 'sequence_number'> : never) : never

const MESSAGE_ID = 'msg-1'
const CALL_ITEM_ID = 'fc-1'
const PLACE = { item_id: MESSAGE_ID, output_index: 0, content_index: 0 }
const CALL_PLACE = { item_id: CALL_ITEM_ID, output_index: 1 }

export function responseOf(answer: DemoAnswer): Answer {
  return {
    ...inProgress(),
    status: 'completed',
    output: [messageOf(answer.parts.join('')), ...(answer.hasCall ? [callOf(CALL.arguments)] : [])],
    usage: {
      input_tokens: TOKENS.input,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: TOKENS.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: TOKENS.total,
    },
  }
}

export function responseEvents(answer: DemoAnswer): Event[] {
  const text = answer.parts.join('')
  const events: readonly Unnumbered[] = [
    { type: 'response.created', response: inProgress() },
    { type: 'response.in_progress', response: inProgress() },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...messageOf(''), status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...PLACE, part: textPart('') },
    ...answer.parts.map((delta): Unnumbered => ({ type: 'response.output_text.delta', ...PLACE, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...PLACE, text, logprobs: [] },
    { type: 'response.content_part.done', ...PLACE, part: textPart(text) },
    { type: 'response.output_item.done', output_index: 0, item: messageOf(text) },
    ...(answer.hasCall ? callEvents() : []),
    { type: 'response.completed', response: responseOf(answer) },
  ]
  return events.map((event, at) => ({ ...event, sequence_number: at }))
}

function callEvents(): Unnumbered[] {
  const { arguments: json } = CALL
  const middle = json.length / 2
  const deltas = [json.slice(0, middle), json.slice(middle)]
  return [
    { type: 'response.output_item.added', output_index: 1, item: { ...callOf(''), status: 'in_progress' } },
    ...deltas.map((delta): Unnumbered => ({ type: 'response.function_call_arguments.delta', ...CALL_PLACE, delta })),
    { type: 'response.function_call_arguments.done', ...CALL_PLACE, arguments: json },
    { type: 'response.output_item.done', output_index: 1, item: callOf(json) },
  ]
}

function messageOf(text: string): OpenAI.Responses.ResponseOutputMessage {
  return { id: MESSAGE_ID, type: 'message', role: 'assistant', status: 'completed', content: [textPart(text)] }
}

function textPart(text: string): OpenAI.Responses.ResponseOutputText {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function callOf(json: string): OpenAI.Responses.ResponseFunctionToolCall {
  const { id, name } = CALL
  return { id: CALL_ITEM_ID, type: 'function_call', status: 'completed', call_id: id, name, arguments: json }
}

function inProgress(): Answer {
  return {
    id: 'resp-1',
    object: 'response',
    created_at: 1,
    status: 'in_progress',
    model: MODEL,
    output: [],
    access_programs: null,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: null,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
  }
}
