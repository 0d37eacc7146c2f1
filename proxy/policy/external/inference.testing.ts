// A whole proxy before a pool of three model servers and an endpoint picker: for tests of inference routing.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Policy, RenderedConfig, Retry } from '#api/ir/types.gen.ts'
import {
  headers,
  startProcessor,
  unchanged,
  type Processor,
  type Script,
} from '#proxy/policy/external/ext-proc/processor.testing.ts'
import { closeServer, listening } from '../../../test/ports.ts'
import { testProxy, type TestProxy } from '../../main.testing.ts'

export const DESTINATION = 'x-gateway-destination-endpoint'
const POOL = { hostname: 'pool.ns.inference.cluster.local', namespace: 'ns' }
const POOL_PORT = 8000

export interface Pool {
  readonly proxy: TestProxy
  readonly picker: Processor
  /** `127.0.0.1:port` of each model server. */
  readonly endpoints: readonly string[]
  /** Number of the server that responds, with the body and headers that it got. */
  answer(index: number, request: IncomingMessage, body: string, response: ServerResponse): void
  stop(): Promise<void>
}

export interface PoolOptions {
  readonly failureMode?: 'FailClosed' | 'FailOpen'
  /** The reference has no backend. */
  readonly isPickerMissing?: boolean
  readonly retry?: Retry
  readonly tls?: { readonly key: string; readonly certificate: string }
}

export async function startPool(options: PoolOptions = {}): Promise<Pool> {
  const picker = await startProcessor(options.tls === undefined ? {} : { tls: options.tls })
  const pool: { answer: Pool['answer'] } = {
    answer: (index, request, body, response) =>
      response.end(JSON.stringify({ server: index, body, headers: request.headers })),
  }
  const servers = [0, 1, 2].map((index) => modelServer((...parts) => pool.answer(index, ...parts)))
  const ports: number[] = []
  for (const server of servers) ports.push(await listening(server))
  const proxy = await testProxy({
    routes: [
      {
        name: 'pool',
        prefix: '/',
        backend: { static: { host: '127.0.0.1', port: 1 } },
        ...(options.retry !== undefined && { inline: { retry: options.retry } }),
      },
    ],
    policies: policiesOf(options),
    change: (config) => withPool(config, ports, picker.port),
  })
  return Object.assign(pool, {
    proxy,
    picker,
    endpoints: ports.map((port) => `127.0.0.1:${port}`),
    async stop() {
      await proxy.stop()
      picker.stop()
      for (const server of servers) closeServer(server)
    },
  })
}

function modelServer(answer: (request: IncomingMessage, body: string, response: ServerResponse) => void): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer(request, Buffer.concat(chunks).toString('utf8'), response))
    request.on('error', () => undefined)
  })
}

function policiesOf(options: PoolOptions): Policy[] {
  const missing = { invalid: { reason: 'BackendNotFound', message: 'no such Service' } } as const
  const name = { kind: 'InferencePool', namespace: 'ns', name: 'pool' }
  const routing: Policy = {
    key: 'ns/pool:inference:ns/pool',
    name,
    target: { service: POOL },
    policy: {
      backend: {
        inferenceRouting: {
          picker: options.isPickerMissing === true ? missing : { backend: 'ns/picker' },
          failureMode: options.failureMode ?? 'FailClosed',
        },
      },
    },
  }
  const timeout = { key: 't', name, target: { backend: { namespace: 'ns', name: 'picker' } } }
  const tls = options.tls === undefined ? {} : { tls: { insecureSkipVerify: 'All' as const } }
  return [routing, { ...timeout, policy: { backend: { http: { requestTimeoutMs: 400 }, ...tls } } }]
}

function withPool(config: RenderedConfig, ports: readonly number[], pickerPort: number): RenderedConfig {
  return {
    ...config,
    routes: config.routes.map((route) => ({
      ...route,
      backends: [{ weight: 1, ref: { service: { ...POOL, port: POOL_PORT } } }],
    })),
    backends: [
      {
        key: 'ns/picker',
        name: { namespace: 'ns', name: 'picker' },
        static: { host: '127.0.0.1', port: pickerPort },
      },
    ],
    services: [{ ...POOL, name: 'pool', ports: [{ port: POOL_PORT }] }],
    workloads: [
      {
        uid: 'ns/model',
        addresses: ['127.0.0.1'],
        healthy: true,
        services: [{ ...POOL, ports: ports.map((targetPort) => ({ port: POOL_PORT, targetPort })) }],
      },
    ],
  }
}

/** Names these endpoints in the response to the headers, and returns everything unchanged. */
export function naming(destination: string): Script {
  return (request, talk) => {
    const reply =
      request.request.case === 'requestHeaders'
        ? headers('requestHeaders', { [DESTINATION]: destination })
        : unchanged(request)
    if (reply !== undefined) talk.reply(reply)
  }
}
