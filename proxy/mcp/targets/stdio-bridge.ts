// Connects workers to stdio servers: child processes belong to the main thread, which serves each of them as Streamable
// HTTP on a unix socket that only this process' user can open. Standalone files only.
import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RenderedConfig, StdioTarget } from '#api/ir/types.gen.ts'
import { isRequest, parseMessage, type JsonRpcMessage, type JsonRpcRequest } from '../jsonrpc.ts'
import { StdioProcess } from './stdio-process.ts'
import { StdioStarts } from './stdio-starts.ts'
import { MESSAGE_BYTES_MAX } from './target.ts'

const SESSIONS_MAX = 256
const REAP_INTERVAL_MS = 30_000
/** Shares of the time after which a session is idle. */
const CHECKS = 4

export interface StdioBridge {
  /** The configuration with every stdio target turned into an HTTP target of the bridge. */
  expose(config: RenderedConfig): RenderedConfig
  /** Ends all child processes and removes the socket. */
  close(): void
}

export interface StdioBridgeOptions {
  /** A line that a server wrote to its standard error, and its command. */
  readonly logged: (line: string, command: string) => void
  /** After which a session ends that no client uses: workers end theirs, but a worker may be gone. */
  readonly idleMs: number
}

export async function createStdioBridge({ logged, idleMs }: StdioBridgeOptions): Promise<StdioBridge> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-stdio-'))
  const socketPath = join(folder, 'mcp.sock')
  const bridge = new Bridge(logged)
  const server = createServer((request, response) => bridge.handle(request, response))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(socketPath, resolve)
  await promise
  const reaper = setInterval(() => bridge.reap(Date.now(), idleMs), Math.min(REAP_INTERVAL_MS, idleMs / CHECKS))
  reaper.unref()
  return {
    expose: (config) => exposed(config, socketPath, bridge),
    close: () => {
      clearInterval(reaper)
      closeServer(server)
      bridge.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function closeServer(server: Server): void {
  server.close()
  server.closeAllConnections()
}

function exposed(config: RenderedConfig, unixPath: string, bridge: Bridge): RenderedConfig {
  const extra: RenderedConfig['backends'] = []
  const backends = config.backends.map((backend) => {
    if (backend.mcp?.targets.some(({ stdio }) => stdio !== undefined) !== true) return backend
    const targets = backend.mcp.targets.map((target) => {
      if (target.stdio === undefined) return target
      const key = `stdio/${backend.key}/${target.name}`
      extra.push({ key, name: { namespace: 'stdio', name: target.name }, static: { unixPath } })
      return { name: target.name, ref: { backend: key }, path: bridge.path(target.stdio) }
    })
    return { ...backend, mcp: { ...backend.mcp, targets } }
  })
  return extra.length === 0 ? config : { ...config, backends: [...backends, ...extra] }
}

class Bridge {
  readonly #logged: (line: string, command: string) => void
  readonly #commands = new Map<string, StdioTarget>()
  readonly #sessions = new Map<string, StdioProcess>()
  readonly #starts = new StdioStarts()
  /** The last client that listens; a new one replaces it. */
  readonly #readers = new WeakMap<StdioProcess, ServerResponse>()

  constructor(logged: (line: string, command: string) => void) {
    this.#logged = logged
  }

  /** The same command has the same path in every configuration. */
  path(target: StdioTarget): string {
    const path = `/${createHash('sha256').update(JSON.stringify(target)).digest('hex')}`
    this.#commands.set(path, target)
    return path
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'POST') this.#post(request, response)
    else if (request.method === 'GET') this.#listen(request, response)
    else if (request.method === 'DELETE') this.#end(request, response)
    else answer(response, 405)
  }

  reap(nowMs: number, idleMs: number): void {
    for (const session of this.#sessions.values()) {
      if (session.isInUse) session.lastUsedMs = nowMs
      else if (nowMs - session.lastUsedMs > idleMs) session.stop()
    }
  }

  close(): void {
    for (const session of this.#sessions.values()) session.stop()
  }

  #post(request: IncomingMessage, response: ServerResponse): void {
    // In use from the head on.
    this.#session(request)
    readBody(request).then(
      (body) => this.#message(request, response, parseMessage(body)),
      () => answer(response, 413),
    )
  }

  #message(request: IncomingMessage, response: ServerResponse, message: JsonRpcMessage | undefined): void {
    if (message === undefined) {
      answer(response, 400)
      return
    }
    if (isRequest(message) && message.method === 'initialize') {
      this.#open(request, response, message)
      return
    }
    const session = this.#session(request)
    if (session === undefined) answer(response, 404)
    else if (isRequest(message)) stream(response, session, message)
    else {
      session.write(message)
      answer(response, 202)
    }
  }

  #open(request: IncomingMessage, response: ServerResponse, message: JsonRpcRequest): void {
    const path = request.url ?? ''
    const command = this.#commands.get(path)
    if (command === undefined || this.#sessions.size >= SESSIONS_MAX) {
      answer(response, command === undefined ? 404 : 503)
      return
    }
    const startedMs = Date.now()
    const waitMs = this.#starts.waitMs(path, startedMs)
    if (waitMs > 0) {
      answer(response, 503, `${command.cmd} keeps exiting; the next start is in ${Math.ceil(waitMs / 1000)} s`)
      return
    }
    const id = randomUUID()
    const session = new StdioProcess(command, startedMs, {
      exited: (byItself) => {
        this.#sessions.delete(id)
        if (byItself) this.#starts.ended(path, startedMs, Date.now())
      },
      logged: (line) => this.#logged(line, command.cmd),
    })
    this.#sessions.set(id, session)
    // The client has left, or waits no longer: no client has the session.
    response.on('close', () => {
      if (!response.writableFinished) session.stop()
    })
    session.call(
      message,
      (reply) => {
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': id })
        response.end(JSON.stringify(reply))
      },
      (error) => answer(response, 500, error.message),
    )
  }

  #listen(request: IncomingMessage, response: ServerResponse): void {
    const session = this.#session(request)
    if (session === undefined) {
      answer(response, 404)
      return
    }
    const sink = (message: JsonRpcMessage): void => writeEvent(response, session, message)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    this.#readers.get(session)?.end()
    this.#readers.set(session, response)
    session.onMessage = sink
    response.on('close', () => {
      if (session.onMessage === sink) session.onMessage = undefined
    })
  }

  #end(request: IncomingMessage, response: ServerResponse): void {
    this.#session(request)?.stop()
    answer(response, 202)
  }

  #session(request: IncomingMessage): StdioProcess | undefined {
    const session = this.#sessions.get(String(request.headers['mcp-session-id'] ?? ''))
    if (session !== undefined) session.lastUsedMs = Date.now()
    return session
  }
}

function stream(response: ServerResponse, session: StdioProcess, request: JsonRpcRequest): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  const forget = session.call(
    request,
    (message) => {
      writeEvent(response, session, message)
      if (!('method' in message)) response.end()
    },
    // A stream that ends without a response has failed.
    () => response.destroy(),
  )
  response.on('close', forget)
}

function writeEvent(response: ServerResponse, session: StdioProcess, message: JsonRpcMessage): void {
  const isTaken = response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
  if (isTaken || response.destroyed) return
  session.holdUntil((ready) => {
    const release = (): void => {
      response.off('drain', release).off('close', release)
      ready()
    }
    response.on('drain', release).on('close', release)
  })
}

function answer(response: ServerResponse, status: number, text = ''): void {
  if (response.headersSent) return
  response.writeHead(status, { 'content-type': 'text/plain' })
  response.end(text)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MESSAGE_BYTES_MAX) throw new Error('body too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
