// An API server in this process, over real HTTP: list with pages, watch with bookmarks, server-side apply, status,
// conflicts, 410. Faults can be put in front of every request. For tests only.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type Change, type FakeObject, merge, Refused, Store } from './store.ts'
import { type Match, matchOf } from './selectors.ts'

export interface FakeRequest {
  readonly method: string
  /** `gateways.gateway.networking.k8s.io`; core kinds have no group: `configmaps`. */
  readonly resource: string
  readonly isWatch: boolean
  readonly path: string
}

export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number }
  /** The connection breaks without an answer. */
  | { readonly kind: 'drop' }
  /** The change happens, and the answer is lost. */
  | { readonly kind: 'lose-answer' }
  | { readonly kind: 'slow'; readonly ms: number }

export interface FakeKubeOptions {
  /** Resources that are not served, as before their CRD is installed. */
  readonly absent?: readonly string[]
  readonly bookmarkMs?: number
}

interface Watch {
  readonly response: ServerResponse
  readonly resource: string
  readonly match: Match
}

export class FakeKube {
  readonly store = new Store()
  /** Looked up for every request; undefined: none. */
  fault: (request: FakeRequest) => Fault | undefined = () => undefined
  readonly requests: FakeRequest[] = []
  readonly #absent: Set<string>
  readonly #watches = new Set<Watch>()
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  #bookmarks: NodeJS.Timeout | undefined = undefined

  private constructor(options: FakeKubeOptions) {
    this.#absent = new Set(options.absent)
    this.store.onChange((change) => {
      for (const watch of this.#watches) send(watch, change)
    })
    this.#bookmarks = setInterval(() => this.bookmark(), options.bookmarkMs ?? 1000)
  }

  static async start(options: FakeKubeOptions = {}): Promise<FakeKube> {
    const kube = new FakeKube(options)
    await new Promise<void>((resolve) => {
      kube.#server.listen(0, '127.0.0.1', resolve)
    })
    return kube
  }

  get url(): string {
    // Listening on a TCP port.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get watchCount(): number {
    return this.#watches.size
  }

  serveResource(resource: string): void {
    this.#absent.delete(resource)
  }

  dropWatches(): void {
    for (const { response } of this.#watches) response.destroy()
  }

  bookmark(): void {
    for (const watch of this.#watches) {
      const metadata = { resourceVersion: String(this.store.version) }
      watch.response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Any', metadata } })}\n`)
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#bookmarks)
    this.#server.closeAllConnections()
    await new Promise((resolve) => {
      this.#server.close(resolve)
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://fake')
    const target = targetOf(url.pathname)
    const isWatch = /^(?:1|true)$/.test(url.searchParams.get('watch') ?? '')
    const seen = { method: request.method ?? '', resource: target?.resource ?? '', isWatch, path: url.pathname }
    this.requests.push(seen)
    const call = { url, target, isWatch }
    try {
      const fault = this.fault(seen)
      if (fault === undefined) await this.#answer(request, response, call)
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
      await this.#answer(request, response, call)
    } else {
      if (fault.kind === 'lose-answer') await this.#answer(request, undefined, call)
      request.socket.destroy()
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse | undefined, call: Call): Promise<void> {
    const { url, target, isWatch } = call
    if (target === undefined || this.#absent.has(target.resource)) throw new Refused(404, 'NotFound', 'no such path')
    if (isWatch) {
      if (response !== undefined) this.#watch(response, target, url.searchParams)
      return
    }
    const text = await bodyOf(request)
    const result = this.#act(request, target, {
      query: url.searchParams,
      body: text === '' ? undefined : JSON.parse(text),
    })
    response?.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json' })
    response?.end(JSON.stringify(result))
  }

  #act(
    { method, headers }: IncomingMessage,
    target: Target,
    { query, body }: { query: URLSearchParams; body: unknown },
  ): unknown {
    const { resource, namespace, name, isStatus } = target
    const key = `${namespace ?? ''}/${name ?? ''}`
    if (method === 'GET' && name === undefined) return this.#list(target, query)
    if (method === 'GET') return this.#found(resource, key)
    if (method === 'DELETE') return this.store.delete(resource, key)
    // What clients of tests send.
    const object = body as FakeObject
    if (method === 'POST') return this.store.create(resource, placed(object, namespace))
    if (method === 'PUT') return this.store.update(resource, placed(object, namespace), isStatus)
    if (headers['content-type'] === 'application/apply-patch+yaml') {
      return this.store.apply(resource, placed(object, namespace), query.get('fieldManager') ?? '')
    }
    const live = this.#found(resource, key)
    const { resourceVersion: _version, ...metadata } = live.metadata
    return this.store.update(resource, merge({ ...live, metadata }, object) as FakeObject, isStatus)
  }

  #found(resource: string, key: string): FakeObject {
    const object = this.store.get(resource, key)
    if (object === undefined) throw new Refused(404, 'NotFound', `${resource} ${key} not found`)
    return object
  }

  #list({ resource, namespace }: Target, query: URLSearchParams): unknown {
    const matching = this.store.list(resource).filter(matchOf(namespace, query))
    const start = Number(query.get('continue') ?? 0)
    const limit = Number(query.get('limit') ?? matching.length)
    const items = matching.slice(start, start + limit)
    const metadata = {
      resourceVersion: String(this.store.version),
      ...(start + limit < matching.length && { continue: String(start + limit) }),
    }
    return { apiVersion: 'v1', kind: 'List', metadata, items }
  }

  #watch(response: ServerResponse, { resource, namespace }: Target, query: URLSearchParams): void {
    const missed = this.store.since(Number(query.get('resourceVersion') ?? 0))
    const watch: Watch = { response, resource, match: matchOf(namespace, query) }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    if (missed === undefined) {
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
      return
    }
    for (const change of missed) send(watch, change)
    this.#watches.add(watch)
    const timer = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 300) * 1000)
    response.on('close', () => {
      clearTimeout(timer)
      this.#watches.delete(watch)
    })
  }
}

interface Target {
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly isStatus: boolean
}

interface Call {
  readonly url: URL
  readonly target: Target | undefined
  readonly isWatch: boolean
}

interface Failing {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly call: Call
  readonly fault: Fault
}

const PATH = /^(?:\/api\/v1|\/apis\/([^/]+)\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/))?\/([a-z]+)(?:\/([^/]+))?(\/status)?$/

function targetOf(path: string): Target | undefined {
  const [, group, namespace, plural, name, status] = PATH.exec(path) ?? []
  if (plural === undefined) return undefined
  const resource = group === undefined ? plural : `${plural}.${group}`
  return { resource, namespace, name, isStatus: status !== undefined }
}

function placed(object: FakeObject, namespace: string | undefined): FakeObject {
  return { ...object, metadata: { ...object.metadata, ...(namespace !== undefined && { namespace }) } }
}

/** A selector that an object begins or ceases to match makes it come and go. */
function send({ response, resource, match }: Watch, change: Change): void {
  if (resource !== change.resource) return
  const [was, is] = [change.before !== undefined && match(change.before), match(change.object)]
  const isGone = change.type === 'DELETED' || !is
  if (isGone && !was) return
  const type = isGone ? 'DELETED' : was ? 'MODIFIED' : 'ADDED'
  response.write(`${JSON.stringify({ type, object: change.object })}\n`)
}

function refuse(response: ServerResponse, error: Refused, fault?: { readonly retryAfter?: number }): void {
  const { status: code, reason, message } = error
  if (fault?.retryAfter !== undefined) response.setHeader('retry-after', String(fault.retryAfter))
  response.writeHead(code, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
