// A credential goes to the backend that it was made for, and to no other server: not to the target of a redirect, not
// to a mirror, not to the provider that takes over, not to another MCP server. All kinds; loopback only.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Backend, BackendAuth, BackendPayload, TrafficPayload } from '#api/ir/types.gen.ts'
import { testIssuer } from '#proxy/auth/jwt.testing.ts'
import type { CloudEndpoints } from '#proxy/credentials/cloud-endpoints.testing.ts'
import {
  APPLICATION,
  applicationServer,
  type Authority,
  exchangeServer,
  identityProvider,
  idToken,
} from '#proxy/credentials/oauth/authorities.testing.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { startClouds } from './clouds.ts'
import { COMPLETION, INITIALIZE } from './places.ts'

const issuer = await testIssuer('https://issuer.example')
/** `authorization` of clients. */
const CLIENT = {
  opaque: 'Bearer of-client',
  jwt: `Bearer ${await issuer.token()}`,
  idToken: `Bearer ${await idToken('planted')}`,
}
const signature = CLIENT.jwt.split('.').at(-1) ?? ''

interface Kind {
  readonly auth: BackendAuth
  /** Of the route. */
  readonly traffic?: TrafficPayload
  readonly client?: string
  /** In what its backend gets, and in nothing that another server gets. */
  readonly secret: RegExp
}

const authority = (name: string) => ({ service: { backend: `ns/${name}` }, path: '/token' })
/** Each kind; `credentials` stand beside any of the others. */
const KINDS: { readonly [K in Exclude<keyof BackendAuth, 'location'>]-?: Kind } = {
  key: { auth: { key: { secret: 'n/key' } }, secret: /planted-key/ },
  credentials: {
    auth: {
      credentials: [
        { key: { secret: 'n/key' }, location: { header: { name: 'x-key' } } },
        { key: { secret: 'n/key' }, location: { queryParameter: { name: 'key' } } },
        { key: { secret: 'n/key' }, location: { cookie: { name: 'key' } } },
      ],
    },
    secret: /planted-key/,
  },
  passthrough: {
    auth: { passthrough: true },
    traffic: { jwtAuthentication: { mode: 'Strict', providers: [issuer.provider] } },
    client: CLIENT.jwt,
    secret: new RegExp(signature),
  },
  cloudA: {
    auth: {
      cloudA: {
        secretRef: { accessKey: { secret: 'n/access' }, secretKey: { secret: 'n/key' } },
        region: 'eu-west-1',
      },
    },
    secret: /AWS4-HMAC|planted-access/,
  },
  cloudB: { auth: { cloudB: { managedIdentity: {} } }, secret: /planted-azure-token/ },
  cloudC: { auth: { cloudC: { type: 'AccessToken' } }, secret: /planted-google-token/ },
  crossAppAccess: {
    auth: {
      crossAppAccess: {
        identityProvider: {
          ...authority('idp'),
          clientAuth: { clientId: 'gateway', method: 'ClientSecretBasic', secretRef: { secret: 'n/idp' } },
        },
        resourceAuthorizationServer: {
          ...authority('app'),
          clientAuth: { clientId: 'gateway-at-app', method: 'ClientSecretPost', secretRef: { secret: 'n/app' } },
        },
        audience: APPLICATION,
      },
    },
    client: CLIENT.idToken,
    secret: /at\.planted\./,
  },
  oauthTokenExchange: {
    auth: {
      oauthTokenExchange: {
        ...authority('sts'),
        grantType: 'TokenExchange',
        subjectToken: { tokenType: 'IdToken' },
        clientAuth: { clientId: 'gateway', method: 'ClientSecretBasic', secretRef: { secret: 'n/sts' } },
      },
    },
    client: CLIENT.idToken,
    secret: /ex\.planted\./,
  },
}

const SECRETS = {
  'n/key': 'planted-key',
  'n/access': 'planted-access',
  'n/idp': 'idp-secret',
  'n/app': 'app-secret',
  'n/sts': 'sts-secret',
}

let folder: string
let clouds: CloudEndpoints
let authorities: Authority[]
/** The backend with the credential; every other one. */
let own: Server
let other: Server
let gateway: TestProxy
const usual = (response: ServerResponse) => response.setHeader('content-type', 'application/json').end('{}')
let answer: (response: ServerResponse) => void = usual
const received = { own: [] as string[], other: [] as string[] }

const recording = (name: keyof typeof received): Server =>
  createServer((request, response) => {
    received[name].push(JSON.stringify([request.url, request.headers]))
    request.resume().on('end', () => {
      if (name === 'own') answer(response)
      else response.setHeader('content-type', 'application/json').end('{}')
    })
  })

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-belongs-test-'))
  clouds = await startClouds(folder)
  authorities = [await identityProvider(), await applicationServer(), await exchangeServer()]
  own = recording('own')
  other = recording('other')
  const [ownPort, otherPort] = [await listening(own), await listening(other)]
  const named = (name: string, port: number): Backend => ({
    key: `ns/${name}`,
    name: { namespace: 'ns', name },
    static: { host: '127.0.0.1', port },
  })
  gateway = await testProxy({
    routes: [
      ...Object.entries(KINDS).flatMap(([name, kind]) => routesOf(name, kind, ownPort, otherPort)),
      {
        name: 'keyed-mirror',
        prefix: '/keyed-mirror',
        backend: { static: { host: '127.0.0.1', port: ownPort } },
        inline: { requestMirror: [{ ref: { backend: 'ns/with-key' }, numerator: 1, denominator: 1 }] },
      },
    ],
    secrets: SECRETS,
    change: (config) => ({
      ...config,
      backends: [
        ...config.backends,
        named('other', otherPort),
        ...['idp', 'app', 'sts'].map((name, index) => named(name, authorities[index]?.port ?? 0)),
        { ...named('with-key', otherPort), inlinePolicies: { auth: { key: { secret: 'n/key' } } } },
      ],
    }),
  })
})

/** On a busy machine, the first fetch may exceed its deadline: a library is loaded for it. */
beforeAll(async () => {
  for (const [name, kind] of Object.entries(KINDS)) {
    await until(`${name} has its credential`, async () => (await ask(`plain-${name}`, kind)).ok)
  }
})

afterAll(async () => {
  await gateway.stop()
  await clouds.stop()
  for (const one of authorities) one.close()
  vi.unstubAllEnvs()
  closeServer(own)
  closeServer(other)
  rmSync(folder, { recursive: true })
})

beforeEach(() => {
  received.own = []
  received.other = []
  answer = usual
})

const toMirror = [{ ref: { backend: 'ns/other' }, numerator: 1, denominator: 1 }]

function routesOf(name: string, { auth, traffic = {} }: Kind, ownPort: number, otherPort: number): TestRoute[] {
  const at = (port: number) => ({ host: '127.0.0.1', port })
  const route = (place: string, backend: TestRoute['backend'], more: TrafficPayload = {}): TestRoute => ({
    name: `${place}-${name}`,
    prefix: `/${place}-${name}`,
    backend,
    inline: { ...traffic, ...more },
  })
  const provider = (id: string, port: number, inlinePolicies: BackendPayload) => ({
    name: id,
    provider: { openai: {} },
    hostOverride: at(port),
    inlinePolicies,
  })
  const health = { eviction: { durationMs: 60_000, consecutiveFailures: 1 } }
  const groups = [
    { providers: [provider('own', ownPort, { auth, health })] },
    { providers: [provider('other', otherPort, {})] },
  ]
  const targets = ['plain', 'other'].map((id) => ({
    name: id,
    ref: { backend: id === 'other' ? 'ns/other' : `ns/plain-${name}` },
  }))
  return [
    route('plain', { static: at(ownPort), inlinePolicies: { auth } }),
    route(
      'mirrored',
      { static: at(ownPort), inlinePolicies: { auth, requestMirror: toMirror } },
      { requestMirror: toMirror },
    ),
    route('provider', { ai: { groups } }, { retry: { attempts: 1, codes: [503] } }),
    route('refused', { ai: { groups } }),
    route('single', { ai: { groups: [{ providers: [provider('own', ownPort, { auth })] }] } }),
    route('mcp', {
      mcp: { targets, sessionRouting: 'Stateful', prefixMode: 'Conditional', failureMode: 'FailOpen' },
    }),
  ]
}

async function ask(path: string, { client = CLIENT.opaque }: Kind, body?: string): Promise<Response> {
  const headers = {
    authorization: client,
    accept: 'application/json, text/event-stream',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const options = body === undefined ? { headers } : { headers, method: 'POST', body }
  const response = await fetch(`${gateway.url}/${path}`, { ...options, redirect: 'manual' })
  await response.arrayBuffer()
  return response
}

/** The backend of the credential got it, and no other server did. */
function expectKept({ secret }: Kind): void {
  expect(received.own.length).toBeGreaterThan(0)
  for (const request of received.own) expect(request).toMatch(secret)
  for (const request of received.other) expect(request).not.toMatch(secret)
}

describe.each(Object.entries(KINDS))('the credential of %s', (name, kind) => {
  it.each([
    ['plain', undefined, 307],
    ['single/v1/chat/completions', COMPLETION, 502],
    ['mcp', INITIALIZE, 307],
  ])('is not sent to the target of a redirect: %s', async (place, body, status) => {
    const { port } = other.address() as { port: number } // It listens.
    answer = (response) => response.writeHead(307, { location: `http://127.0.0.1:${port}/redirected` }).end()
    const [first = '', ...rest] = place.split('/')
    const response = await ask([`${first}-${name}`, ...rest].join('/'), kind, body)
    expect(response.status).toBe(status)
    expect(received.other.filter((request) => request.includes('redirected'))).toEqual([])
    expectKept(kind)
  })

  it('is not sent to mirrors', async () => {
    expect((await ask(`mirrored-${name}`, kind)).status).toBe(200)
    await until('both mirrors have their copy', () => received.other.length === 2)
    expectKept(kind)
  })

  it('is not sent to the provider that takes over', async () => {
    answer = (response) => response.writeHead(503).end()
    expect((await ask(`provider-${name}/v1/chat/completions`, kind, COMPLETION)).status).toBe(200)
    expect([received.own.length, received.other.length]).toEqual([1, 1])
    expectKept(kind)
  })

  it.each(['mirrored', 'refused'])('is not sent to another server if its backend refuses it: %s', async (place) => {
    answer = (response) => response.writeHead(401).end()
    const path = place === 'refused' ? '/v1/chat/completions' : ''
    const response = await ask(`${place}-${name}${path}`, kind, place === 'refused' ? COMPLETION : undefined)
    expect(response.status).toBe(401)
    if (place === 'mirrored') await until('both mirrors have their copy', () => received.other.length >= 2)
    expectKept(kind)
  })

  it('is not sent to another MCP server', async () => {
    await ask(`mcp-${name}`, kind, INITIALIZE)
    expect([received.own.length, received.other.length]).toEqual([1, 1])
    expectKept(kind)
  })
})

it('sends the credential of a mirror to the mirror only', async () => {
  expect((await ask('keyed-mirror', KINDS.key)).status).toBe(200)
  await until('the mirror has its copy', () => received.other.length === 1)
  expect(received.other).toEqual([expect.stringContaining('Bearer planted-key')])
  expect(received.own).toEqual([expect.stringContaining(CLIENT.opaque)])
})
