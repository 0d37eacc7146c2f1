// The admin server (specification, "Admin server"): configuration dump, log levels, memory, shutdown. Loopback only unless
// told otherwise; never shows secret material.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LEVEL_USAGE } from '../log/level-filter.ts'
import type { LoggerRoot } from '../log/logger.ts'
import { isSameOrigin, isTrustedHost } from './browser-guard.ts'
import type { HttpListener, ListenAddress } from './http-listener.ts'
import { listenHttp, sendJson, sendText, splitTarget } from './http-listener.ts'

export interface AdminParts {
  readonly loggers: LoggerRoot
  /** The whole answer of `/config_dump`. */
  readonly configDump: () => unknown
  readonly memory: () => unknown
  /** Starts the graceful shutdown. */
  readonly shutdown: () => void
}

type Handler = (query: URLSearchParams, response: ServerResponse) => void | Promise<void>
type Route = Readonly<Partial<Record<'GET' | 'POST', Handler>>>

const ANY_ADDRESS = new Set(['0.0.0.0', '::', 'localhost'])

/** @throws {StartError} */
export function startAdminServer(address: ListenAddress, parts: AdminParts): Promise<HttpListener> {
  const routes = adminRoutes(parts)
  const allowedHost = ANY_ADDRESS.has(address.host) ? undefined : address.host
  const log = parts.loggers.module('admin')

  return listenHttp('admin server', address, (request, response) => {
    const refusal = refusalOf(request, allowedHost)
    if (refusal !== undefined) {
      sendText(response, 403, refusal)
      return
    }
    const { path, query } = splitTarget(request)
    const route = routes.get(path)
    if (route === undefined) {
      sendText(response, 404, `not found; paths: ${[...routes.keys()].join(', ')}\n`)
      return
    }
    const handler = handlerOf(route, request.method)
    if (handler === undefined) {
      response.setHeader('allow', Object.keys(route).join(', '))
      sendText(response, 405, 'method not allowed\n')
      return
    }
    run(handler, query, response).catch((error: unknown) => {
      log.error('request failed', { path, error: String(error) })
      if (response.headersSent) response.destroy()
      else sendText(response, 500, 'internal error\n')
    })
  })
}

async function run(handler: Handler, query: URLSearchParams, response: ServerResponse): Promise<void> {
  await handler(query, response)
}

function refusalOf(request: IncomingMessage, allowedHost: string | undefined): string | undefined {
  if (!isTrustedHost(request.headers.host, allowedHost)) {
    return 'the Host header must name this machine: use localhost, 127.0.0.1 or [::1]\n'
  }
  if (request.method !== 'GET' && request.method !== 'HEAD' && !isSameOrigin(request.headers)) {
    return 'pages of other origins may not change the proxy\n'
  }
  return undefined
}

function handlerOf(route: Route, method: string | undefined): Handler | undefined {
  if (method === 'GET' || method === 'HEAD') return route.GET
  return method === 'POST' ? route.POST : undefined
}

function adminRoutes(parts: AdminParts): ReadonlyMap<string, Route> {
  return new Map<string, Route>([
    ['/config_dump', { GET: (_query, response) => sendJson(response, parts.configDump()) }],
    [
      '/logging',
      {
        GET: (query, response) => readLevels(parts.loggers, query, response),
        POST: (query, response) => changeLevels(parts.loggers, query, response),
      },
    ],
    ['/memory', { GET: (_query, response) => sendJson(response, parts.memory()) }],
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
