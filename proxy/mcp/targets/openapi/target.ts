// An HTTP API with an OpenAPI document as an MCP server: operations are tools (data-plane supplement section 4.7). It
// has no sessions and no stream of its own.
import type { BackendReference, OpenApiOperation, OpenApiTarget } from '#api/ir/types.gen.ts'
import { parseJson, parseJsonExactly, type JsonRecord } from '#api/json.ts'
import type { BackendEnvironment } from '../../../backend/handler.ts'
import type { EffectiveBackend } from '../../../chain/effective.ts'
import { ServiceError, type ServiceCaller } from '../../../chain/service.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { HttpResponse } from '../../../message/message.ts'
import { madeStream } from '../../../message/made-stream.ts'
import { single } from '../../http-reply.ts'
import {
  errorResponse,
  INVALID_PARAMS,
  isRequest,
  METHOD_NOT_FOUND,
  type JsonRpcError,
  type JsonRpcMessage,
  type JsonRpcRequest,
} from '../../jsonrpc.ts'
import { TRACE_FIELDS } from '../../trace-context.ts'
import { LEGACY_VERSION, LEGACY_VERSIONS } from '../../versions.ts'
import { NoServerError, TargetError, type McpTarget, type TargetReply } from '../target.ts'
import { hasMembers, InvalidArguments, requestOf } from './request.ts'

/** As of other MCP servers, unless `http.requestTimeout` is set. */
const TIMEOUT_MS = 300_000
const TEXT_TYPE = /^(?:text\/|application\/(?:[a-z0-9.-]+\+)?(?:json|xml|yaml))/i
const EMPTY: Readonly<Record<string, JsonRecord>> = {
  ping: {},
  'prompts/list': { prompts: [] },
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
}

export interface OpenApiTargetOptions {
  readonly name: string
  readonly ref: BackendReference
  readonly policies: EffectiveBackend
  readonly environment: BackendEnvironment
}

interface Compiled {
  readonly name: string
  readonly document: OpenApiTarget
  readonly operations: ReadonlyMap<string, OpenApiOperation>
  readonly tools: readonly JsonRecord[]
  readonly server: ServiceCaller | undefined
  readonly bytesMax: number
}

export function openApiTarget(
  document: OpenApiTarget,
  { name, ref, policies, environment }: OpenApiTargetOptions,
): McpTarget {
  const compiled: Compiled = {
    name,
    document,
    operations: new Map(document.operations.map((operation) => [operation.name, operation])),
    tools: document.operations.map(toolOf),
    server: environment.server(ref, policies, { subtype: 'Mcp', timeoutMs: TIMEOUT_MS }),
    bytesMax: environment.bufferBytesMax,
  }
  return {
    name,
    async send(exchange, message) {
      if (!isRequest(message)) return reply()
      const { id } = message
      const answer = await answerOf(compiled, exchange, message)
      return reply('error' in answer ? errorResponse(id, answer.error) : { jsonrpc: '2.0', id, result: answer.result })
    },
    listen: () => Promise.resolve(undefined),
    end: () => Promise.resolve(),
  }
}

function reply(message?: JsonRpcMessage): TargetReply {
  const messages = message === undefined ? madeStream(nothing(), () => {}) : single(message)
  return { serverSession: undefined, endpoint: undefined, messages }
}

async function* nothing(): AsyncGenerator<JsonRpcMessage> {}

function toolOf({ name, description, inputSchema }: OpenApiOperation): JsonRecord {
  return { name, ...(description !== undefined && { description }), inputSchema: parseJson(inputSchema) }
}

type Answer = { readonly result: JsonRecord } | { readonly error: JsonRpcError }

async function answerOf(compiled: Compiled, exchange: Exchange, request: JsonRpcRequest): Promise<Answer> {
  const { method, params } = request
  const empty = Object.hasOwn(EMPTY, method) ? EMPTY[method] : undefined
  if (empty !== undefined) return { result: empty }
  if (method === 'initialize') return { result: introduction(compiled, params?.['protocolVersion']) }
  if (method === 'tools/list') return { result: { tools: compiled.tools } }
  if (method === 'tools/call') return toolAnswer(compiled, exchange, params ?? {})
  return { error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` } }
}

async function toolAnswer(compiled: Compiled, exchange: Exchange, params: JsonRecord): Promise<Answer> {
  const operation = compiled.operations.get(String(params['name']))
  if (operation === undefined) return { error: { code: INVALID_PARAMS, message: 'Unknown tool' } }
  try {
    return { result: await called(compiled, exchange, operation, params['arguments']) }
  } catch (error) {
    if (error instanceof InvalidArguments) return { error: { code: INVALID_PARAMS, message: error.message } }
    if (error instanceof ServiceError) throw new TargetError(`${compiled.name}: ${error.message}`)
    throw error
  }
}

function introduction({ document: { title, version }, name }: Compiled, asked: unknown): JsonRecord {
  const isKnown = typeof asked === 'string' && LEGACY_VERSIONS.includes(asked)
  return {
    protocolVersion: isKnown ? asked : LEGACY_VERSION,
    capabilities: { tools: {} },
    serverInfo: { name: title === '' ? name : title, version },
  }
}

/** @throws {InvalidArguments | ServiceError | NoServerError} */
async function called(
  { name, document, server, bytesMax }: Compiled,
  exchange: Exchange,
  operation: OpenApiOperation,
  args: unknown,
): Promise<JsonRecord> {
  if (server === undefined) throw new NoServerError(`${name}: its backend does not exist`)
  const request = requestOf(document.basePath, operation, args)
  // The API is part of the same trace.
  for (const field of TRACE_FIELDS) {
    for (const value of exchange.request.headers.getAll(field)) request.headers.append(field, value)
  }
  const response = await server.http(exchange, { ...request, authority: undefined, answerBytesMax: bytesMax })
  return resultOf(response)
}

/** Errors of the API are results: models read them and try again. */
function resultOf({ status, headers, body }: HttpResponse): JsonRecord {
  const type = headers.get('content-type') ?? ''
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  if (bytes.length > 0 && !TEXT_TYPE.test(type)) {
    return errorResult(`The API answered with status ${status} and content of type ${type}, which is not text.`)
  }
  const text = bytes.toString('utf8')
  if (status >= 400) return errorResult(`The API answered with status ${status}.${text === '' ? '' : `\n${text}`}`)
  const value = type.includes('json') ? parseJsonExactly(text) : undefined
  const structured = value === undefined ? {} : { structuredContent: hasMembers(value) ? value : { data: value } }
  return { content: text === '' ? [] : [{ type: 'text', text }], ...structured }
}

function errorResult(text: string): JsonRecord {
  return { content: [{ type: 'text', text }], isError: true }
}
