// The three small HTTP servers of the operator: readiness, metrics, and on loopback the admin one. Bounded; an admin
// request from a browser of another origin, or with another host name, is rejected.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Data, Effect } from 'effect'
import type { ControllerOverview, GatewayDetail } from '#api/admin/controller-overview.ts'
import { readUiFile, uiFolder, UI_PATHS } from '#api/admin/ui-files.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { VERSION } from '#api/version.ts'
import type { Address, OperatorSettings } from '../controllers/settings.ts'
import { configurationText } from './configuration-text.ts'
import type { LogLevels } from './log.ts'
import type { OperatorMetrics } from './metrics.ts'
import { Profiles } from './pprof.ts'

export class ListenError extends Data.TaggedError('ListenError')<{
  readonly server: string
  readonly address: Address
  readonly cause: unknown
}> {
  /** With the setting that chooses another. */
  get text(): string {
    const { server, address, cause } = this
    const why = cause instanceof Error ? cause.message : String(cause)
    return `GW_${server.toUpperCase()}_ADDR: cannot listen on ${address.host} port ${address.port}: ${why}`
  }
}

export interface ServerParts {
  readonly settings: Pick<OperatorSettings, 'health' | 'metrics' | 'admin'>
  readonly levels: LogLevels
  readonly metrics: OperatorMetrics
  readonly isReady: () => boolean
  readonly pending: () => readonly string[]
  /** All known objects, without values of Secrets. */
  readonly snapshot: () => unknown
  /** For the web UI; undefined: the controller is starting. */
  readonly overview: () => ControllerOverview | undefined
  /** For the web UI, by `namespace/name`; undefined: not served. */
  readonly gateway: (key: string) => GatewayDetail | undefined
  readonly configuration: (key: string) => RenderedConfig | undefined
  /** Files of the web UI, for tests; ends with a slash. */
  readonly uiFolder?: URL
}

export interface ServerPorts {
  readonly health: number
  readonly metrics: number
  readonly admin: number
}

const CONNECTIONS_MAX = 128
const REQUEST_MS_MAX = 30_000
const HEADER_BYTES_MAX = 16 * 1024

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => void | Promise<void>

/** Open until the scope of the caller is closed. */
export const startServers = Effect.fn('operator.servers')(function* (parts: ServerParts) {
  const { settings } = parts
  const profiles = new Profiles()
  const ports: ServerPorts = {
    health: yield* listen('health', settings.health, (_request, response, url) => health(parts, response, url)),
    metrics: yield* listen('metrics', settings.metrics, (_request, response, url) => metrics(parts, response, url)),
    admin: yield* listen('admin', settings.admin, (request, response, url) =>
      admin(parts, profiles, { request, response, url }),
    ),
  }
  return ports
})

const listen = (name: string, address: Address, handler: Handler) =>
  Effect.acquireRelease(open(name, address, handler), (server) => Effect.promise(() => close(server))).pipe(
    // Listening on a TCP port.
    Effect.map((server) => (server.address() as AddressInfo).port),
  )

function open(name: string, address: Address, handler: Handler): Effect.Effect<Server, ListenError> {
  return Effect.callback((resume) => {
    const server = createServer(
      { requestTimeout: REQUEST_MS_MAX, maxHeaderSize: HEADER_BYTES_MAX },
      (request, response) => {
        const url = new URL(request.url ?? '/', 'http://operator')
        Promise.resolve(handler(request, response, url)).catch(() => fail(response))
      },
    )
    server.maxConnections = CONNECTIONS_MAX
    server.once('error', (cause) => resume(Effect.fail(new ListenError({ server: name, address, cause }))))
    server.listen({ host: address.host, port: address.port }, () => resume(Effect.succeed(server)))
  })
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => {
    server.close(resolve)
  })
}

/** A response that has begun is cut: the client may have left. */
function fail(response: ServerResponse): void {
  if (response.headersSent) response.destroy()
  else answer(response, 500, 'internal error\n')
}

function answer(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' })
  response.end(text)
}

function health({ isReady, pending }: ServerParts, response: ServerResponse, { pathname }: URL): void {
  if (pathname !== '/readyz') answer(response, 404, 'not found; path: /readyz\n')
  else if (isReady()) answer(response, 200, 'ready\n')
  else answer(response, 503, `not synced: ${pending().join(', ')}\n`)
}

async function metrics({ metrics: all }: ServerParts, response: ServerResponse, { pathname }: URL): Promise<void> {
  if (pathname === '/metrics') answer(response, 200, await all.text(), all.contentType)
  else answer(response, 404, 'not found; path: /metrics\n')
}

interface AdminCall {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
}

const INDEX = `<!doctype html><title>Gw operator</title><ul>
<li><a href="/ui">/ui</a> the web UI
<li><a href="/overview">/overview</a> Gateways with their proxies, conditions and problems
<li>/gateway one Gateway, /configuration its translated configuration without credentials (?name=namespace/name)
<li><a href="/snapshots">/snapshots</a> objects of the cluster (?pretty)
<li>/debug/pprof/profile, /debug/pprof/heap CPU and heap profiles (?seconds=)
<li>/logging log levels (POST; ?level= or ?component=)
<li><a href="/version">/version</a></ul>
`

async function admin(parts: ServerParts, profiles: Profiles, { request, response, url }: AdminCall): Promise<void> {
  if (!isLocal(request)) answer(response, 403, 'only local requests are allowed\n')
  else if (url.pathname === '/') answer(response, 200, INDEX, 'text/html; charset=utf-8')
  else if (UI_PATHS.includes(url.pathname)) await webUi(parts, response, url)
  else if (url.pathname === '/overview') overview(parts, response)
  else if (url.pathname === '/gateway') answerGateway(response, url, parts.gateway)
  else if (url.pathname === '/configuration') await configuration(parts, response, url)
  else if (url.pathname === '/logging') logging(parts.levels, { request, response, url })
  else if (url.pathname === '/version') {
    answer(response, 200, `${JSON.stringify({ string: `gw ${VERSION}`, version: VERSION })}\n`, 'application/json')
  } else if (url.pathname === '/snapshots') {
    const indent = url.searchParams.has('pretty') ? 2 : undefined
    answer(response, 200, `${JSON.stringify(parts.snapshot(), undefined, indent)}\n`, 'application/json')
  } else if (!(await profiles.answer({ request, response, url }))) {
    answer(
      response,
      404,
      'not found; paths: /ui /overview /gateway /configuration /snapshots /logging /version /debug/pprof/profile ' +
        '/debug/pprof/heap\n',
    )
  }
}

async function webUi({ uiFolder: folder }: ServerParts, response: ServerResponse, { pathname }: URL): Promise<void> {
  const file = await readUiFile(pathname, folder ?? uiFolder('ui-controller'))
  if (file === undefined) answer(response, 404, 'the web UI was not built: run `make build`\n')
  else if (pathname === '/ui') response.writeHead(308, { location: 'ui/' }).end()
  else {
    const headers = { ...file.headers, 'content-type': file.type, 'x-content-type-options': 'nosniff' }
    response.writeHead(200, headers).end(file.body)
  }
}

function overview({ overview: current }: ServerParts, response: ServerResponse): void {
  const known = current()
  if (known === undefined) answer(response, 503, 'the controller is starting\n')
  else answer(response, 200, `${JSON.stringify(known)}\n`, 'application/json')
}

/** undefined: the response reports the reason. */
function asked<T>(
  response: ServerResponse,
  { searchParams }: URL,
  known: (key: string) => T | undefined,
): T | undefined {
  const key = searchParams.get('name')
  const found = key === null ? undefined : known(key)
  if (key === null) answer(response, 400, 'name a Gateway: ?name=namespace/name\n')
  else if (found === undefined) answer(response, 404, 'this controller serves no Gateway with this name\n')
  return found
}

function answerGateway(response: ServerResponse, url: URL, known: ServerParts['gateway']): void {
  const found = asked(response, url, known)
  if (found !== undefined) answer(response, 200, `${JSON.stringify(found)}\n`, 'application/json')
}

/** In pieces: a large one would hold up the renewal of the Lease. */
async function configuration({ configuration: known }: ServerParts, response: ServerResponse, url: URL): Promise<void> {
  const found = asked(response, url, known)
  if (found === undefined) return
  response.writeHead(200, { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' })
  await pipeline(Readable.from(configurationText(found)), response)
}

function logging(levels: LogLevels, { request, response, url }: AdminCall): void {
  if (request.method !== 'POST' && request.method !== 'PUT') {
    response.setHeader('allow', 'POST, PUT')
    answer(response, 405, 'use POST or PUT\n')
    return
  }
  const outcome = levels.change(url.searchParams)
  if (outcome === undefined) answer(response, 200, levels.report())
  else answer(response, 400, `${outcome.problem}\n`)
}

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

/** Protects against web pages that make a browser on this machine send requests here. */
function isLocal({ headers }: IncomingMessage): boolean {
  const { origin, host = '', 'sec-fetch-site': site = 'none' } = headers
  const isOwnPage = origin === undefined || origin === `http://${host}`
  return isOwnPage && LOCAL_HOST.test(host) && (site === 'none' || site === 'same-origin')
}
