// MCP backends: compiles targets, names, sessions and rules; the protocol is in transport.ts.
import type { MCPBackend, MCPTarget } from '#api/ir/types.gen.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import type { BackendEnvironment } from '../backend/handler.ts'
import type { BackendHandler } from '../chain/handler.ts'
import { failByDefect } from '../exchange/defects.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { HttpResponse } from '../message/message.ts'
import { jsonSealer } from '../auth/json-sealer.ts'
import { compileRules } from '../policy/auth/authorization.ts'
import { compileDeny } from '../chain/deny.ts'
import type { Filter } from '../chain/filter.ts'
import { refuseForeignOrigin } from './access.ts'
import { rememberedEras } from './bridge/era.ts'
import type { McpEndpoint } from './context.ts'
import { MCP_GUARDRAILS } from './guardrails/late-guardrails.ts'
import { httpTarget } from './targets/http-target.ts'
import { sseTarget } from './targets/sse-target.ts'
import { withFailures } from './failures.ts'
import { type Later, whenReady } from './later.ts'
import { namingOf } from './names.ts'
import { rememberedOwners } from './owners.ts'
import { rememberedToolHeaders } from './tool-headers.ts'
import { toolPins } from './tool-pins.ts'
import { openApiTarget } from './targets/openapi/target.ts'
import { eventIdSealer } from './legacy/event-ids.ts'
import { sessionCodec } from './legacy/session-id.ts'
import { TargetError, type McpTarget } from './targets/target.ts'
import { traced } from './trace-context.ts'
import { answerMcp } from './transport.ts'

/** First bytes; session ids, states of sign-ins and ids of events have others. */
const STREAM_IDS = 4
const REQUEST_IDS = 6
const SEALED_CHARACTERS_MAX = 4096
const DOCUMENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export function compileMcpBackend(
  backend: MCPBackend,
  policies: EffectiveBackend,
  environment: BackendEnvironment,
): BackendHandler {
  if (policies.deny !== undefined) {
    // Checked here: failures of servers may be skipped, and some messages reach no server.
    const refuse = compileDeny(policies.deny).request
    return (exchange, done) => {
      void refuse?.(exchange)
      done(exchange)
    }
  }
  const { mcpAuthentication, mcpAuthorization: rules, mcpGuardrails: guardrails } = policies
  const authentication = mcpAuthentication && environment.authentication(mcpAuthentication)
  const isAllowed = compileRules(rules, environment)
  const isOnly = backend.targets.length === 1 && mcpAuthentication === undefined
  const endpoint: McpEndpoint = {
    settings: backend,
    naming: namingOf(backend),
    targets: backend.targets.map((target) => compileTarget(target, { environment, isOnly })),
    codec: sessionCodec(environment.sessionKeys),
    sessionTtlMs: environment.mcpSessionTtlMs,
    noteSession: environment.mcpSession,
    watchServers: (listener) =>
      environment.watchBackend((now) => {
        if (!hasSameServers(backend.targets, now?.mcp?.targets ?? [])) listener()
      }),
    streamIds: jsonSealer({ kind: STREAM_IDS, keys: environment.sessionKeys, charactersMax: SEALED_CHARACTERS_MAX }),
    eventIds: eventIdSealer(environment.sessionKeys),
    requestIds: jsonSealer({ kind: REQUEST_IDS, keys: environment.sessionKeys, charactersMax: SEALED_CHARACTERS_MAX }),
    isAllowed,
    bodyBytesMax: environment.bufferBytesMax,
    eras: rememberedEras(),
    owners: rememberedOwners(),
    toolHeaders: rememberedToolHeaders(),
    pins: backend.toolPinning && toolPins(backend.toolPinning),
    guard: guardrails && MCP_GUARDRAILS.get().mcpGuardrails(guardrails, environment),
  }
  return (exchange, done) => {
    const finish = (response: HttpResponse): void => {
      exchange.response = response
      done(exchange)
    }
    const fail = (error: unknown): void => {
      failByDefect(exchange, 'mcp', error)
      done(exchange)
    }
    let response: Later<HttpResponse>
    try {
      response = authenticated(exchange, endpoint, authentication)
    } catch (error) {
      fail(error)
      return
    }
    if (response instanceof Promise) response.then(finish, fail)
    else finish(response)
  }
}

/** The response to a client that is rejected, whatever the servers return. */
function authenticated(
  exchange: Exchange,
  endpoint: McpEndpoint,
  authentication: Filter | undefined,
): Later<HttpResponse> {
  return whenReady(
    authentication?.(exchange),
    (refusal) =>
      refusal ?? answerDocument(exchange, endpoint) ?? refuseForeignOrigin(exchange) ?? answerMcp(exchange, endpoint),
  )
}

/** Documents about sign-in at the server itself, for pages of all sites (data-plane supplement section 4.6). */
function answerDocument(exchange: Exchange, { targets }: McpEndpoint): Later<HttpResponse> | undefined {
  const { method, path } = exchange.request
  if (!DOCUMENT_METHODS.has(method) || !path.startsWith('/.well-known/')) return undefined
  const document = targets[0]?.document
  return document && withFailures(exchange, null, () => document(exchange))
}

function hasSameServers(some: readonly MCPTarget[], others: readonly MCPTarget[]): boolean {
  return some.length === others.length && some.every(({ name }, index) => name === others[index]?.name)
}

interface TargetPlace {
  readonly environment: BackendEnvironment
  /** The backend has no other server, and no policy authenticates clients. */
  readonly isOnly: boolean
}

function compileTarget(target: MCPTarget, { environment, isOnly }: TargetPlace): McpTarget {
  const { name, ref, protocol = 'StreamableHTTP' } = target
  const policies = environment.sectionPolicies(name, ref === undefined ? undefined : environment.policiesOf(ref))
  const picker = ref === undefined ? undefined : environment.resolve(ref, policies)
  if (ref === undefined || picker === undefined) return brokenTarget(name, 'its backend does not exist')
  if (target.openapi !== undefined) return openApiTarget(target.openapi, { name, ref, policies, environment })
  const common = { name, ref, picker, policies, environment }
  if (protocol === 'SSE') return traced(sseTarget({ ...common, passesSignIn: false, path: target.path ?? '/sse' }))
  // A server behind a credential of the gateway has no sign-in for clients.
  const passesSignIn = isOnly && policies.auth === undefined
  return traced(httpTarget({ ...common, path: target.path ?? '/mcp', passesSignIn }))
}

/**
 * Keeps its place, so that sessions and names of the others do not change; `failureMode` decides the effect of its
 * failure.
 */
function brokenTarget(name: string, reason: string): McpTarget {
  const fail = (): Promise<never> => Promise.reject(new TargetError(`${name}: ${reason}`))
  return { name, send: fail, listen: fail, end: () => Promise.resolve() }
}
