// Failures before the rule of a route is selected: clients of models read message and type of each.
// @module-tag full
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Policy, Route, TrafficPayload } from '#api/ir/types.gen.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import type { ProxyOptions } from '#proxy/main.ts'
import { until } from '#test/wait.ts'
import { bodyFor, CLIENT_NAMES, type ErrorTypes, reported } from './reported-errors.testing.ts'

interface Failure {
  /** Of the gateway, before routes. */
  readonly policy?: TrafficPayload | undefined
  readonly settings?: ProxyOptions | undefined
  readonly base: string
  readonly status: number
  readonly message: string
  readonly types: ErrorTypes
  /** The class in the SDKs of OpenAI and Anthropic, if both use the same name. */
  readonly error?: string
}

const FAILURES: Readonly<Record<string, Failure>> = {
  'missing key': {
    policy: { apiKeyAuthentication: { mode: 'Strict', keys: [], location: { header: { name: 'x-gateway-key' } } } },
    base: '/ai',
    status: 401,
    message: 'api key authentication failure: no API Key found',
    types: ['authentication_error', 'authentication_error', 'UNAUTHENTICATED'],
    error: 'AuthenticationError',
  },
  'missing key for the models of a listener': {
    policy: { apiKeyAuthentication: { mode: 'Strict', keys: [], location: { header: { name: 'x-gateway-key' } } } },
    base: '/models',
    status: 401,
    message: 'api key authentication failure: no API Key found',
    types: ['authentication_error', 'authentication_error', 'UNAUTHENTICATED'],
    error: 'AuthenticationError',
  },
  'authorization rule': {
    policy: { authorization: { action: 'Deny', matchExpressions: ['true'] } },
    base: '/ai',
    status: 403,
    message: 'authorization failed',
    types: ['permission_error', 'authentication_error', 'PERMISSION_DENIED'],
    error: 'PermissionDeniedError',
  },
  'policy that cannot be enforced': {
    policy: { deny: { field: 'f', message: 'm' } },
    base: '/delegated/ai',
    status: 403,
    message: 'denied by policy',
    types: ['permission_error', 'authentication_error', 'PERMISSION_DENIED'],
    error: 'PermissionDeniedError',
  },
  'path without a route': {
    base: '/nowhere',
    status: 404,
    message: 'route not found',
    types: ['not_found_error', 'not_found_error', 'NOT_FOUND'],
    error: 'NotFoundError',
  },
  'path without a route behind another route': {
    base: '/delegated/nowhere',
    status: 404,
    message: 'route not found',
    types: ['not_found_error', 'not_found_error', 'NOT_FOUND'],
    error: 'NotFoundError',
  },
  overload: {
    settings: { overload: { lagMs: 0, memoryShare: Number.MIN_VALUE } },
    base: '/ai',
    status: 503,
    message: 'overloaded',
    types: ['api_error', 'api_error', 'INTERNAL'],
  },
}

const NOWHERE = { static: { host: '127.0.0.1', port: 1 } }

const AI = { ai: { groups: [{ providers: [{ name: 'p', provider: { openai: {} } }] }] } }

const ROUTES: readonly TestRoute[] = [
  {
    name: 'ai',
    prefix: '/ai',
    backend: {
      ...AI,
      inlinePolicies: {
        ai: {
          routes: {
            '/messages': 'Messages',
            '/count_tokens': 'AnthropicTokenCount',
            ':generateContent': 'GenerateContent',
          },
        },
      },
    },
  },
  { name: 'models', prefix: '/models', backend: { models: { models: [] } } },
  { name: 'plain', prefix: '/plain', backend: NOWHERE },
]

function gateway({
  policy: traffic,
  settings,
  routes = ROUTES,
}: Pick<Failure, 'policy' | 'settings'> & { routes?: readonly TestRoute[] }): Promise<TestProxy> {
  const name = { kind: 'GwPolicy', namespace: 'ns', name: 'early' }
  const target = { gateway: { namespace: 'ns', name: 'gw' } }
  const policies: Policy[] = traffic ? [{ key: 'early', name, target, phase: 'PreRouting', policy: { traffic } }] : []
  return testProxy({
    routes,
    policies,
    ...(settings && { settings }),
    change: (config) => ({ ...config, routes: config.routes.flatMap((route) => [route, ...delegatedTo(route)]) }),
  })
}

/** A second route, which delegates `/delegated/ai` to a copy of the route of the AI backend. */
function delegatedTo({ listenerKey = '', ...route }: Route): Route[] {
  if (route.name.name !== 'ai') return []
  const matches = [{ path: { pathPrefix: '/delegated/ai' } }]
  return [
    {
      ...route,
      key: 'ns/parent.00.http',
      listenerKey,
      matches: [{ path: { pathPrefix: '/delegated' } }],
      backends: [{ weight: 1, ref: { routeGroup: 'children' } }],
    },
    { ...route, key: 'ns/child.00', routeGroupKey: 'children', matches },
  ]
}

/** Cases with the same policy share a gateway. */
const started = new Map<string, Promise<TestProxy>>()

function gatewayOf({ policy, settings }: Failure): Promise<TestProxy> {
  const key = JSON.stringify([policy, settings])
  const known = started.get(key) ?? gateway({ policy, settings })
  started.set(key, known)
  return known
}

afterAll(async () => {
  for (const proxy of started.values()) await (await proxy).stop()
})

describe.each(Object.entries(FAILURES))('%s', (_name, failure) => {
  const { base, status, message, types, error: name } = failure
  let url: string
  beforeAll(async () => {
    url = (await gatewayOf(failure)).url
    // The load is measured from time to time.
    if (status === 503) await until('overload', async () => (await fetch(`${url}/nowhere`)).status === status)
  })

  it.each(CLIENT_NAMES)('is an error of the API of a client of %s', async (client) => {
    expect(await reported(client, url + base)).toMatchObject({
      status,
      body: bodyFor(client, message, types),
      text: expect.stringContaining(message),
      ...(client !== 'GenerateContent' && name !== undefined && { name }),
    })
  })
})

const answerTo = async (proxy: TestProxy, path: string): Promise<unknown> => {
  const reply = await fetch(proxy.url + path, { method: 'POST', body: '{}' })
  return [reply.status, reply.headers.get('content-type'), await reply.text()]
}

it('the list of models and other paths of models have errors of OpenAI', async () => {
  const proxy = await gateway({ policy: { deny: { field: 'f', message: 'm' } } })
  const error = { message: 'denied by policy', type: 'permission_error', param: null, code: null }
  for (const path of ['/models/v1/models', '/models/v1/files']) {
    expect(await answerTo(proxy, path)).toEqual([403, 'application/json', JSON.stringify({ error })])
  }
  await proxy.stop()
})

describe('text', () => {
  it('remains for other routes and other paths of a listener with models', async () => {
    const proxy = await gateway({ policy: { deny: { field: 'f', message: 'm' } } })
    const denied = [403, 'text/plain', 'denied by policy']
    expect(await answerTo(proxy, '/plain/v1/messages')).toEqual(denied)
    expect(await answerTo(proxy, '/nowhere/v1/files')).toEqual(denied)
    await proxy.stop()
  })

  it('remains for a listener without models', async () => {
    const routes = [{ name: 'plain', prefix: '/plain', backend: NOWHERE }]
    const proxy = await gateway({ routes })
    expect(await answerTo(proxy, '/v1/messages')).toEqual([404, 'text/plain', 'route not found'])
    await proxy.stop()
  })
})

it('a client that stops sending its body gets the error of its API', async () => {
  const proxy = await gateway({ settings: { bodyIdleTimeoutMs: 100 } })
  const socket = connect(proxy.port, '127.0.0.1')
  socket.write('POST /ai/v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{')
  const reply = await text(socket)
  expect(reply).toMatch(/^HTTP\/1\.1 408 /)
  const message = 'request timeout: the rest of the request body did not arrive in time'
  expect(reply.slice(reply.indexOf('{'))).toBe(JSON.stringify({ type: 'error', error: { type: 'api_error', message } }))
  await proxy.stop()
})
