// `/debug/send`: sends a request of a page of the web UI through a listener of this proxy, so that its limits, guards
// and authentication apply, and returns the response with its trace. Off unless UI_ACTIONS is set. It connects only to
// ports of the configuration in force, follows no redirect, and never returns the response as a page of its own.
import { type ClientRequest, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Bind } from '#api/ir/types.gen.ts'
import { messageOf } from '../exchange/diagnosis.ts'
import type { Logger } from '../log/logger.ts'
import { hostOf } from '../message/authority.ts'
import type { TraceHub, Watcher } from '../trace/hub.ts'
import { isOwnPage } from './browser-guard.ts'
import { bodyText, sendText } from './http-listener.ts'
import { type PageRequest, pageRequestOf } from './page-request.ts'

export interface SendParts {
  /** The setting UI_ACTIONS. */
  readonly isAllowed: boolean
  /** Of the configuration in force. */
  readonly binds: () => readonly Bind[]
  /** Address that listeners bind to. */
  readonly listenAddress: string
  readonly traces: TraceHub
  readonly log: Logger
}

const BODY_BYTES_MAX = 4 * 1024 * 1024
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024
/** Of frames that the page has not read. */
const HELD_BYTES_MAX = 32 * 1024 * 1024
const SENDS_MAX = 4
const SEND_MS_MAX = 300_000
const CONNECT_MS_MAX = 5000
/** All workers are armed for the trace within this time; otherwise the request has no trace. */
const ARM_MS_MAX = 2000
/** For the rest of the trace after the response. */
const REST_MS_MAX = 2000
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

let running = 0

export async function answerSend(parts: SendParts, response: ServerResponse): Promise<void> {
  const { headers } = response.req
  if (!parts.isAllowed)
    return sendText(response, 403, 'the web UI may not send requests: set UI_ACTIONS=true to allow it\n')
  if (!isOwnPage(headers)) return sendText(response, 403, 'only pages of the web UI may send requests\n')
  if (headers['content-type'] !== 'application/json') {
    return sendText(response, 415, 'content-type must be application/json\n')
  }
  const text = await bodyText(response.req, BODY_BYTES_MAX)
  if (text === undefined) return sendText(response, 413, `the body must not be longer than ${BODY_BYTES_MAX} bytes\n`)
  const request = pageRequestOf(text, parts.binds())
  if ('problem' in request) return sendText(response, 400, `${request.problem}\n`)
  if (running >= SENDS_MAX) return sendText(response, 503, `at most ${SENDS_MAX} requests at a time; wait for one\n`)
  running++
  try {
    await new Sending(request, response, parts).run()
  } finally {
    running--
  }
}

type Frame =
  | { readonly type: 'head'; readonly status: number; readonly headers: readonly (readonly [string, string])[] }
  | { readonly type: 'body'; readonly data: string }
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: 'end' }

class Sending {
  readonly #request: PageRequest
  readonly #response: ServerResponse
  readonly #parts: SendParts
  readonly #stop = new AbortController()
  readonly #traced = Promise.withResolvers<void>()
  #watch: { stop(): void } | undefined = undefined
  #bytes = 0

  constructor(request: PageRequest, response: ServerResponse, parts: SendParts) {
    this.#request = request
    this.#response = response
    this.#parts = parts
  }

  async run(): Promise<void> {
    const { port, method, host } = this.#request
    this.#parts.log.info('sending a request of the web UI', { port, method, host })
    const timer = setTimeout(() => this.#stop.abort(new Error('no complete response in time')), SEND_MS_MAX)
    this.#response.on('close', () => this.#stop.abort(new Error('the page has left')))
    this.#response.on('error', (error) => this.#stop.abort(error))
    this.#response.writeHead(200, FRAMES)
    let socket: Socket | undefined
    try {
      socket = await this.#connected()
      await this.#armed(socket)
      await this.#exchange(socket)
      await inTime(this.#traced.promise, REST_MS_MAX)
      this.#frame({ type: 'end' })
    } catch (error) {
      this.#frame({ type: 'error', message: messageOf(this.#stop.signal.aborted ? this.#stop.signal.reason : error) })
    } finally {
      clearTimeout(timer)
      this.#watch?.stop()
      socket?.destroy()
      this.#response.end()
    }
  }

  async #connected(): Promise<Socket> {
    const { listenAddress } = this.#parts
    const { port, host, isTls } = this.#request
    const own = { host: ANY_ADDRESS.has(listenAddress) ? '127.0.0.1' : listenAddress, port }
    // A port of this process: its certificate is one for clients elsewhere, which the proxy has no reason to trust.
    const socket = isTls ? connectTls({ ...own, servername: hostOf(host), rejectUnauthorized: false }) : connect(own)
    const done = Promise.withResolvers<void>()
    socket.once(isTls ? 'secureConnect' : 'connect', () => done.resolve())
    socket.on('error', (error) => done.reject(error))
    const timer = setTimeout(
      () => done.reject(new Error('the listener did not accept the connection in time')),
      CONNECT_MS_MAX,
    )
    try {
      await done.promise
      return socket
    } catch (error) {
      socket.destroy()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** The trace belongs to this connection, which carries one request. */
  async #armed({ localPort, localAddress }: Socket): Promise<void> {
    const ready = Promise.withResolvers<void>()
    const own = `source.rawPort == ${localPort} && source.rawAddress == "${(localAddress ?? '').replace('::ffff:', '')}"`
    const watcher: Watcher = {
      ready: () => ready.resolve(),
      event: (json) => this.#write(`{"type":"trace","event":${json}}\n`),
      failed: () => undefined,
      end: () => this.#traced.resolve(),
    }
    this.#watch = this.#parts.traces.watch(own, watcher, true)
    if (this.#watch === undefined) this.#traced.resolve()
    else await inTime(ready.promise, ARM_MS_MAX)
  }

  async #exchange(socket: Socket): Promise<void> {
    const { method, target, host, headers, body } = this.#request
    const bytes = Buffer.from(body)
    const call = httpRequest({
      method,
      path: target,
      headers: [
        ['host', host],
        ...headers,
        ['connection', 'close'],
        ...(bytes.length > 0 || method === 'POST' ? [['content-length', String(bytes.length)]] : []),
      ].flat(),
      createConnection: () => socket,
      signal: this.#stop.signal,
    })
    const answer = await answerOf(call, bytes)
    this.#frame({ type: 'head', status: answer.statusCode ?? 0, headers: pairsOf(answer.rawHeaders) })
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      this.#bytes += chunk.length
      if (this.#bytes > RESPONSE_BYTES_MAX) throw new Error(`the response is longer than ${RESPONSE_BYTES_MAX} bytes`)
      this.#frame({ type: 'body', data: chunk.toString('base64') })
    }
  }

  #frame(frame: Frame): void {
    this.#write(`${JSON.stringify(frame)}\n`)
  }

  #write(line: string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return
    this.#response.write(line)
    if (this.#response.writableLength > HELD_BYTES_MAX) this.#response.destroy()
  }
}

/** Not a page: a browser neither shows nor runs it, whatever the response contains. */
const FRAMES = {
  'content-type': 'application/x-ndjson',
  'content-disposition': 'attachment',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const

function answerOf(call: ClientRequest, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    call.on('response', resolve)
    call.on('error', reject)
    call.end(body)
  })
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []))
}

async function inTime(promise: Promise<void>, timeMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeMs)))
  await Promise.race([promise, late])
  clearTimeout(timer)
}
