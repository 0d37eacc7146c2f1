// Parts of requests with one feature, for features.testing.ts.
import type { FormatName } from '#api/llm/formats.ts'
import type { JsonObject } from '../json.ts'

export type ChatClient = Extract<FormatName, 'Completions' | 'Messages' | 'Responses' | 'GenerateContent'>

export const IMAGE = 'iVBORw0KGgo='
export const PDF = 'JVBERi0xLjQ='
export const AUDIO = 'UklGRgAAAAA='
export const IMAGE_URL = 'https://images.example.com/cat.png'
export const PDF_URL = 'https://files.example.com/a.pdf'
/** `planted text` */
export const TEXT_FILE = 'cGxhbnRlZCB0ZXh0'
export const SCHEMA = { type: 'object', properties: { planted_city: { type: 'string' } }, required: ['planted_city'] }
export const STRICT = { ...SCHEMA, additionalProperties: false }

export const completions = (...messages: JsonObject[]): JsonObject => ({ messages })
export const messages = (...list: JsonObject[]): JsonObject => ({ messages: list })
export const responses = (...input: JsonObject[]): JsonObject => ({ input })
export const contents = (...list: JsonObject[]): JsonObject => ({ contents: list })

export const asked = (content: unknown): JsonObject => ({ role: 'user', content })
export const parts = (...list: JsonObject[]): JsonObject => ({ role: 'user', parts: list })

export const TOOL = {
  Completions: { tools: [{ type: 'function', function: { name: 'planted_tool', parameters: SCHEMA } }] },
  Messages: { tools: [{ name: 'planted_tool', input_schema: SCHEMA }] },
  Responses: { tools: [{ type: 'function', name: 'planted_tool', parameters: SCHEMA, strict: false }] },
  GenerateContent: { tools: [{ functionDeclarations: [{ name: 'planted_tool', parametersJsonSchema: SCHEMA }] }] },
} as const

export const CALLS = ['call-1', 'call-2'].map((id, at) => ({
  id,
  city: ['Paris', 'Rome'][at],
  result: `planted_result_${at}`,
}))

export const withTool = (fields: { readonly [C in ChatClient]: JsonObject }): {
  readonly [C in ChatClient]: JsonObject
} => ({
  Completions: { ...TOOL.Completions, ...fields.Completions },
  Messages: { ...TOOL.Messages, ...fields.Messages },
  Responses: { ...TOOL.Responses, ...fields.Responses },
  GenerateContent: { ...TOOL.GenerateContent, ...fields.GenerateContent },
})
