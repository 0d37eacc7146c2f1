// Tools, resources and prompts that the conformance suite expects of a server of either era. Names, addresses and texts
// are those of the suite.
import type { CallToolResult, GetPromptResult, ReadResourceResult, Tool } from '@modelcontextprotocol/sdk/types.js'

/** What a tool can do while it runs, besides returning a result. */
export interface ToolContext {
  readonly notify: (method: string, params: Record<string, unknown>) => Promise<void>
  readonly progressToken: string | number | undefined
}

export interface Feature<Context> {
  readonly description: string
  readonly inputSchema?: Tool['inputSchema']
  readonly call: (args: Record<string, unknown>, context: Context) => CallToolResult | Promise<CallToolResult>
}

/** A red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
/** A sound without samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQAAAAA='
const STEP_MS = 50

export const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] })

/** Time between two events of a tool that takes time. */
export const step = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, STEP_MS))

const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' }
const embedded = (uri: string, mimeType: string, content: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: content },
})

export const TOOLS: Readonly<Record<string, Feature<ToolContext>>> = {
  test_simple_text: {
    description: 'returns text',
    call: () => text('This is a simple text response for testing.'),
  },
  test_image_content: { description: 'returns an image', call: () => ({ content: [image] }) },
  test_audio_content: {
    description: 'returns a sound',
    call: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'returns a resource',
    call: () => ({ content: [embedded('test://embedded-resource', 'text/plain', 'an embedded resource')] }),
  },
  test_multiple_content_types: {
    description: 'returns text, an image and a resource',
    call: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: {
    description: 'fails',
    call: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_tool_with_progress: {
    description: 'reports progress',
    async call(_args, { notify, progressToken }) {
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await notify('notifications/progress', { progressToken, progress, total: 100 })
        }
        await step()
      }
      return text(String(progressToken))
    },
  },
  json_schema_2020_12_tool: {
    description: 'has a schema with definitions',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema; nothing awaits a schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    call: (args) => text(JSON.stringify(args)),
  },
}

export const listed = (tools: Readonly<Record<string, Pick<Feature<never>, 'description' | 'inputSchema'>>>): Tool[] =>
  Object.entries(tools).map(([name, { description, inputSchema }]) => ({
    name,
    description,
    inputSchema: inputSchema ?? { type: 'object', properties: {} },
  }))

export const RESOURCES = [
  { uri: 'test://static-text', name: 'static-text', description: 'text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', description: 'an image', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched-resource', description: 'watched', mimeType: 'text/plain' },
]

export const TEMPLATES = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    description: 'data by id',
    mimeType: 'application/json',
  },
]

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/

/** Undefined for an address that no resource has. */
export function read(uri: string): ReadResourceResult | undefined {
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] }
  const id = TEMPLATE.exec(uri)?.[1]
  if (id !== undefined) {
    const value = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
    return { contents: [{ uri, mimeType: 'application/json', text: value }] }
  }
  if (!RESOURCES.some((resource) => resource.uri === uri)) return undefined
  return { contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }] }
}

type Message = GetPromptResult['messages'][number]

const says = (value: string): Message => ({ role: 'user', content: { type: 'text', text: value } })

interface Prompt {
  readonly description: string
  readonly arguments?: { name: string; description: string; required: boolean }[]
  readonly get: (args: Readonly<Record<string, string>>) => Message[]
}

export const PROMPTS: Readonly<Record<string, Prompt>> = {
  test_simple_prompt: { description: 'text', get: () => [says('This is a simple prompt for testing.')] },
  test_prompt_with_arguments: {
    description: 'text with arguments',
    arguments: ['arg1', 'arg2'].map((name) => ({ name, description: 'a test argument', required: true })),
    get: ({ arg1, arg2 }) => [says(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  test_prompt_with_embedded_resource: {
    description: 'a resource',
    arguments: [{ name: 'resourceUri', description: 'address of the resource', required: true }],
    get: ({ resourceUri = '' }) => [
      { role: 'user', content: embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.') },
      says('Please process the embedded resource above.'),
    ],
  },
  test_prompt_with_image: {
    description: 'an image',
    get: () => [{ role: 'user', content: image }, says('Please analyze the image above.')],
  },
}

export const listedPrompts = (): { name: string; description: string; arguments?: Prompt['arguments'] }[] =>
  Object.entries(PROMPTS).map(([name, { get: _get, ...prompt }]) => ({ name, ...prompt }))
