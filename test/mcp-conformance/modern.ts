// A server of MCP 2026-07-28 for the conformance suite.
import { randomBytes } from 'node:crypto'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  type InputRequiredResult,
  type ListToolsResult,
  McpServer,
  ProtocolError,
  type ServerContext,
  type ServerNotifier,
} from '@modelcontextprotocol/server'
import { type Feature, listed, listedPrompts, PROMPTS, read, RESOURCES, TEMPLATES, text } from './features.ts'
import { type ToolContext, TOOLS } from './features.ts'
import type { Handle } from './legacy.ts'

const INVALID_PARAMS = -32602

interface ModernContext extends ToolContext {
  readonly mcpReq: ServerContext['mcpReq']
  readonly notifier: ServerNotifier
}

type Called = CallToolResult | InputRequiredResult

type Tools = Readonly<Record<string, Pick<Feature<never>, 'description' | 'inputSchema'> & ModernTool>>

interface ModernTool {
  readonly call: (args: Record<string, unknown>, context: ModernContext) => Called | Promise<Called>
}

const states = createRequestStateCodec<{ round: number }>({ key: randomBytes(32) })

const form = (field: string, schema: { type: 'string' } | { type: 'boolean' } = { type: 'string' }) =>
  inputRequired.elicit({
    message: `the ${field}, please`,
    requestedSchema: { type: 'object', properties: { [field]: schema }, required: [field] },
  })
const sample = (question: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens: 100,
  })

/** A tool that asks, and has its result when each question of the round is answered. `rounds`: questions of each. */
function asks(rounds: readonly InputRequests[], hasState: boolean): ModernTool['call'] {
  return async (_args, { mcpReq }) => {
    const round = mcpReq.requestState<{ round: number }>()?.round ?? 0
    const answers = mcpReq.inputResponses ?? {}
    const isAnswered = Object.keys(rounds[round] ?? {}).every((question) => isAnswer(answers[question]))
    const next = isAnswered ? round + 1 : round
    const inputRequests = rounds[next]
    if (inputRequests === undefined) return text('state-ok: all questions are answered')
    if (!hasState) return inputRequired({ inputRequests })
    return inputRequired({ inputRequests, requestState: await states.mint({ round: next }) })
  }
}

const isAnswer = (answer: unknown): boolean => typeof answer === 'object' && answer !== null

/** Asks only for what the client can do. */
const supported: ModernTool['call'] = (_args, { mcpReq }) => {
  if (Object.values(mcpReq.inputResponses ?? {}).some(isAnswer)) return text('answered')
  // The types of the SDK lack the names of this object.
  const envelope = mcpReq.envelope as Record<string, Record<string, unknown>> | undefined
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY]
  const inputRequests: InputRequests = {}
  if (capabilities?.['elicitation'] !== undefined) inputRequests['user_name'] = form('name')
  if (capabilities?.['sampling'] !== undefined) inputRequests['capital'] = sample('What is the capital of France?')
  if (capabilities?.['roots'] !== undefined) inputRequests['roots'] = inputRequired.listRoots()
  return Object.keys(inputRequests).length === 0 ? text('nothing to ask') : inputRequired({ inputRequests })
}

const confirm = { confirm: form('ok', { type: 'boolean' }) }
const name = { user_name: form('name') }
const asking = (rounds: readonly InputRequests[], hasState = false) => ({
  description: 'asks the client',
  call: asks(rounds, hasState),
})

const MODERN_TOOLS: Tools = {
  ...TOOLS,
  test_input_required_result_elicitation: asking([name]),
  test_input_required_result_sampling: asking([{ sample_request: sample('What is the capital of France?') }]),
  test_input_required_result_list_roots: asking([{ roots_request: inputRequired.listRoots() }]),
  test_input_required_result_request_state: asking([confirm], true),
  test_input_required_result_multiple_inputs: asking(
    [{ ...name, greeting: sample('Generate a greeting'), client_roots: inputRequired.listRoots() }],
    true,
  ),
  test_input_required_result_multi_round: asking([{ step1: form('name') }, { step2: form('color') }], true),
  test_input_required_result_tampered_state: asking([confirm], true),
  test_input_required_result_capabilities: { description: 'asks what the client can answer', call: supported },
  test_missing_capability: asking([{ capital: sample('What is the capital of France?') }]),
  test_streaming_elicitation: asking([name]),
  test_logging_tool: {
    description: 'logs',
    async call(_args, { mcpReq }) {
      await mcpReq.log('info', 'a line')
      return text('logged')
    },
  },
  test_trigger_tool_change: {
    description: 'reports a change of the tools',
    call(_args, { notifier }) {
      notifier.toolsChanged()
      return text('reported')
    },
  },
  test_trigger_prompt_change: {
    description: 'reports a change of the prompts',
    call(_args, { notifier }) {
      notifier.promptsChanged()
      return text('reported')
    },
  },
  test_custom_headers: {
    description: 'has a parameter that is also a header',
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
      required: ['region'],
    },
    call: ({ region }) => text(`in ${String(region)}`),
  },
}

/** `tools`: undefined for all of the suite. */
export function modernHandler(tools: Readonly<Record<string, Feature<ToolContext>>> | undefined): Handle {
  const handler = createMcpHandler(
    () => (tools === undefined ? everything(handler.notify) : toolsOnly(tools, handler.notify)),
    { legacy: 'reject' },
  )
  const handle = toNodeHandler(handler)
  // node:http has the fields of the narrower type; it declares them as optional.
  return (request, response, message) => handle(request as Parameters<typeof handle>[0], response, message)
}

function toolsOnly(tools: Tools, notifier: ServerNotifier): McpServer {
  const mcp = new McpServer(
    { name: 'conformance', version: '1' },
    {
      capabilities: { tools: { listChanged: true } },
      requestState: { verify: (state, context) => states.verify(state, context) },
    },
  )
  // The packages have different types for a JSON schema.
  mcp.server.setRequestHandler('tools/list', () => ({ tools: listed(tools) as ListToolsResult['tools'] }))
  mcp.server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const tool = tools[params.name]
    if (tool === undefined) throw new ProtocolError(INVALID_PARAMS, `unknown tool: ${params.name}`)
    return tool.call(params.arguments ?? {}, {
      notify: (method, values) => mcpReq.notify({ method, params: values }),
      progressToken: mcpReq._meta?.progressToken,
      mcpReq,
      notifier,
    })
  })
  return mcp
}

function everything(notifier: ServerNotifier): McpServer {
  const mcp = toolsOnly(MODERN_TOOLS, notifier)
  const { server } = mcp
  server.registerCapabilities({
    resources: { subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
  })
  server.setRequestHandler('resources/list', () => ({ resources: RESOURCES }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: TEMPLATES }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const found = read(uri)
    if (found === undefined) throw new ProtocolError(INVALID_PARAMS, `unknown resource: ${uri}`, { uri })
    return found
  })
  const asked = 'test_input_required_result_prompt'
  server.setRequestHandler('prompts/list', () => ({
    prompts: [...listedPrompts(), { name: asked, description: 'asks the client' }],
  }))
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq }) => {
    if (params.name === asked && mcpReq.inputResponses?.['user_context'] === undefined) {
      return inputRequired({ inputRequests: { user_context: form('context') } })
    }
    const prompt = PROMPTS[params.name === asked ? 'test_simple_prompt' : params.name]
    if (prompt === undefined) throw new ProtocolError(INVALID_PARAMS, `unknown prompt: ${params.name}`)
    return { messages: prompt.get(params.arguments ?? {}) }
  })
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }))
  return mcp
}
