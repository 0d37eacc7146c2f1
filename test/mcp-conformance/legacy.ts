// A server of MCP 2025-11-25 and before, with sessions and resumable streams, for the conformance suite.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import {
  type Feature,
  listed,
  listedPrompts,
  PROMPTS,
  read,
  RESOURCES,
  step,
  TEMPLATES,
  text,
  type ToolContext,
  TOOLS,
} from './features.ts'

/** The suite has a few sessions at a time and does not always end them. */
const SESSIONS_MAX = 1000
const RETRY_MS = 500

interface LegacyContext extends ToolContext {
  /** Sends a request to the client on the stream of the call. */
  readonly ask: RequestHandlerExtra<ServerRequest, ServerNotification>['sendRequest']
  readonly closeStream: (() => void) | undefined
}

const elicit = (message: string, properties: Record<string, unknown>): Feature<LegacyContext>['call'] =>
  async function (args, { ask }) {
    const given = args['message']
    const request = {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: typeof given === 'string' ? given : message,
        requestedSchema: { type: 'object', properties },
      },
    }
    // The types of the SDK know fewer schemas than the protocol.
    const { action, content } = await ask(request as never, ElicitResultSchema)
    return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`)
  }

const titled = (values: readonly string[], noun: string) =>
  values.map((value, index) => ({ const: value, title: `${['First', 'Second', 'Third'][index]} ${noun}` }))

const LEGACY_TOOLS: Readonly<Record<string, Feature<LegacyContext>>> = {
  ...TOOLS,
  test_tool_with_logging: {
    description: 'logs',
    async call(_args, { notify }) {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await notify('notifications/message', { level: 'info', data })
        await step()
      }
      return text('Tool with logging executed successfully')
    },
  },
  test_reconnection: {
    description: 'closes its stream before it has a result',
    async call(_args, { closeStream }) {
      closeStream?.()
      await step()
      return text('Reconnection test completed successfully.')
    },
  },
  test_sampling: {
    description: 'asks the model of the client',
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    async call({ prompt }, { ask }) {
      const content = { type: 'text', text: String(prompt) }
      const request = {
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content }], maxTokens: 100 },
      }
      const result = await ask(request as never, CreateMessageResultSchema) // as above
      return text(`LLM response: ${JSON.stringify(result.content)}`)
    },
  },
  test_elicitation: {
    description: 'asks the user',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    call: elicit('', { response: { type: 'string', description: "User's response" } }),
  },
  test_elicitation_sep1034_defaults: {
    description: 'asks the user, with defaults',
    call: elicit('Please review the defaults', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  },
  test_elicitation_sep1330_enums: {
    description: 'asks the user, with choices',
    call: elicit('Please select options', {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled(['value1', 'value2', 'value3'], 'Option') },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled(['value1', 'value2', 'value3'], 'Choice') } },
    }),
  },
}

export type Handle = (request: IncomingMessage, response: ServerResponse, message: unknown) => Promise<void>

/** `tools`: undefined for all of the suite. */
export function legacyHandler(tools: Readonly<Record<string, Feature<ToolContext>>> | undefined): Handle {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return async (request, response, message) => {
    const id = request.headers['mcp-session-id']
    const known = sessions.get(String(id))
    if (known !== undefined) return known.handleRequest(request, response, message)
    if (id !== undefined || sessions.size >= SESSIONS_MAX) return void response.writeHead(404).end()
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new InMemoryEventStore(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    })
    await (tools === undefined ? everything() : toolsOnly(tools)).connect(transport)
    return transport.handleRequest(request, response, message)
  }
}

function toolsOnly(tools: Readonly<Record<string, Feature<LegacyContext>>>): McpServer {
  const mcp = new McpServer({ name: 'conformance', version: '1' }, { capabilities: { tools: { listChanged: true } } })
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listed(tools) }))
  mcp.server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const tool = tools[params.name]
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `unknown tool: ${params.name}`)
    return tool.call(params.arguments ?? {}, {
      ask: extra.sendRequest,
      notify: (method, values) => extra.sendNotification({ method, params: values }),
      progressToken: extra._meta?.progressToken,
      closeStream: extra.closeSSEStream,
    })
  })
  return mcp
}

function everything(): McpServer {
  const mcp = toolsOnly(LEGACY_TOOLS)
  const { server } = mcp
  server.registerCapabilities({ resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} })
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: RESOURCES }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: TEMPLATES }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const found = read(uri)
    if (found === undefined) throw new McpError(ErrorCode.InvalidParams, `unknown resource: ${uri}`)
    return found
  })
  server.setRequestHandler(SubscribeRequestSchema, () => ({}))
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}))
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: listedPrompts() }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = PROMPTS[params.name]
    if (prompt === undefined) throw new McpError(ErrorCode.InvalidParams, `unknown prompt: ${params.name}`)
    return { messages: prompt.get(params.arguments ?? {}) }
  })
  server.setRequestHandler(CompleteRequestSchema, () => ({ completion: { values: [], total: 0, hasMore: false } }))
  server.setRequestHandler(SetLevelRequestSchema, () => ({}))
  return mcp
}
