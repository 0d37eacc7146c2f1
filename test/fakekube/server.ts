// The fake API server over real HTTP on loopback, with a fault for any request. For tests only.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { FakeApi, type FakeCall, type Fault, refusalBody } from './api.ts'
import { Refused } from './store.ts'

export interface FakeKubeOptions {
  /** Resources that are not served, as if their CRD were not installed. */
  readonly absent?: readonly string[]
  readonly bookmarkMs?: number
}

export class FakeKube extends FakeApi {
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  #bookmarks: NodeJS.Timeout | undefined = undefined

  private constructor({ absent, bookmarkMs = 1000 }: FakeKubeOptions) {
    super(absent)
    this.#bookmarks = setInterval(() => this.bookmark(), bookmarkMs)
  }

  static async start(options: FakeKubeOptions = {}): Promise<FakeKube> {
    const kube = new FakeKube(options)
    await new Promise<void>((resolve) => {
      kube.#server.listen(0, '127.0.0.1', resolve)
    })
    return kube
  }

  static async withNamespaces(...names: readonly string[]): Promise<FakeKube> {
    const kube = await FakeKube.start()
    for (const name of names) {
      kube.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    return kube
  }

  get url(): string {
    // Listening on a TCP port.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    clearInterval(this.#bookmarks)
    this.#server.closeAllConnections()
    await new Promise((resolve) => {
      this.#server.close(resolve)
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = this.call(request.method ?? '', request.url ?? '')
    try {
      const fault = this.fault(call)
      if (fault === undefined) await this.#respond(request, response, call)
      else await this.#fail({ request, response, call, fault })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      refuse(response, error)
    }
  }

  async #fail({ request, response, call, fault }: Failing): Promise<void> {
    if (fault.kind === 'status') refuse(response, new Refused(fault.status, 'Injected', 'injected'), fault)
    else if (fault.kind === 'slow') {
      await delay(fault.ms)
      await this.#respond(request, response, call)
    } else {
      if (fault.kind === 'lose-answer') await this.#respond(request, undefined, call)
      request.socket.destroy()
    }
  }

  async #respond(request: IncomingMessage, response: ServerResponse | undefined, call: FakeCall): Promise<void> {
    if (call.isWatch) {
      if (response !== undefined) this.#follow(response, call)
      return
    }
    const text = await bodyOf(request)
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    const result = this.answer(call, request.headers['content-type'] ?? '', body)
    response?.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json' })
    response?.end(JSON.stringify(result))
  }

  #follow(response: ServerResponse, call: FakeCall): void {
    const begin = (): void => {
      if (response.headersSent) return
      response.writeHead(200, { 'content-type': 'application/json' })
      response.flushHeaders()
    }
    const event = (one: unknown): void => {
      begin()
      response.write(`${JSON.stringify(one)}\n`)
    }
    const stop = this.watch(call, { event, drop: () => response.destroy() })
    begin()
    if (stop === undefined) {
      response.end()
      return
    }
    const timer = setTimeout(() => response.end(), Number(call.query.get('timeoutSeconds') ?? 300) * 1000)
    response.on('close', () => {
      clearTimeout(timer)
      stop()
    })
  }
}

interface Failing {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly call: FakeCall
  readonly fault: Fault
}

function refuse(response: ServerResponse, error: Refused, fault?: { readonly retryAfter?: number }): void {
  if (fault?.retryAfter !== undefined) response.setHeader('retry-after', String(fault.retryAfter))
  response.writeHead(error.status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(refusalBody(error)))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
