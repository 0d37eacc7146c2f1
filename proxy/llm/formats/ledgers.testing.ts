// Ledgers of answers, with complete answers as samples, for ledgers.test.ts.
import type { JsonObject } from '../json.ts'

/** A text: why a field of an answer is dropped. */
export type AnswerRule = 'mapped' | { readonly dropped: string }

export interface AnswerLedger {
  /** Complete answers: a field is mapped if one of them depends on it. */
  readonly samples: readonly JsonObject[]
  /** The SDK's name of an object, its place in the samples, and its fields. */
  readonly objects: readonly AnswerObject[]
}

export interface AnswerObject {
  readonly name: string
  readonly at: readonly (string | number)[]
  readonly fields: Readonly<Record<string, AnswerRule>>
}

const CONSTANT: AnswerRule = { dropped: 'the same in all answers' }
const OF_REQUEST: AnswerRule = { dropped: 'repeats the request' }
const VENDOR_ONLY: AnswerRule = { dropped: 'of a feature that only the vendor has; requests for it are rejected' }
const REPORT: AnswerRule = { dropped: 'a report about how the vendor served the request' }
const SUM: AnswerRule = { dropped: 'the sum of other counts' }
const SPLIT: AnswerRule = { dropped: 'splits a count that is mapped' }

const MESSAGE: JsonObject = {
  id: 'msg_1',
  container: { id: 'c' },
  content: [
    { type: 'thinking', thinking: 'hm', signature: 'sig' },
    { type: 'redacted_thinking', data: 'x' },
    {
      type: 'text',
      text: 'hi',
      citations: [{ type: 'web_search_result_location', url: 'u', title: 't', cited_text: 'q', encrypted_index: 'e' }],
    },
    { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 }, caller: { type: 'direct' }, toolset_name: 's' },
  ],
  diagnostics: {},
  model: 'claude',
  role: 'assistant',
  stop_details: { type: 'refusal', category: null, explanation: 'no' },
  stop_reason: 'stop_sequence',
  stop_sequence: 'END',
  type: 'message',
  usage: {
    cache_creation: { ephemeral_5m_input_tokens: 1 },
    cache_creation_input_tokens: 1,
    cache_read_input_tokens: 2,
    inference_geo: 'eu',
    input_tokens: 3,
    output_tokens: 4,
    output_tokens_details: { thinking_tokens: 1 },
    server_tool_use: {},
    service_tier: 'standard',
    speed: 'fast',
  },
}

export const MESSAGES_ANSWER: AnswerLedger = {
  samples: [MESSAGE],
  objects: [
    {
      name: 'Message',
      at: [],
      fields: {
        id: 'mapped',
        container: VENDOR_ONLY,
        content: 'mapped',
        diagnostics: REPORT,
        model: 'mapped',
        role: CONSTANT,
        stop_details: { dropped: 'explains a refusal; other formats have only the refusal itself' },
        stop_reason: 'mapped',
        stop_sequence: 'mapped',
        type: CONSTANT,
        usage: 'mapped',
      },
    },
    {
      name: 'Usage',
      at: ['usage'],
      fields: {
        cache_creation: SPLIT,
        cache_creation_input_tokens: 'mapped',
        cache_read_input_tokens: 'mapped',
        inference_geo: REPORT,
        input_tokens: 'mapped',
        output_tokens: 'mapped',
        output_tokens_details: 'mapped',
        server_tool_use: VENDOR_ONLY,
        service_tier: REPORT,
        speed: REPORT,
      },
    },
    { name: 'OutputTokensDetails', at: ['usage', 'output_tokens_details'], fields: { thinking_tokens: 'mapped' } },
    {
      name: 'ThinkingBlock',
      at: ['content', 0],
      fields: { signature: 'mapped', thinking: 'mapped', type: 'mapped' },
    },
    { name: 'RedactedThinkingBlock', at: ['content', 1], fields: { data: 'mapped', type: 'mapped' } },
    { name: 'TextBlock', at: ['content', 2], fields: { citations: 'mapped', text: 'mapped', type: 'mapped' } },
    {
      name: 'CitationsWebSearchResultLocation',
      at: ['content', 2, 'citations', 0],
      fields: { cited_text: 'mapped', encrypted_index: 'mapped', title: 'mapped', type: 'mapped', url: 'mapped' },
    },
    {
      name: 'ToolUseBlock',
      at: ['content', 3],
      fields: {
        id: 'mapped',
        caller: VENDOR_ONLY,
        input: 'mapped',
        name: 'mapped',
        toolset_name: VENDOR_ONLY,
        type: 'mapped',
      },
    },
  ],
}

const COMPLETION: JsonObject = {
  id: 'c1',
  choices: [
    {
      finish_reason: 'length',
      index: 0,
      logprobs: { content: [{ token: 'hi', logprob: -1, bytes: [104, 105], top_logprobs: [] }] },
      message: {
        role: 'assistant',
        content: 'hi',
        refusal: 'no',
        annotations: [{ type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 1, end_index: 2 } }],
        audio: {},
        function_call: {},
        tool_calls: [{ id: 't1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
    },
  ],
  created: 7,
  model: 'gpt',
  object: 'chat.completion',
  metadata: {},
  moderation: {},
  service_tier: 'default',
  system_fingerprint: 'fp',
  usage: {
    completion_tokens: 9,
    prompt_tokens: 8,
    total_tokens: 17,
    completion_tokens_details: {
      accepted_prediction_tokens: 1,
      audio_tokens: 2,
      reasoning_tokens: 3,
      rejected_prediction_tokens: 1,
      text_tokens: 1,
    },
    prompt_tokens_details: {
      audio_tokens: 1,
      cache_write_tokens: 2,
      cached_tokens: 3,
      image_tokens: 1,
      text_tokens: 1,
    },
  },
}

export const COMPLETIONS_ANSWER: AnswerLedger = {
  samples: [COMPLETION],
  objects: [
    {
      name: 'ChatCompletion',
      at: [],
      fields: {
        id: 'mapped',
        choices: 'mapped',
        created: { dropped: 'the time of the translation stands in its place' },
        metadata: OF_REQUEST,
        model: 'mapped',
        moderation: VENDOR_ONLY,
        object: CONSTANT,
        service_tier: REPORT,
        system_fingerprint: REPORT,
        usage: 'mapped',
      },
    },
    {
      name: 'ChatCompletion.Choice',
      at: ['choices', 0],
      fields: { finish_reason: 'mapped', index: CONSTANT, logprobs: 'mapped', message: 'mapped' },
    },
    {
      name: 'ChatCompletionMessage',
      at: ['choices', 0, 'message'],
      fields: {
        annotations: 'mapped',
        audio: VENDOR_ONLY,
        content: 'mapped',
        function_call: { dropped: 'only for requests with the older `functions`, which are rejected' },
        refusal: 'mapped',
        role: CONSTANT,
        tool_calls: 'mapped',
      },
    },
    {
      name: 'ChatCompletionMessageFunctionToolCall',
      at: ['choices', 0, 'message', 'tool_calls', 0],
      fields: { function: 'mapped', id: 'mapped', type: CONSTANT },
    },
    {
      name: 'CompletionUsage',
      at: ['usage'],
      fields: {
        completion_tokens: 'mapped',
        completion_tokens_details: 'mapped',
        prompt_tokens: 'mapped',
        prompt_tokens_details: 'mapped',
        total_tokens: SUM,
      },
    },
    {
      name: 'CompletionUsage.PromptTokensDetails',
      at: ['usage', 'prompt_tokens_details'],
      fields: {
        audio_tokens: 'mapped',
        cache_write_tokens: 'mapped',
        cached_tokens: 'mapped',
        image_tokens: SPLIT,
        text_tokens: SPLIT,
      },
    },
    {
      name: 'CompletionUsage.CompletionTokensDetails',
      at: ['usage', 'completion_tokens_details'],
      fields: {
        accepted_prediction_tokens: SPLIT,
        audio_tokens: 'mapped',
        reasoning_tokens: 'mapped',
        rejected_prediction_tokens: SPLIT,
        text_tokens: SPLIT,
      },
    },
  ],
}

const RESPONSE: JsonObject = {
  id: 'resp_1',
  created_at: 7,
  object: 'response',
  model: 'gpt',
  status: 'incomplete',
  incomplete_details: { reason: 'content_filter' },
  error: { code: 'server_error', message: 'no' },
  output: [
    {
      id: 'rs_1',
      type: 'reasoning',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'hm' }],
      encrypted_content: 'e',
    },
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      phase: 'final_answer',
      content: [
        {
          type: 'output_text',
          text: 'hi',
          annotations: [{ type: 'url_citation', url: 'u', title: 't', start_index: 1, end_index: 2 }],
          logprobs: [{ token: 'hi', logprob: -1, bytes: [104, 105], top_logprobs: [] }],
        },
        { type: 'refusal', refusal: 'no' },
      ],
    },
    {
      id: 'fc_1',
      type: 'function_call',
      status: 'completed',
      call_id: 't1',
      name: 'f',
      arguments: '{"a":1}',
      async: true,
      caller: {},
      namespace: 'n',
    },
    { id: 'rs_2', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
  ],
  usage: {
    input_tokens: 8,
    input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2, cache_write_tokens_details: {} },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 17,
  },
}

export const RESPONSES_ANSWER: AnswerLedger = {
  samples: [RESPONSE, { ...RESPONSE, status: 'failed' }],
  objects: [
    {
      name: 'Response',
      at: [],
      fields: {
        access_programs: OF_REQUEST,
        background: OF_REQUEST,
        completed_at: REPORT,
        conversation: VENDOR_ONLY,
        created_at: { dropped: 'the time of the translation stands in its place' },
        error: 'mapped',
        id: 'mapped',
        image: VENDOR_ONLY,
        incomplete_details: 'mapped',
        instructions: OF_REQUEST,
        max_output_tokens: OF_REQUEST,
        max_tool_calls: OF_REQUEST,
        metadata: OF_REQUEST,
        model: 'mapped',
        moderation: VENDOR_ONLY,
        object: CONSTANT,
        output: 'mapped',
        output_text: { dropped: 'the SDK makes it of `output`' },
        parallel_tool_calls: OF_REQUEST,
        previous_response_id: OF_REQUEST,
        prompt: OF_REQUEST,
        prompt_cache_diagnostics: REPORT,
        prompt_cache_key: OF_REQUEST,
        prompt_cache_options: OF_REQUEST,
        prompt_cache_retention: OF_REQUEST,
        reasoning: OF_REQUEST,
        safety_identifier: OF_REQUEST,
        service_tier: REPORT,
        status: 'mapped',
        temperature: OF_REQUEST,
        text: OF_REQUEST,
        tool_choice: OF_REQUEST,
        tool_usage: VENDOR_ONLY,
        tools: OF_REQUEST,
        top_logprobs: OF_REQUEST,
        top_p: OF_REQUEST,
        truncation: OF_REQUEST,
        usage: 'mapped',
        user: OF_REQUEST,
      },
    },
    {
      name: 'ResponseReasoningItem',
      at: ['output', 0],
      fields: { encrypted_content: 'mapped', id: 'mapped', status: CONSTANT, summary: 'mapped', type: 'mapped' },
    },
    {
      name: 'ResponseReasoningItem.Content',
      at: ['output', 3, 'content', 0],
      fields: { text: 'mapped', type: CONSTANT },
    },
    {
      name: 'ResponseOutputMessage',
      at: ['output', 1],
      fields: {
        content: 'mapped',
        id: { dropped: 'items are not stored' },
        phase: { dropped: 'other formats have no phases of an answer' },
        role: CONSTANT,
        status: CONSTANT,
        type: 'mapped',
      },
    },
    {
      name: 'ResponseOutputText',
      at: ['output', 1, 'content', 0],
      fields: { annotations: 'mapped', logprobs: 'mapped', text: 'mapped', type: CONSTANT },
    },
    { name: 'ResponseOutputRefusal', at: ['output', 1, 'content', 1], fields: { refusal: 'mapped', type: 'mapped' } },
    {
      name: 'ResponseFunctionToolCall',
      at: ['output', 2],
      fields: {
        arguments: 'mapped',
        async: VENDOR_ONLY,
        call_id: 'mapped',
        caller: VENDOR_ONLY,
        id: { dropped: 'items are not stored' },
        name: 'mapped',
        namespace: VENDOR_ONLY,
        status: CONSTANT,
        type: 'mapped',
      },
    },
    {
      name: 'ResponseUsage',
      at: ['usage'],
      fields: {
        input_tokens: 'mapped',
        input_tokens_details: 'mapped',
        output_tokens: 'mapped',
        output_tokens_details: 'mapped',
        total_tokens: SUM,
      },
    },
    {
      name: 'ResponseUsage.InputTokensDetails',
      at: ['usage', 'input_tokens_details'],
      fields: { cache_write_tokens: 'mapped', cache_write_tokens_details: SPLIT, cached_tokens: 'mapped' },
    },
  ],
}
