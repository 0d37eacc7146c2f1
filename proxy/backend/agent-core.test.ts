// Requests to an agent in the AgentCore runtime, over TLS to the host of the vendor. A proxy that answers CONNECT leads
// to an emulator, which checks each signature without the library that makes it.
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AgentCoreBackend, BackendPayload, TrafficPayload } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { certificateFor } from '#test/certificates.ts'
import { closeServer, listening } from '#test/ports.ts'
import { verifySignature, type ReceivedRequest, type Verified } from '../credentials/cloud-a/verifier.testing.ts'
import { agentCoreAddress } from './agent-core.ts'
import { EndpointKeys } from './endpoint-keys.ts'

const HOST = 'bedrock-agentcore.eu-west-1.amazonaws.com'
const REF = 'arn:aws:bedrock-agentcore:eu-west-1:123456789012:runtime/my_agent-1'
const PATH =
  '/runtimes/arn%3Aaws%3Abedrock%2Dagentcore%3Aeu%2Dwest%2D1%3A123456789012%3Aruntime%2Fmy%5Fagent%2D1/invocations'
const KEYS = { accessKey: { secret: 'n/k/id' }, secretKey: { secret: 'n/k/key' } }
const SECRET_OF = new Map([
  ['AKIASECRET', 'planted-secret'],
  ['AKIAENV', 'planted-env'],
])

let vendor: TlsServer
let egress: Server
let gateway: TestProxy
let received: ReceivedRequest[] = []
/** Destinations of CONNECT. */
let destinations: string[] = []

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAENV')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'planted-env')
  vi.stubEnv('AWS_SESSION_TOKEN', undefined)
  vi.stubEnv('AWS_REGION', 'us-east-2')
  const { certificate, privateKey } = certificateFor({ commonName: 'vendor', names: [`DNS:${HOST}`] })
  vendor = createTlsServer({ cert: certificate, key: privateKey }, (request, response) => {
    void buffer(request).then((body) => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      received.push({ method: request.method ?? '', target: request.url ?? '', headers, body })
      response.writeHead(200).end('of the agent')
    })
  })
  const vendorPort = await listening(vendor)
  egress = createServer()
  egress.on('connect', ({ url = '' }, client) => {
    destinations.push(url)
    const upstream = connect(vendorPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
    upstream.on('error', () => client.destroy())
    client.on('error', () => upstream.destroy())
    client.on('close', () => upstream.destroy())
  })
  const egressPort = await listening(egress)
  const trusting = { tls: { caCertificates: certificate } }
  const through = { tunnel: { proxy: { backend: 'ns/egress' } } }
  const route = (
    name: string,
    agentCore: AgentCoreBackend,
    { own = trusting, inline }: { own?: BackendPayload; inline?: TrafficPayload } = {},
  ): TestRoute => ({
    name,
    prefix: `/${name}`,
    backend: { agentCore, inlinePolicies: { ...through, ...own } },
    ...(inline !== undefined && { inline }),
  })
  const agent = { agentRuntimeRef: REF }
  gateway = await testProxy({
    secrets: { 'n/k/id': 'AKIASECRET', 'n/k/key': 'planted-secret' },
    routes: [
      route('ambient', agent),
      route('pair', { ...agent, qualifier: 'v 1&b' }, { own: { ...trusting, auth: { cloudA: { secretRef: KEYS } } } }),
      route('set', agent, {
        own: { ...trusting, auth: { cloudA: { secretRef: KEYS, serviceName: 'execute-api', region: 'us-west-2' } } },
      }),
      route('bearer', agent, { own: { ...trusting, auth: { key: { secret: 'n/k/key' } } } }),
      route('rewritten', agent, { inline: { urlRewrite: { host: 'evil.example', path: { full: '/elsewhere' } } } }),
      route('untrusted', agent, { own: {} }),
      route('broken', { agentRuntimeRef: 'arn:aws:bedrock-agentcore:x.evil.example:1:runtime/a' }),
      { name: 'egress', prefix: '/unused', backend: { static: { host: '127.0.0.1', port: egressPort } } },
    ],
  })
})

beforeEach(() => {
  received = []
  destinations = []
})

afterAll(async () => {
  vi.unstubAllEnvs()
  await gateway.stop()
  closeServer(vendor)
  closeServer(egress)
})

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(gateway.url + path, { method: 'POST', body: '{"prompt":"a"}', ...init })
}

/** The last request, whose signature is valid. */
function verified(): Verified & Pick<ReceivedRequest, 'target' | 'headers'> {
  const last = received.at(-1)
  if (last === undefined) throw new Error('the emulator has received nothing')
  return { ...verifySignature(last, (id) => SECRET_OF.get(id) ?? ''), target: last.target, headers: last.headers }
}

describe('an agent in the AgentCore runtime', () => {
  it('gets every request at its own host and path, signed with the keys of the environment', async () => {
    const reply = await ask('/ambient/of/client?qualifier=of-client', { headers: { authorization: 'Bearer client' } })
    expect([reply.status, await reply.text()]).toEqual([200, 'of the agent'])
    expect(verified()).toMatchObject({
      accessKeyId: 'AKIAENV',
      service: 'bedrock-agentcore',
      region: 'eu-west-1',
      target: PATH,
      headers: { host: HOST },
    })
    expect(received[0]?.body.toString()).toBe('{"prompt":"a"}')
    expect(JSON.stringify(received[0]?.headers)).not.toContain('Bearer client')
  })

  it('gets the qualifier, signed with the keys of a Secret', async () => {
    await ask('/pair')
    expect(verified()).toMatchObject({
      accessKeyId: 'AKIASECRET',
      service: 'bedrock-agentcore',
      target: `${PATH}?qualifier=v%201%26b`,
    })
  })

  it('gets the service and the region that the policy sets', async () => {
    await ask('/set')
    expect(verified()).toMatchObject({ service: 'execute-api', region: 'us-west-2', headers: { host: HOST } })
  })

  it('gets another credential in place of a signature if a policy sets one', async () => {
    await ask('/bearer')
    expect(received[0]?.headers).toMatchObject({ authorization: 'Bearer planted-secret' })
    expect(received[0]?.headers).not.toHaveProperty('x-amz-date')
  })

  it('is reached at the same host and path if the route rewrites both', async () => {
    await ask('/rewritten')
    expect(verified()).toMatchObject({ target: PATH, headers: { host: HOST } })
  })

  it('gets session headers of the client inside the signature', async () => {
    const name = 'x-amzn-bedrock-agentcore-runtime-session-id'
    await ask('/ambient', { headers: { [name]: 's-1' } })
    expect(verified().signedHeaders).toContain(name)
  })

  it('is not called without a certificate that the system trusts', async () => {
    expect((await ask('/untrusted')).status).toBe(503)
    expect(received).toEqual([])
  })

  it('is called by TLS at port 443 of the region', async () => {
    await ask('/untrusted')
    expect(destinations).toEqual([`${HOST}:443`])
  })

  it('is not called by a name that is not the name of an agent runtime', async () => {
    const reply = await ask('/broken')
    expect([reply.status, await reply.text()]).toEqual([500, 'backend does not exist'])
    expect(destinations).toEqual([])
  })

  it('has an endpoint that all workers share', () => {
    expect([...EndpointKeys.of(gateway.config).all()].filter((key) => key.includes(HOST))).not.toEqual([])
    expect(agentCoreAddress({ agentRuntimeRef: 'demo' })).toBeUndefined()
  })
})
