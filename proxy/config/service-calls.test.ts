// The service of a vendor: its address, connection, credential and time.
import { expect, it } from 'vitest'
import type { GuardService } from '#api/ir/types.gen.ts'
import { EndpointTable } from '../backend/endpoints.ts'
import { TargetResolver } from '../backend/targets.ts'
import { HeaderList } from '../message/headers.ts'
import { authEnvironment, exchangeOf } from '../policy/exchange.testing.ts'
import { indexPolicies } from '../policy/policy-index.ts'
import type { UpstreamRequest, UpstreamTarget } from '../upstream/target.ts'
import type { CompileContext } from './context.ts'
import { vendorOf } from './service-calls.ts'

const HOST = 'api.vendor.example'

interface Call {
  readonly answerMs: number
  readonly failure: unknown
  /** undefined: nothing was sent. */
  readonly sent: { readonly target: UpstreamTarget; readonly request: UpstreamRequest } | undefined
}

/** `policies`: of the guard. */
async function callWith(policies: GuardService): Promise<Call> {
  let sent: Call['sent']
  const client = {
    send(target: UpstreamTarget, request: UpstreamRequest) {
      sent = { target, request }
      throw new Error('sent')
    },
  }
  const directory = {
    workloads: [],
    backend: (key: string) => ({
      key,
      name: { namespace: 'ns', name: 'proxy' },
      static: { host: '192.0.2.1', port: 3128 },
    }),
    service: () => undefined,
    members: () => [],
    addresses: () => [],
  }
  // Only the used parts of the compiler of a worker.
  const context = {
    ...authEnvironment({ 'ns/key': 'planted-key' }),
    environment: { client, observer: {} },
    policies: indexPolicies([]),
    resolver: new TargetResolver(directory, new EndpointTable()),
  } as unknown as CompileContext
  const caller = vendorOf(HOST, policies, context)
  const message = { method: 'POST', path: '/v1', query: '', authority: undefined, body: undefined, answerBytesMax: 1 }
  if (caller === undefined) throw new Error('the vendor has no service')
  const failure: unknown = await caller
    .http(exchangeOf(), { ...message, headers: new HeaderList() })
    .catch((error: unknown) => (error instanceof Error ? error.message : error))
  return { answerMs: caller.answerMs, failure, sent }
}

it('is called with TLS at its port, within 10 s', async () => {
  const { sent, answerMs } = await callWith({})
  expect(answerMs).toBe(10_000)
  expect(sent?.target).toMatchObject({ host: HOST, port: 443, tls: { servername: HOST } })
  expect(sent?.request).toMatchObject({ authority: HOST, method: 'POST', pathAndQuery: '/v1' })
  expect(sent?.target.tunnel).toBeUndefined()
  expect(sent?.request.headers.has('authorization')).toBe(false)
})

it('is called with the credential, the connection and the time of the guard', async () => {
  const { sent, answerMs } = await callWith({
    auth: { key: { secret: 'ns/key' } },
    tls: { sni: 'other.example' },
    http: { requestTimeoutMs: 500 },
    tunnel: { proxy: { backend: 'ns/proxy' } },
  })
  expect(answerMs).toBe(500)
  expect(sent?.target).toMatchObject({ host: HOST, port: 443, tls: { servername: 'other.example' } })
  expect(sent?.target.tunnel).toBeDefined()
  expect(sent?.request.headers.get('authorization')).toBe('Bearer planted-key')
})

it('is not called if a policy of the guard is broken', async () => {
  const { sent, failure } = await callWith({ deny: { field: 'auth', message: 'the Secret is missing' } })
  expect({ sent, failure }).toEqual({ sent: undefined, failure: 'auth: the Secret is missing' })
})

it.each(['', 'a b', 'vendor.example/path', 'vendor.example:80', 'user@vendor.example'])(
  'does not exist at the host "%s"',
  (host) => {
    expect(vendorOf(host, {}, {} as unknown as CompileContext)).toBeUndefined()
  },
)
