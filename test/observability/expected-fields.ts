// Fields of the access log, data-plane supplement section 6.3, in their order, and the request that shows each. A field
// that no request can show yet has the missing feature.

/** The request that shows a field: see observability.test.ts. */
export type Shown =
  | 'echo'
  | 'jwt'
  | 'https'
  | 'tcp'
  | 'sampled'
  | 'agent'
  | 'agentError'
  | 'tool'
  | 'prompt'
  | 'resource'
  | 'session'
  | 'mcpError'
  | 'grpc'
  | 'stream'
  | 'media'
  | 'embeddings'
  | 'retried'
  | 'gone'
  | 'key'
  | 'basic'
  | 'processed'
  | 'changed'

export type FieldPlace = { readonly in: Shown } | { readonly waitsFor: string }

const shown = (where: Shown): FieldPlace => ({ in: where })

const TRANSCRIPTION: FieldPlace = { waitsFor: 'nothing: proxy/llm/socket.test.ts has it, of a WebSocket' }

export const FIELDS: readonly (readonly [name: string, place: FieldPlace])[] = [
  ['connection.id', shown('echo')],
  ['request.id', shown('echo')],
  ['gateway', shown('echo')],
  ['listener', shown('echo')],
  ['route_rule', shown('echo')],
  ['route', shown('echo')],
  ['endpoint', shown('echo')],
  ['src.addr', shown('echo')],
  ['src.identity', shown('https')],
  ['http.method', shown('echo')],
  ['http.host', shown('echo')],
  ['http.path', shown('echo')],
  ['http.version', shown('echo')],
  ['http.status', shown('echo')],
  ['grpc.status', shown('grpc')],
  ['tls.sni', { waitsFor: 'nothing: proxy/tls/tls.test.ts has it, of connections that are passed on' }],
  ['trace.id', shown('sampled')],
  ['span.id', shown('sampled')],
  ['jwt.sub', shown('jwt')],
  ['protocol', shown('echo')],
  ['a2a.method', shown('agent')],
  ['a2a.response.outcome', shown('agent')],
  ['a2a.response.error_code', shown('agentError')],
  ['a2a.result.kind', shown('agent')],
  ['a2a.task.state', shown('agent')],
  ['a2a.context.id', shown('agent')],
  ['mcp.method.name', shown('tool')],
  ['mcp.target', shown('tool')],
  ['mcp.resource.type', shown('tool')],
  ['mcp.resource.uri', shown('resource')],
  ['gen_ai.tool.name', shown('tool')],
  ['gen_ai.prompt.name', shown('prompt')],
  ['mcp.session.id', shown('tool')],
  ['mcp.error.code', shown('mcpError')],
  ['mcp.error.message', shown('mcpError')],
  ['inferencepool.selected_endpoint', { waitsFor: 'nothing: the tests of inference pools have it' }],
  ['gen_ai.operation.name', shown('stream')],
  ['gen_ai.provider.name', shown('stream')],
  ['gen_ai.request.model', shown('stream')],
  ['gen_ai.response.model', shown('stream')],
  ['gen_ai.usage.input_tokens', shown('stream')],
  ['gen_ai.usage.cache_creation.input_tokens', { waitsFor: 'nothing: proxy/log/access-log.test.ts has it' }],
  ['gen_ai.usage.cache_read.input_tokens', { waitsFor: 'nothing: proxy/log/access-log.test.ts has it' }],
  ['gen_ai.usage.output_tokens', shown('stream')],
  ['gen_ai.usage.reasoning_tokens', { waitsFor: 'nothing: proxy/log/access-log.test.ts has it' }],
  ['gw.ai.time_to_first_token', shown('stream')],
  ['gw.ai.time_per_output_token', shown('stream')],
  ['gw.ai.usage.cost.total', shown('media')],
  ['gen_ai.usage.output_image_tokens', shown('media')],
  ['gen_ai.usage.input_audio_tokens', shown('media')],
  ['gen_ai.usage.output_audio_tokens', shown('media')],
  ...['model', 'input_tokens', 'output_tokens', 'seconds'].map(
    (name) => [`gw.ai.transcription.${name}`, TRANSCRIPTION] as const,
  ),
  ['gen_ai.request.temperature', shown('media')],
  ['gen_ai.embeddings.dimension.count', shown('embeddings')],
  ['gen_ai.request.encoding_formats', shown('embeddings')],
  ['gen_ai.request.top_p', shown('media')],
  ['gen_ai.request.max_tokens', shown('media')],
  ['gen_ai.request.frequency_penalty', shown('media')],
  ['gen_ai.request.presence_penalty', shown('media')],
  ['gen_ai.request.seed', shown('media')],
  ['gw.ai.dropped_fields', { waitsFor: 'nothing: proxy/trace/trace.test.ts and proxy/log/access-log.test.ts have it' }],
  ['gw.ai.failed_providers', { waitsFor: 'nothing: proxy/llm/failover.test.ts has it' }],
  ['gw.ai.guards', { waitsFor: 'nothing: proxy/log/access-log.test.ts and test/conformance have it' }],
  ['retry.attempt', shown('retried')],
  ['error', shown('gone')],
  ['reason', shown('gone')],
  ['duration', shown('echo')],
]
