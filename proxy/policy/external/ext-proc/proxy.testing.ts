// A whole proxy with a processor and a backend that returns its request: for tests of external processing.
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { ExtProc, TrafficPayload } from '#api/ir/types.gen.ts'
import { closeServer, listening } from '../../../../test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '../../../main.testing.ts'
import { startProcessor, type Processor } from '#proxy/policy/external/ext-proc/processor.testing.ts'

export const PROCESSOR = 'ns/processor'
export const POLICY: ExtProc = { service: { backend: PROCESSOR }, failureMode: 'FailClosed' }

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly isComplete: boolean
}

export interface Harness {
  readonly proxy: TestProxy
  readonly processor: Processor
  /** Requests that the backend has read to their end, or that broke. */
  readonly received: Seen[]
  stop(): Promise<void>
}

export interface HarnessRoute {
  readonly extProc?: Partial<ExtProc>
  readonly inline?: TrafficPayload
}

export interface HarnessOptions {
  readonly routes: Readonly<Record<string, HarnessRoute>>
  readonly timeoutMs?: number
  /** Instead of the received request. */
  readonly backend?: (request: IncomingMessage, response: ServerResponse) => boolean
}

export async function startHarness({ routes, timeoutMs, backend }: HarnessOptions): Promise<Harness> {
  const processor = await startProcessor()
  const received: Seen[] = []
  const upstream = echoServer(received, backend)
  const port = await listening(upstream)
  const route = (name: string, { extProc = {}, inline }: HarnessRoute): TestRoute => ({
    name,
    prefix: `/${name}`,
    backend: { static: { host: '127.0.0.1', port } },
    inline: { extProc: { ...POLICY, ...extProc }, ...inline },
  })
  const proxy = await testProxy({
    routes: Object.entries(routes).map(([name, value]) => route(name, value)),
    change: (config) => ({
      ...config,
      backends: [
        ...config.backends,
        {
          key: PROCESSOR,
          name: { namespace: 'ns', name: 'processor' },
          static: { host: '127.0.0.1', port: processor.port },
          ...(timeoutMs !== undefined && { inlinePolicies: { http: { requestTimeoutMs: timeoutMs } } }),
        },
        {
          key: 'ns/patient',
          name: { namespace: 'ns', name: 'patient' },
          static: { host: '127.0.0.1', port: processor.port },
          inlinePolicies: { http: { requestTimeoutMs: 60_000 } },
        },
        {
          key: 'ns/absent',
          name: { namespace: 'ns', name: 'absent' },
          static: { host: '127.0.0.1', port: 1 },
        },
      ],
    }),
  })
  return {
    proxy,
    processor,
    received,
    async stop() {
      await proxy.stop()
      processor.stop()
      closeServer(upstream)
    },
  }
}

function echoServer(received: Seen[], backend: HarnessOptions['backend']): Server {
  return createServer((request, response) => {
    if (backend?.(request, response) === true) return
    const chunks: Buffer[] = []
    const take = (isComplete: boolean): void => {
      const body = Buffer.concat(chunks).toString('utf8')
      received.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
        isComplete,
      })
    }
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => take(false))
    request.on('end', () => {
      take(true)
      response.setHeader('x-backend', 'yes')
      response.end(`echo:${Buffer.concat(chunks).toString('utf8')}`)
    })
  })
}

export interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly isComplete: boolean
}

export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Buffer
}

/** Also resolves for truncated responses; rejects if there is none. */
export function send(url: string, { method, headers = {}, body }: Sent = {}): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>()
  const call = httpRequest(
    url,
    { method: method ?? (body === undefined ? 'GET' : 'POST'), headers: { ...headers }, agent: false },
    (response) => {
      const chunks: Buffer[] = []
      const end = (isComplete: boolean): void =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
          isComplete,
        })
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', () => end(false))
      response.on('end', () => end(response.complete))
    },
  )
  call.on('error', reject)
  call.end(body)
  return promise
}
