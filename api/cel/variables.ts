// The variables expressions may read, the members of those whose shape is fixed, and when each is there (data-plane
// supplement section 2.1). Members without an entry have names of users: claims, headers, metadata.

/** Members by name; `open` where any name may be one. */
export type CelShape = 'open' | { readonly [member: string]: CelShape }

/** A text, number, boolean or time: it has no members. */
const VALUE: CelShape = {}

const NAMED: CelShape = { namespace: VALUE, name: VALUE }
const MCP_ITEM = { target: VALUE, name: VALUE, error: 'open' } as const
const COSTS = values('input', 'output', 'cacheRead', 'cacheWrite', 'reasoning', 'inputAudio', 'outputAudio')

export const CEL_VARIABLES = {
  request: {
    ...values('method', 'uri', 'host', 'scheme', 'path', 'pathAndQuery', 'version'),
    ...values('body', 'bodyPrefix', 'startTime', 'endTime'),
    headers: 'open',
  },
  response: { ...values('code', 'grpcStatus', 'body', 'bodyPrefix'), headers: 'open' },
  proxy: {
    ...values('bind', 'requestProcessingDuration', 'upstreamDuration', 'responseProcessingDuration'),
    gateway: NAMED,
    listener: values('name'),
    route: { ...NAMED, ...values('kind', 'rule') },
  },
  env: values('podName', 'namespace', 'gateway'),
  jwt: 'open',
  apiKey: 'open',
  basicAuth: values('username'),
  source: {
    ...values('address', 'port', 'rawAddress', 'rawPort', 'spiffeId', 'issuer', 'subject', 'subjectCn', 'certificate'),
    identity: values('trustDomain', 'namespace', 'serviceAccount'),
    subjectAltNames: 'open',
    unverifiedWorkload: { ...NAMED, ...values('serviceAccount') },
    connectHeaders: 'open',
  },
  destination: values('address', 'port', 'hostname'),
  backend: values('name', 'type', 'protocol'),
  llm: {
    ...values('streaming', 'requestModel', 'responseModel', 'provider', 'serviceTier', 'countTokens'),
    ...values('inputTokens', 'providerInputTokens', 'inputImageTokens', 'inputTextTokens', 'inputAudioTokens'),
    ...values('cachedInputTokens', 'cacheCreationInputTokens', 'outputTokens', 'outputImageTokens'),
    ...values('outputTextTokens', 'outputAudioTokens', 'reasoningTokens', 'totalTokens', 'providerTotalTokens'),
    ...values('timeToFirstToken', 'timePerOutputToken'),
    prompt: 'open',
    completion: 'open',
    toolCalls: 'open',
    params: {
      ...values('temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'max_tokens'),
      ...values('encoding_format', 'dimensions'),
    },
    cost: { ...COSTS, ...values('total') },
    costRates: COSTS,
  },
  llmRequest: 'open',
  mcp: {
    ...values('methodName', 'sessionId'),
    tool: { ...MCP_ITEM, arguments: 'open', result: 'open' },
    prompt: MCP_ITEM,
    resource: MCP_ITEM,
    task: MCP_ITEM,
    serverRequest: values('target', 'name'),
  },
  extauthz: 'open',
  extproc: 'open',
  mcpGuardrails: 'open',
  metadata: 'open',
} as const satisfies Readonly<Record<string, CelShape>>

/** Variables and members above that this version never sets. */
export const CEL_NOT_YET: ReadonlySet<string> = new Set(['source.unverifiedWorkload'])

/**
 * When an expression is evaluated: `start` when the proxy gets its configuration, `connection` for a connection that
 * has asked nothing, `routing` and `request` before and after the choice of the route, `backend` on the way to it,
 * `model` while a request to a model is read, `response`, and `log` when all is over.
 */
export type CelMoment = 'start' | 'connection' | 'routing' | 'request' | 'backend' | 'model' | 'response' | 'log'

const OVER = ['request.endTime', 'proxy.responseProcessingDuration']
const BEFORE_RESPONSE = [...OVER, 'response', 'proxy.upstreamDuration']
const BEFORE_BACKEND = [...BEFORE_RESPONSE, 'proxy.requestProcessingDuration', 'backend', 'llm', 'mcp', 'mcpGuardrails']
const ALL = Object.keys(CEL_VARIABLES)

/** Variables and members that are always absent then; those that may be present are not listed. */
export const CEL_ABSENT: { readonly [M in CelMoment]: ReadonlySet<string> } = {
  start: new Set(ALL.filter((name) => name !== 'env')),
  connection: new Set(ALL.filter((name) => name !== 'source')),
  routing: new Set([...BEFORE_BACKEND, 'llmRequest', 'proxy.route']),
  request: new Set([...BEFORE_BACKEND, 'llmRequest']),
  backend: new Set([...BEFORE_RESPONSE, 'llmRequest']),
  model: new Set(BEFORE_RESPONSE),
  response: new Set([...OVER, 'llmRequest']),
  log: new Set(['llmRequest']),
}

function values<const N extends string>(...names: readonly N[]): { readonly [K in N]: typeof VALUE } {
  // Object.fromEntries does not keep the names it is given.
  return Object.fromEntries(names.map((name) => [name, VALUE])) as { readonly [K in N]: typeof VALUE }
}
