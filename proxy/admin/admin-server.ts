// The admin server (specification, "Admin server"): configuration dump, log levels, memory, traces, profiles, shutdown.
// Listens on loopback unless configured otherwise; never shows secrets.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LEVEL_USAGE } from '../log/level-filter.ts'
import { UI_PATHS } from '#api/admin/ui-files.ts'
import type { Logger, LoggerRoot } from '../log/logger.ts'
import { AdminToken, removeLeftToken } from './admin-token.ts'
import { corsHeaders, isSameOrigin, isTrustedHost, PREFLIGHT_HEADERS } from './browser-guard.ts'
import type { LiveView } from './live-view.ts'
import type { McpAccessOf } from './mcp-access.ts'
import type { HttpListener, ListenAddress } from './http-listener.ts'
import { INDEX_PAGE } from './index-page.ts'
import { listenHttp, send, sendJson, sendText, splitTarget } from './http-listener.ts'
import { answerUi } from './web-ui.ts'
import type { TraceParts } from './trace.ts'
import type { SendParts } from './page-sender.ts'
import type { EditParts } from './source-editing.ts'

export interface AdminParts {
  readonly loggers: LoggerRoot
  /** All but the list of paths is for those who have the token of this start (admin-token.ts). */
  readonly needsToken: boolean
  /** The whole answer of `/config_dump`. */
  readonly configDump: () => unknown
  /** The whole answer of `/overview`. */
  readonly overview: () => unknown
  readonly memory: () => unknown
  /** The whole answer of `/effective_policies` for the key of a rule; undefined: the configuration has no such rule. */
  readonly effectivePolicies: (route: string) => Promise<unknown>
  /** The whole answer of `/traffic`. */
  readonly traffic: () => unknown
  /** The whole answer of `/model_usage`. `sinceMs`: unset, since the start of the process. */
  readonly modelUsage: (sinceMs?: number) => unknown
  /** The whole answer of `/limits`. */
  readonly limits: () => unknown
  /** The whole answer of `/model_prices`. */
  readonly modelPrices: () => unknown
  /** `/debug/...`; undefined: there are no threads to look at. */
  readonly debug?: DebugParts
  /** `/source...`; undefined: nothing may be edited. */
  readonly edits?: EditParts
  /** Files of the web UI, for tests; ends with a slash. */
  readonly uiFolder?: URL
  /** Starts the graceful shutdown. */
  readonly shutdown: () => void
}

/** What looks into the running threads. */
export interface DebugParts extends TraceParts {
  readonly live: LiveView
  readonly mcpAccess: McpAccessOf
  readonly send: SendParts
}

type Handler = (query: URLSearchParams, response: ServerResponse) => void | Promise<void>
type Route = Readonly<Partial<Record<'GET' | 'POST', Handler>>>

const CROSS_ORIGIN = 'pages of other origins may not use the proxy\n'
/** Show nothing of this process. */
const PUBLIC: ReadonlySet<string> = new Set(['/', ...UI_PATHS])
const ANY_ADDRESS = new Set(['0.0.0.0', '::', 'localhost'])

/** @throws {StartError} */
export async function startAdminServer(address: ListenAddress, parts: AdminParts): Promise<HttpListener> {
  const routes = adminRoutes(parts)
  const shownPaths = [...routes.keys()].filter((path) => !path.startsWith('/ui/'))
  const allowedHost = ANY_ADDRESS.has(address.host) ? undefined : address.host
  const log = parts.loggers.module('admin')
  const token = parts.needsToken ? new AdminToken() : undefined

  const listener = await listenHttp('admin server', address, (request, response) => {
    const refusal = refusalOf(request, allowedHost)
    if (refusal !== undefined) {
      sendText(response, 403, refusal)
      return
    }
    const cors = corsHeaders(request.headers)
    if (cors !== undefined) {
      response.setHeaders(new Map(Object.entries(cors)))
      if (request.method === 'OPTIONS') {
        response.writeHead(204, PREFLIGHT_HEADERS).end()
        return
      }
    }
    const { path, query } = splitTarget(request)
    if (token !== undefined && !PUBLIC.has(path) && !token.accepts(request.headers.authorization)) {
      response.setHeader('www-authenticate', 'Bearer')
      sendText(response, 401, token.refusal(request.socket.localPort ?? address.port))
      return
    }
    const route = routes.get(path)
    if (route === undefined) {
      sendText(response, 404, `not found; paths: ${shownPaths.join(', ')}\n`)
      return
    }
    const handler = handlerOf(route, request.method)
    if (handler === undefined) {
      response.setHeader('allow', allowedMethods(route).join(', '))
      sendText(response, 405, 'method not allowed\n')
      return
    }
    run(handler, query, response).catch((error: unknown) => {
      log.error('request failed', { path, error: String(error) })
      if (response.headersSent) response.destroy()
      else sendText(response, 500, 'internal error\n')
    })
  })
  return withToken(listener, token, log)
}

/** The token file exists as long as the server. */
function withToken(listener: HttpListener, token: AdminToken | undefined, log: Logger): HttpListener {
  try {
    if (token === undefined) removeLeftToken(listener.port)
    else token.write(listener.port)
  } catch (error) {
    const message =
      token === undefined
        ? 'cannot remove the admin token of a previous process'
        : 'cannot write the admin token: the admin server rejects all requests'
    log.error(message, { error: String(error) })
  }
  if (token === undefined) return listener
  const close = async (): Promise<void> => {
    token.remove()
    await listener.close()
  }
  return { port: listener.port, close }
}

async function run(handler: Handler, query: URLSearchParams, response: ServerResponse): Promise<void> {
  await handler(query, response)
}

function refusalOf(request: IncomingMessage, allowedHost: string | undefined): string | undefined {
  if (!isTrustedHost(request.headers.host, allowedHost)) {
    return 'the Host header must name this machine: use localhost, 127.0.0.1 or [::1]\n'
  }
  if (request.method !== 'GET' && request.method !== 'HEAD' && !isSameOrigin(request.headers)) {
    return CROSS_ORIGIN
  }
  return undefined
}

function allowedMethods(route: Route): string[] {
  return Object.keys(route).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}

function handlerOf(route: Route, method: string | undefined): Handler | undefined {
  if (method === 'GET' || method === 'HEAD') return route.GET
  return method === 'POST' ? route.POST : undefined
}

function adminRoutes(parts: AdminParts): ReadonlyMap<string, Route> {
  const index: Route = {
    GET: (_query, response) => send(response, { status: 200, type: 'text/html; charset=utf-8', body: INDEX_PAGE }),
  }
  return new Map<string, Route>([
    ['/', index],
    ...UI_PATHS.map((path): [string, Route] => [
      path,
      { GET: (_query, response) => answerUi(path, response, parts.uiFolder) },
    ]),
    ['/config_dump', { GET: (query, response) => sendJson(response, parts.configDump(), query.has('compact')) }],
    ['/overview', { GET: (_query, response) => sendJson(response, parts.overview()) }],
    [
      '/logging',
      {
        GET: (query, response) => readLevels(parts.loggers, query, response),
        POST: (query, response) => changeLevels(parts.loggers, query, response),
      },
    ],
    ...(parts.debug === undefined ? [] : debugRoutes(parts.debug)),
    ...(parts.edits === undefined ? [] : editRoutes(parts.edits)),
    ['/memory', { GET: (_query, response) => sendJson(response, parts.memory()) }],
    ['/effective_policies', { GET: (query, response) => sendEffective(parts, query, response) }],
    ['/model_prices', { GET: (_query, response) => sendJson(response, parts.modelPrices()) }],
    ['/limits', { GET: (_query, response) => sendJson(response, parts.limits()) }],
    ['/model_usage', { GET: (query, response) => sendUsage(parts, query, response) }],
    ['/traffic', { GET: (_query, response) => sendJson(response, parts.traffic()) }],
    [
      '/quitquitquit',
      {
        POST: (_query, response) => {
          sendText(response, 200, 'shutdown now\n')
          parts.shutdown()
        },
      },
    ],
  ])
}

/** Reading them costs something, so that pages of other origins may not even GET them. */
function debugRoutes(parts: DebugParts): [string, Route][] {
  const { customFunctions, live, mcpAccess, send: sending } = parts
  const { profiles } = live
  const trace = ownOrigin(async (query, response) => {
    // Loads the expression language, which nothing else in the main thread needs.
    const { answerTrace } = await import('./trace.ts')
    if (!response.destroyed) answerTrace(parts, query, response)
  })
  const evaluate = ownOrigin(async (_query, response) => {
    const { answerEvaluation } = await import('./cel-evaluation.ts')
    await answerEvaluation(response, customFunctions())
  })
  const access = ownOrigin(async (_query, response) => {
    const { answerMcpAccess } = await import('./mcp-access.ts')
    await answerMcpAccess(response, mcpAccess)
  })
  const sendThrough: Handler = async (_query, response) => {
    const { answerSend } = await import('./page-sender.ts')
    await answerSend(sending, response)
  }
  const answer = (get: () => Promise<unknown>): Route => ({
    GET: ownOrigin(async (_query, response) => sendJson(response, await get())),
  })
  return [
    ['/connections', answer(() => live.connections())],
    ['/endpoints', answer(() => live.endpoints())],
    ['/mcp_sessions', answer(() => live.mcpSessions())],
    ['/debug/trace', { GET: trace, POST: trace }],
    ['/debug/pprof/profile', { GET: ownOrigin((query, response) => profiles.cpu(query, response)) }],
    ['/debug/pprof/heap', { GET: ownOrigin((query, response) => profiles.heap(query, response)) }],
    ['/debug/tasks', answer(() => live.tasks())],
    ['/debug/cel', { POST: evaluate }],
    ['/debug/mcp_access', { POST: access }],
    ['/debug/send', { POST: sendThrough }],
    ['/debug/route', { GET: ownOrigin((query, response) => live.route(query, response)) }],
  ]
}

/** They load what edits need, which most processes never do. */
function editRoutes(edits: EditParts): [string, Route][] {
  const load = (): Promise<typeof import('./source-editing.ts')> => import('./source-editing.ts')
  const handler =
    (name: 'answerSource' | 'answerCheck' | 'answerSave'): Handler =>
    async (_query, response) => {
      const editing = await load()
      await editing.reported(editing[name](edits, response), response)
    }
  return [
    ['/source', { GET: handler('answerSource') }],
    ['/source/check', { POST: handler('answerCheck') }],
    ['/source/save', { POST: handler('answerSave') }],
  ]
}

function ownOrigin(handler: Handler): Handler {
  return (query, response) => {
    if (isSameOrigin(response.req.headers)) return handler(query, response)
    return sendText(response, 403, CROSS_ORIGIN)
  }
}

async function sendEffective(
  { effectivePolicies }: AdminParts,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const policies = await effectivePolicies(query.get('route') ?? '')
  if (policies === undefined) sendText(response, 404, 'no such rule: use `?route=` with a key of /config_dump\n')
  else sendJson(response, policies)
}

function sendUsage({ modelUsage }: AdminParts, query: URLSearchParams, response: ServerResponse): void {
  const since = query.get('since')
  const sinceMs = since === null ? undefined : Date.parse(since)
  if (Number.isNaN(sinceMs)) sendText(response, 400, 'since: must be a time such as 2026-12-01T00:00:00Z\n')
  else sendJson(response, modelUsage(sinceMs))
}

function readLevels(loggers: LoggerRoot, query: URLSearchParams, response: ServerResponse): void {
  if (query.has('level') || query.has('reset')) sendText(response, 400, 'use POST to change levels\n')
  else sendCurrent(loggers, response)
}

function changeLevels(loggers: LoggerRoot, query: URLSearchParams, response: ServerResponse): void {
  const level = query.get('level')
  if (level === null) {
    if (query.has('reset')) loggers.reset()
    sendCurrent(loggers, response)
    return
  }
  const problem = loggers.changeLevels(level, { isReset: query.has('reset') })
  if (problem === undefined) sendCurrent(loggers, response)
  else sendText(response, 400, `${problem}\n${LEVEL_USAGE}\n`)
}

function sendCurrent(loggers: LoggerRoot, response: ServerResponse): void {
  sendText(response, 200, `current log level is ${loggers.directive}\n`)
}
