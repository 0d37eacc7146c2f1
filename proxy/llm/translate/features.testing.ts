// Requests of each client that use one feature, for the matrix. Written to the documentation of the vendors.
import type { JsonObject } from '../json.ts'
import {
  type ChatClient,
  AUDIO,
  CALLS,
  IMAGE,
  IMAGE_URL,
  PDF,
  PDF_URL,
  STRICT,
  TEXT_FILE,
  TOOL,
  asked,
  completions,
  contents,
  messages,
  parts,
  responses,
  withTool,
} from './feature-parts.testing.ts'

export interface Feature {
  readonly name: string
  /** Texts that the request of the provider must contain. */
  readonly markers: readonly string[]
  /** Fields in the form of each client; absent: its format has nothing for it. */
  readonly fields: { readonly [C in ChatClient]?: JsonObject }
}

/** The body without a feature. */
export const PLAIN: { readonly [C in ChatClient]: JsonObject } = {
  Completions: completions(asked('hi')),
  Messages: { max_tokens: 9000, ...messages(asked('hi')) },
  Responses: responses(asked('hi')),
  GenerateContent: contents(parts({ text: 'hi' })),
}

export const FEATURES: readonly Feature[] = [
  {
    name: 'system prompt',
    markers: ['planted_system'],
    fields: {
      Completions: completions({ role: 'system', content: 'planted_system' }, asked('hi')),
      Messages: { system: 'planted_system' },
      Responses: { instructions: 'planted_system' },
      GenerateContent: { systemInstruction: { parts: [{ text: 'planted_system' }] } },
    },
  },
  {
    name: 'turns of the assistant',
    markers: ['planted_answer', 'planted_next'],
    fields: {
      Completions: completions(asked('hi'), { role: 'assistant', content: 'planted_answer' }, asked('planted_next')),
      Messages: messages(asked('hi'), { role: 'assistant', content: 'planted_answer' }, asked('planted_next')),
      Responses: responses(asked('hi'), { role: 'assistant', content: 'planted_answer' }, asked('planted_next')),
      GenerateContent: contents(
        parts({ text: 'hi' }),
        { role: 'model', parts: [{ text: 'planted_answer' }] },
        parts({ text: 'planted_next' }),
      ),
    },
  },
  {
    name: 'image, inline',
    markers: [IMAGE],
    fields: {
      Completions: completions(asked([{ type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } }])),
      Messages: messages(asked([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } }])),
      Responses: responses(
        asked([{ type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${IMAGE}` }]),
      ),
      GenerateContent: contents(parts({ inlineData: { mimeType: 'image/png', data: IMAGE } })),
    },
  },
  {
    name: 'image, by URL',
    markers: [IMAGE_URL],
    fields: {
      Completions: completions(asked([{ type: 'image_url', image_url: { url: IMAGE_URL } }])),
      Messages: messages(asked([{ type: 'image', source: { type: 'url', url: IMAGE_URL } }])),
      Responses: responses(asked([{ type: 'input_image', detail: 'auto', image_url: IMAGE_URL }])),
      GenerateContent: contents(parts({ fileData: { mimeType: 'image/png', fileUri: IMAGE_URL } })),
    },
  },
  {
    name: 'PDF, inline',
    markers: [PDF],
    fields: {
      Completions: completions(
        asked([{ type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } }]),
      ),
      Messages: messages(
        asked([{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }]),
      ),
      Responses: responses(
        asked([{ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` }]),
      ),
      GenerateContent: contents(parts({ inlineData: { mimeType: 'application/pdf', data: PDF } })),
    },
  },
  {
    name: 'PDF, by URL',
    markers: [PDF_URL],
    fields: {
      Messages: messages(asked([{ type: 'document', source: { type: 'url', url: PDF_URL } }])),
      Responses: responses(asked([{ type: 'input_file', file_url: PDF_URL }])),
      GenerateContent: contents(parts({ fileData: { mimeType: 'application/pdf', fileUri: PDF_URL } })),
    },
  },
  {
    name: 'text file, inline',
    markers: ['planted text'],
    fields: {
      Completions: completions(
        asked([{ type: 'file', file: { filename: 'a.txt', file_data: `data:text/plain;base64,${TEXT_FILE}` } }]),
      ),
      Messages: messages(
        asked([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'planted text' } }]),
      ),
      Responses: responses(
        asked([{ type: 'input_file', filename: 'a.txt', file_data: `data:text/plain;base64,${TEXT_FILE}` }]),
      ),
      GenerateContent: contents(parts({ inlineData: { mimeType: 'text/plain', data: TEXT_FILE } })),
    },
  },
  {
    name: 'file, by the id of its upload',
    markers: ['file-planted'],
    fields: {
      Completions: completions(asked([{ type: 'file', file: { file_id: 'file-planted' } }])),
      Messages: messages(asked([{ type: 'document', source: { type: 'file', file_id: 'file-planted' } }])),
      Responses: responses(asked([{ type: 'input_file', file_id: 'file-planted' }])),
      GenerateContent: contents(
        parts({
          fileData: {
            mimeType: 'application/pdf',
            fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/file-planted',
          },
        }),
      ),
    },
  },
  {
    name: 'audio, inline',
    markers: [AUDIO],
    fields: {
      Completions: completions(asked([{ type: 'input_audio', input_audio: { format: 'wav', data: AUDIO } }])),
      GenerateContent: contents(parts({ inlineData: { mimeType: 'audio/wav', data: AUDIO } })),
    },
  },
  {
    name: 'answer with audio',
    markers: ['alloy'],
    fields: {
      Completions: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
      GenerateContent: {
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'alloy' } } },
        },
      },
    },
  },
  {
    name: 'answer with images',
    markers: ['IMAGE'],
    fields: {
      Completions: { modalities: ['text', 'image'] },
      Responses: { tools: [{ type: 'image_generation' }] },
      GenerateContent: { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } },
    },
  },
  {
    name: 'tools',
    markers: ['planted_tool', 'planted_city'],
    fields: TOOL,
  },
  {
    name: 'required call',
    markers: ['planted_tool'],
    fields: withTool({
      Completions: { tool_choice: 'required' },
      Messages: { tool_choice: { type: 'any' } },
      Responses: { tool_choice: 'required' },
      GenerateContent: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
    }),
  },
  {
    name: 'call of one tool',
    markers: ['planted_tool'],
    fields: withTool({
      Completions: { tool_choice: { type: 'function', function: { name: 'planted_tool' } } },
      Messages: { tool_choice: { type: 'tool', name: 'planted_tool' } },
      Responses: { tool_choice: { type: 'function', name: 'planted_tool' } },
      GenerateContent: {
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['planted_tool'] } },
      },
    }),
  },
  {
    name: 'no parallel calls',
    markers: ['planted_tool'],
    fields: {
      Completions: { ...TOOL.Completions, parallel_tool_calls: false },
      Messages: { ...TOOL.Messages, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      Responses: { ...TOOL.Responses, parallel_tool_calls: false },
    },
  },
  {
    name: 'results of parallel calls',
    markers: CALLS.flatMap(({ city = '', result }) => [city, result]),
    fields: withTool({
      Completions: completions(
        asked('hi'),
        {
          role: 'assistant',
          tool_calls: CALLS.map(({ id, city }) => ({
            id,
            type: 'function',
            function: { name: 'planted_tool', arguments: JSON.stringify({ planted_city: city }) },
          })),
        },
        ...CALLS.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
      ),
      Messages: messages(
        asked('hi'),
        {
          role: 'assistant',
          content: CALLS.map(({ id, city }) => ({
            type: 'tool_use',
            id,
            name: 'planted_tool',
            input: { planted_city: city },
          })),
        },
        asked(CALLS.map(({ id, result }) => ({ type: 'tool_result', tool_use_id: id, content: result }))),
      ),
      Responses: responses(
        asked('hi'),
        ...CALLS.map(({ id, city }) => ({
          type: 'function_call',
          call_id: id,
          name: 'planted_tool',
          arguments: JSON.stringify({ planted_city: city }),
        })),
        ...CALLS.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
      ),
      GenerateContent: contents(
        parts({ text: 'hi' }),
        {
          role: 'model',
          parts: CALLS.map(({ id, city }) => ({
            functionCall: { id, name: 'planted_tool', args: { planted_city: city } },
          })),
        },
        parts(
          ...CALLS.map(({ id, result }) => ({
            functionResponse: { id, name: 'planted_tool', response: { output: result } },
          })),
        ),
      ),
    }),
  },
  {
    name: 'image in a result',
    markers: [IMAGE],
    fields: {
      Messages: {
        ...TOOL.Messages,
        ...messages(
          asked('hi'),
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'planted_tool', input: {} }] },
          asked([
            {
              type: 'tool_result',
              tool_use_id: 'c',
              content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } }],
            },
          ]),
        ),
      },
      Responses: {
        ...TOOL.Responses,
        ...responses(
          asked('hi'),
          { type: 'function_call', call_id: 'c', name: 'planted_tool', arguments: '{}' },
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [{ type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${IMAGE}` }],
          },
        ),
      },
      GenerateContent: {
        ...TOOL.GenerateContent,
        ...contents(
          parts({ text: 'hi' }),
          { role: 'model', parts: [{ functionCall: { id: 'c', name: 'planted_tool', args: {} } }] },
          parts({
            functionResponse: {
              id: 'c',
              name: 'planted_tool',
              response: {},
              parts: [{ inlineData: { mimeType: 'image/png', data: IMAGE } }],
            },
          }),
        ),
      },
    },
  },
  {
    name: 'JSON Schema for the answer',
    markers: ['planted_city'],
    fields: {
      Completions: {
        response_format: { type: 'json_schema', json_schema: { name: 'city', schema: STRICT, strict: true } },
      },
      Messages: { output_config: { format: { type: 'json_schema', schema: STRICT } } },
      Responses: { text: { format: { type: 'json_schema', name: 'city', schema: STRICT, strict: true } } },
      GenerateContent: {
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: STRICT },
      },
    },
  },
  {
    name: 'thinking',
    markers: [],
    fields: {
      Completions: { reasoning_effort: 'high', max_completion_tokens: 9000 },
      Messages: { thinking: { type: 'enabled', budget_tokens: 4096 } },
      Responses: { reasoning: { effort: 'high' }, max_output_tokens: 9000 },
      GenerateContent: { generationConfig: { thinkingConfig: { thinkingBudget: 4096 }, maxOutputTokens: 9000 } },
    },
  },
  {
    name: 'limit of output tokens',
    markers: ['4321'],
    fields: {
      Completions: { max_completion_tokens: 4321 },
      Messages: { max_tokens: 4321 },
      Responses: { max_output_tokens: 4321 },
      GenerateContent: { generationConfig: { maxOutputTokens: 4321 } },
    },
  },
  {
    name: 'temperature, top-p',
    markers: ['0.25', '0.75'],
    fields: {
      Completions: { temperature: 0.25, top_p: 0.75 },
      Messages: { temperature: 0.25, top_p: 0.75 },
      Responses: { temperature: 0.25, top_p: 0.75 },
      GenerateContent: { generationConfig: { temperature: 0.25, topP: 0.75 } },
    },
  },
  {
    name: 'top-k',
    markers: ['37'],
    fields: { Messages: { top_k: 37 }, GenerateContent: { generationConfig: { topK: 37 } } },
  },
  {
    name: 'stop sequences',
    markers: ['planted_stop'],
    fields: {
      Completions: { stop: ['planted_stop'] },
      Messages: { stop_sequences: ['planted_stop'] },
      GenerateContent: { generationConfig: { stopSequences: ['planted_stop'] } },
    },
  },
  {
    name: 'seed',
    markers: ['1234567'],
    fields: { Completions: { seed: 1_234_567 }, GenerateContent: { generationConfig: { seed: 1_234_567 } } },
  },
  {
    name: 'log probabilities',
    markers: [],
    fields: {
      Completions: { logprobs: true, top_logprobs: 2 },
      Responses: { top_logprobs: 2, include: ['message.output_text.logprobs'] },
      GenerateContent: { generationConfig: { responseLogprobs: true, logprobs: 2 } },
    },
  },
  {
    name: 'several answers',
    markers: [],
    fields: { Completions: { n: 2 }, GenerateContent: { generationConfig: { candidateCount: 2 } } },
  },
  {
    name: 'cache marks',
    markers: [],
    fields: {
      Completions: completions(asked([{ type: 'text', text: 'long', cache_control: { type: 'ephemeral' } }])),
      Messages: { system: [{ type: 'text', text: 'long', cache_control: { type: 'ephemeral' } }] },
    },
  },
  {
    name: 'tools of the provider',
    markers: [],
    fields: {
      Messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      Responses: { tools: [{ type: 'web_search' }] },
      GenerateContent: { tools: [{ googleSearch: {} }] },
    },
  },
]
