// Providers for tests: the answers of the vendors as their documentation shows them, written by hand and not by the
// code that is tested.
import type { FormatName, SentFormatName } from '#api/llm/formats.ts'
import { parseExactObject, type JsonObject } from '../json.ts'

/** What a model answers, in no vendor's form. */
export interface Scenario {
  readonly reasoning?: { readonly text: string; readonly signature: string }
  readonly text?: string
  /** PNG, as base64. */
  readonly image?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: string }[]
  readonly stop: 'stop' | 'length' | 'toolCalls'
  /** Input tokens with cached ones; null: the vendor sends null where its format allows it. */
  readonly usage: { readonly input: number; readonly cached: number | null; readonly output: number }
}

export interface Vendor {
  whole(scenario: Scenario): JsonObject
  /** Frames of the event stream. */
  stream(scenario: Scenario): readonly string[]
  error(message: string): JsonObject
  /** As an event of a stream. */
  errorFrame(message: string): string
}

export type ChatName = Extract<FormatName, 'Completions' | 'Messages' | 'Responses'>
export type VendorName = ChatName | Extract<SentFormatName, 'GenerateContent'>

const named = (type: string, rest: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
const unnamed = (json: object): string => `data: ${JSON.stringify(json)}\n\n`

/** Pieces of a text, which split surrogate pairs and escapes of JSON where they may. */
function pieces(text: string): readonly string[] {
  return text.match(/[^]{1,5}/gu) ?? []
}

const messageStops = { stop: 'end_turn', length: 'max_tokens', toolCalls: 'tool_use' } as const

const messageBlocks = ({ reasoning, text, calls = [] }: Scenario): JsonObject[] => [
  ...(reasoning ? [{ type: 'thinking', thinking: reasoning.text, signature: reasoning.signature }] : []),
  ...(text === undefined ? [] : [{ type: 'text', text }]),
  ...calls.map(({ id, name, input }) => ({
    type: 'tool_use',
    id,
    name,
    input: input === '' ? {} : parseExactObject(input),
  })),
]

const messageUsage = ({ usage }: Scenario): JsonObject => ({
  input_tokens: usage.input - (usage.cached ?? 0),
  cache_creation_input_tokens: null,
  cache_read_input_tokens: usage.cached,
  output_tokens: usage.output,
})

const messages: Vendor = {
  whole: (scenario) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: messageBlocks(scenario),
    stop_reason: messageStops[scenario.stop],
    stop_sequence: null,
    usage: messageUsage(scenario),
  }),
  stream(scenario) {
    const { content, ...head } = messages.whole(scenario)
    const usage = { ...messageUsage(scenario), output_tokens: 1 }
    return [
      named('message_start', { message: { ...head, content: [], stop_reason: null, usage } }),
      named('ping', {}),
      ...(content as JsonObject[]).flatMap((block, index) => [
        ...messageBlockFrames(block, index, scenario),
        named('content_block_stop', { index }),
      ]),
      named('message_delta', {
        delta: { stop_reason: messageStops[scenario.stop], stop_sequence: null },
        usage: { input_tokens: null, cache_read_input_tokens: null, output_tokens: scenario.usage.output },
      }),
      named('message_stop', {}),
    ]
  },
  error: (message) => ({ type: 'error', error: { type: 'overloaded_error', message }, request_id: 'req_1' }),
  errorFrame: (message) => named('error', { error: { type: 'overloaded_error', message } }),
}

function messageBlockFrames(block: JsonObject, index: number, { calls = [] }: Scenario): readonly string[] {
  const delta = (json: object): string => named('content_block_delta', { index, delta: json })
  const start = (json: object): string => named('content_block_start', { index, content_block: json })
  if (block['type'] === 'thinking') {
    return [
      start({ type: 'thinking', thinking: '', signature: '' }),
      ...pieces(String(block['thinking'])).map((thinking) => delta({ type: 'thinking_delta', thinking })),
      delta({ type: 'signature_delta', signature: block['signature'] }),
    ]
  }
  if (block['type'] === 'text') {
    return [
      start({ type: 'text', text: '' }),
      ...pieces(String(block['text'])).map((text) => delta({ type: 'text_delta', text })),
    ]
  }
  const { input = '' } = calls.find(({ id }) => id === block['id']) ?? {}
  return [
    start({ ...block, input: {} }),
    ...['', ...pieces(input)].map((text) => delta({ type: 'input_json_delta', partial_json: text })),
  ]
}

const completionStops = { stop: 'stop', length: 'length', toolCalls: 'tool_calls' } as const

const completionUsage = ({ usage }: Scenario): JsonObject => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: usage.cached === null ? null : { cached_tokens: usage.cached },
})

/** As OpenRouter and LiteLLM have them. */
const completionImages = ({ image }: Scenario): JsonObject =>
  image === undefined
    ? {}
    : { images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${image}` }, index: 0 }] }

const completionHead = { id: 'chatcmpl-1', created: 7, model: 'gpt' }

const completions: Vendor = {
  whole: (scenario) => ({
    ...completionHead,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: scenario.text ?? null,
          refusal: null,
          ...(scenario.reasoning && { reasoning_content: scenario.reasoning.text }),
          ...completionImages(scenario),
          ...(scenario.calls && {
            tool_calls: scenario.calls.map(({ id, name, input }) => ({
              id,
              type: 'function',
              function: { name, arguments: input },
            })),
          }),
        },
        logprobs: null,
        finish_reason: completionStops[scenario.stop],
      },
    ],
    usage: completionUsage(scenario),
  }),
  stream(scenario) {
    const frame = (choices: object[], usage: unknown = null): string =>
      unnamed({ ...completionHead, object: 'chat.completion.chunk', choices, usage })
    const chunk = (delta: object, reason: string | null = null): string =>
      frame([{ index: 0, delta, logprobs: null, finish_reason: reason }])
    return [
      chunk({ role: 'assistant', content: '', refusal: null }),
      ...pieces(scenario.reasoning?.text ?? '').map((text) => chunk({ reasoning_content: text })),
      ...pieces(scenario.text ?? '').map((content) => chunk({ content })),
      ...(scenario.image === undefined ? [] : [chunk(completionImages(scenario))]),
      ...(scenario.calls ?? []).flatMap(({ id, name, input }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...pieces(input).map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
      ]),
      chunk({}, completionStops[scenario.stop]),
      frame([], completionUsage(scenario)),
      'data: [DONE]\n\n',
    ]
  },
  error: (message) => ({ error: { message, type: 'server_error', param: null, code: 'busy' } }),
  errorFrame: (message) => unnamed({ error: { message, type: 'server_error', param: null, code: 'busy' } }),
}

const responseHead = { id: 'resp_1', object: 'response', created_at: 7, model: 'gpt', error: null }

const responseItems = ({ reasoning, text, calls = [] }: Scenario): JsonObject[] => [
  ...(reasoning
    ? [
        {
          id: 'rs_1',
          type: 'reasoning',
          summary: reasoning.text.split('\n\n').map((part) => ({ type: 'summary_text', text: part })),
          encrypted_content: reasoning.signature,
        },
      ]
    : []),
  ...(text === undefined
    ? []
    : [
        {
          id: 'msg_1',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
        },
      ]),
  ...calls.map(({ id, name, input }, index) => ({
    id: `fc_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: id,
    name,
    arguments: input === '' ? '{}' : input,
  })),
]

const responses: Vendor = {
  whole: (scenario) => ({
    ...responseHead,
    status: scenario.stop === 'length' ? 'incomplete' : 'completed',
    incomplete_details: scenario.stop === 'length' ? { reason: 'max_output_tokens' } : null,
    output: responseItems(scenario),
    usage: {
      input_tokens: scenario.usage.input,
      input_tokens_details: scenario.usage.cached === null ? null : { cached_tokens: scenario.usage.cached },
      output_tokens: scenario.usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: scenario.usage.input + scenario.usage.output,
    },
  }),
  stream(scenario) {
    let sequence = 0
    const frame = (type: string, fields: object): string =>
      named(`response.${type}`, { sequence_number: sequence++, ...fields })
    const started = { response: { ...responseHead, status: 'in_progress', output: [], usage: null } }
    return [
      frame('created', started),
      frame('in_progress', started),
      ...responseItems(scenario).flatMap((item, output_index) => [
        frame('output_item.added', { output_index, item: { ...item, ...EMPTY_ITEM, status: 'in_progress' } }),
        ...responseItemFrames(item, { item_id: item['id'], output_index }, frame),
        frame('output_item.done', { output_index, item }),
      ]),
      frame(scenario.stop === 'length' ? 'incomplete' : 'completed', { response: responses.whole(scenario) }),
    ]
  },
  error: (message) => completions.error(message),
  errorFrame: (message) => named('error', { sequence_number: 9, code: 'server_error', message, param: null }),
}

const EMPTY_ITEM = { content: [], summary: [], arguments: '', encrypted_content: '' }

function responseItemFrames(
  item: JsonObject,
  place: { readonly item_id: unknown; readonly output_index: number },
  frame: (type: string, fields: object) => string,
): readonly string[] {
  if (item['type'] === 'reasoning') {
    return (item['summary'] as { readonly text: string }[]).flatMap(({ text }, summary_index) => {
      const at = { ...place, summary_index }
      return [
        frame('reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }),
        ...pieces(text).map((delta) => frame('reasoning_summary_text.delta', { ...at, delta })),
        frame('reasoning_summary_text.done', { ...at, text }),
        frame('reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text } }),
      ]
    })
  }
  if (item['type'] === 'function_call') {
    const text = String(item['arguments'])
    return [
      ...pieces(text).map((delta) => frame('function_call_arguments.delta', { ...place, delta })),
      frame('function_call_arguments.done', { ...place, name: item['name'], arguments: text }),
    ]
  }
  const [part = { text: '' }] = item['content'] as { readonly text: string }[]
  const at = { ...place, content_index: 0 }
  return [
    frame('content_part.added', { ...at, part: { ...part, text: '' } }),
    ...pieces(part.text).map((delta) => frame('output_text.delta', { ...at, delta, logprobs: [] })),
    frame('output_text.done', { ...at, text: part.text, logprobs: [] }),
    frame('content_part.done', { ...at, part }),
  ]
}

const geminiStops = { stop: 'STOP', length: 'MAX_TOKENS', toolCalls: 'STOP' } as const

const geminiHead = { modelVersion: 'gemini-3-pro', responseId: 'resp-1' }

/** The signature is on the first call. */
const geminiParts = ({ reasoning, text, image, calls = [] }: Scenario): JsonObject[] => [
  ...(reasoning ? [{ text: reasoning.text, thought: true }] : []),
  ...(text === undefined ? [] : [{ text }]),
  ...(image === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data: image } }]),
  ...calls.map(({ id, name, input }, index) => ({
    functionCall: { id, name, ...(input !== '' && { args: parseExactObject(input) }) },
    ...(reasoning && index === 0 && { thoughtSignature: reasoning.signature }),
  })),
]

/** Thoughts are counted apart. */
const geminiUsage = ({ usage, reasoning }: Scenario): JsonObject => ({
  promptTokenCount: usage.input,
  candidatesTokenCount: usage.output - (reasoning ? 2 : 0),
  ...(reasoning && { thoughtsTokenCount: 2 }),
  totalTokenCount: usage.input + usage.output,
  ...(usage.cached !== null && usage.cached > 0 && { cachedContentTokenCount: usage.cached }),
})

const geminiAnswer = (parts: readonly JsonObject[], usage: JsonObject, finishReason?: string): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason !== undefined && { finishReason }) }],
  usageMetadata: usage,
  ...geminiHead,
})

const generateContent: Vendor = {
  whole: (scenario) => geminiAnswer(geminiParts(scenario), geminiUsage(scenario), geminiStops[scenario.stop]),
  stream(scenario) {
    const { promptTokenCount, totalTokenCount } = geminiUsage(scenario)
    return [
      ...geminiParts(scenario).flatMap((part) => {
        const { text, ...rest } = part
        const parts = typeof text === 'string' ? pieces(text).map((piece) => ({ text: piece, ...rest })) : [part]
        return parts.map((one) => unnamed(geminiAnswer([one], { promptTokenCount, totalTokenCount })))
      }),
      unnamed(geminiAnswer([{ text: '' }], geminiUsage(scenario), geminiStops[scenario.stop])),
    ]
  },
  error: (message) => ({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
  errorFrame: (message) => unnamed({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
}

export const VENDORS: { readonly [N in VendorName]: Vendor } = {
  Completions: completions,
  Messages: messages,
  Responses: responses,
  GenerateContent: generateContent,
}

/** Some formats have none. */
export const IMAGE_SCENARIO: Scenario = {
  text: 'A cat:',
  image: 'iVBORw0KGgo=',
  stop: 'stop',
  usage: { input: 7, cached: 0, output: 1290 },
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  text: { text: 'Grüße, 世界 👋 "quoted"\n', stop: 'stop', usage: { input: 12, cached: 4, output: 9 } },
  'parallel tools behind a text': {
    text: 'I look.',
    calls: [
      { id: 'call_1', name: 'weather', input: '{"city":"Paris \\"X\\"","days":[1,2]}' },
      { id: 'call_2', name: 'time', input: '{"zone":"UTC","at":12345678901234567890}' },
    ],
    stop: 'toolCalls',
    usage: { input: 20, cached: 0, output: 30 },
  },
  'a tool without arguments': {
    calls: [{ id: 'call_1', name: 'now', input: '' }],
    stop: 'toolCalls',
    usage: { input: 5, cached: 0, output: 3 },
  },
  'thinking with a tool': {
    reasoning: { text: 'The user asks for Paris.\n\nSo I call.', signature: 'sig+/=' },
    calls: [{ id: 'call_1', name: 'weather', input: '{"city":"Paris"}' }],
    stop: 'toolCalls',
    usage: { input: 20, cached: 16, output: 30 },
  },
  'structured output at the limit': {
    text: '{"a":[1,2,{"b":null}]',
    stop: 'length',
    usage: { input: 3, cached: 0, output: 64 },
  },
  'nulls in usage': { text: 'hi', stop: 'stop', usage: { input: 7, cached: null, output: 2 } },
}
