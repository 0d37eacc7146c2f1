// Every place in which a backend can have credentials, with those of each cloud: the backend gets them in place of what
// the client sent. Resources and standalone files; loopback only.
// @module-tag full
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { stringify } from 'yaml'
import { loadSource } from '#cli/source.ts'
import { verifySignature } from '#proxy/credentials/cloud-a/verifier.testing.ts'
import type { CloudEndpoints } from '#proxy/credentials/cloud-endpoints.testing.ts'
import {
  APPLICATION,
  applicationServer,
  exchangeServer,
  identityProvider,
  idToken,
} from '#proxy/credentials/oauth/authorities.testing.ts'
import { startProxy, type RunningProxy } from '#proxy/main.ts'
import { ON_LOOPBACK } from '#proxy/main.testing.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { AWS_KEYS, CLOUDS, startClouds } from './clouds.ts'
import { COMPLETION, INITIALIZE, manifests, PLACES } from './places.ts'

let folder: string
let clouds: CloudEndpoints
let upstream: Server
let proxy: RunningProxy | undefined
/** `authorization` of the requests; the reason if it is a signature that is not that of the request. */
let received: unknown[]
/** Bodies of the requests, and their `content-length`. */
let bodies: { readonly text: string; readonly length: string | undefined }[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-places-test-'))
  clouds = await startClouds(folder)
  received = []
  bodies = []
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      received.push(verified(request, body))
      bodies.push({ text: body.toString(), length: request.headers['content-length'] })
      response.setHeader('content-type', 'application/json').end('{}')
    })
  })
})

afterEach(async () => {
  await proxy?.stop({ isForced: true })
  await clouds.stop()
  vi.unstubAllEnvs()
  closeServer(upstream)
  rmSync(folder, { recursive: true })
})

async function serve(name: string, text: string): Promise<void> {
  const file = join(folder, name)
  writeFileSync(file, text)
  const source = await loadSource(file)
  if ('problem' in source || source.rendered === undefined) throw new Error(JSON.stringify(source).slice(0, 2000))
  expect(source.problems).toEqual([])
  proxy = await startProxy({ ...ON_LOOPBACK, accessLog: false, logLevel: 'error' })
  const applied = await proxy.apply(source.rendered.config, source.rendered.secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
}

function verified({ method = '', url: target = '', headers: fields }: IncomingMessage, body: Buffer): unknown {
  const { authorization } = fields
  if (authorization?.startsWith('AWS4') !== true) return authorization
  const headers = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
  try {
    verifySignature({ method, target, headers, body }, () => AWS_KEYS.secretKey)
    return authorization
  } catch (error) {
    return String(error)
  }
}

/** What the backend got for one request. */
async function sent(
  url: string,
  body: string | ReadableStream | undefined,
  client = 'Bearer of-client',
): Promise<unknown[]> {
  received = []
  const headers = {
    authorization: client,
    accept: 'application/json, text/event-stream',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const response = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body, duplex: 'half' }) })
  await response.arrayBuffer()
  return received
}

/** On a busy machine, the first fetch may exceed its deadline: a library is loaded for it. */
async function firstToken(url: string): Promise<void> {
  await until('the proxy has a token', async () => (await sent(url, undefined)).length === 1)
}

function tokensFetched(): unknown[] {
  return clouds.seen.filter(({ url }) => /\/token\/?$/.test(url.pathname))
}

it.each(Object.entries(CLOUDS))(
  'resources send credentials of %s in each place',
  async (cloud, { auth, sent: expected }) => {
    const http = await freePort()
    await serve(
      'manifests.yaml',
      manifests({ auth, keys: cloud === 'aws' ? AWS_KEYS : undefined, http, port: await listening(upstream) }),
    )
    await firstToken(`http://127.0.0.1:${http}/inline`)
    const fetched = tokensFetched().length
    const got: Record<string, unknown> = {}
    for (const [name, { path = '', body }] of Object.entries(PLACES)) {
      got[name] = await sent(`http://127.0.0.1:${http}/${name}${path}`, body)
    }
    got['model'] = await sent(`http://127.0.0.1:${http}/v1/chat/completions`, COMPLETION)
    const once = [expect.stringMatching(expected)]
    const perPlace = Object.entries(PLACES).map(
      ([name, { isAsked }]) => [name, isAsked === true ? [...once, 'Bearer of-client'] : once] as const,
    )
    expect(got).toEqual({ ...Object.fromEntries(perPlace), model: once })
    // One token for all places.
    expect(fetched > 0).toBe(cloud !== 'aws')
    expect(tokensFetched()).toHaveLength(fetched)
  },
)

it('a body that arrives in parts is signed as a whole, after the change of a policy', { tags: ['full'] }, async () => {
  const { auth } = CLOUDS['aws'] ?? {}
  const http = await freePort()
  const addition = {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { name: 'addition', namespace: 'default' },
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'all', sectionName: 'inline' }],
      traffic: { transformation: { request: { body: 'string(request.body) + " added"' } } },
    },
  }
  const text = manifests({ auth: auth ?? {}, keys: AWS_KEYS, http, port: await listening(upstream) })
  await serve('manifests.yaml', `${text}---\n${stringify(addition)}`)
  async function* parts(): AsyncGenerator<Uint8Array> {
    for (const part of ['one ', 'two ', 'three']) {
      yield Buffer.from(part)
      await nextTurn()
    }
  }
  const got = await sent(`http://127.0.0.1:${http}/inline`, ReadableStream.from(parts()))
  expect(got).toEqual([expect.stringMatching(/^AWS4-HMAC-SHA256 /)])
  expect(bodies).toEqual([{ text: 'one two three added', length: '19' }])
})

it('resources exchange the token of the client in each place', async () => {
  const server = await exchangeServer()
  onTestFinished(() => server.close())
  const http = await freePort()
  const oauthTokenExchange = {
    backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'sts' },
    clientAuth: { clientId: 'gateway', secretRef: { name: 'keys' } },
  }
  const sts = {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwBackend',
    metadata: { name: 'sts', namespace: 'default' },
    spec: { static: { host: '127.0.0.1', port: server.port } },
  }
  const keys = { clientSecret: 'sts-secret' }
  const text = manifests({ auth: { oauthTokenExchange }, keys, http, port: await listening(upstream) })
  await serve('manifests.yaml', `${text}---\n${JSON.stringify(sts)}\n`)
  const client = `Bearer ${await idToken('ann')}`
  const got: Record<string, unknown> = {}
  for (const [name, { path = '', body }] of Object.entries(PLACES)) {
    got[name] = await sent(`http://127.0.0.1:${http}/${name}${path}`, body, client)
  }
  got['model'] = await sent(`http://127.0.0.1:${http}/v1/chat/completions`, COMPLETION, client)
  const once = ['Bearer ex.ann.1']
  const perPlace = Object.entries(PLACES).map(
    ([name, { isAsked }]) => [name, isAsked === true ? [...once, client] : once] as const,
  )
  expect(got).toEqual({ ...Object.fromEntries(perPlace), model: once })
  // One exchange for all places: their policies are the same.
  expect(server.forms).toHaveLength(1)
})

it.each(Object.entries(CLOUDS))(
  'standalone files send credentials of %s in each place',
  { tags: ['full'] },
  async (_, cloud) => {
    const [http, mcp, bind] = [await freePort(), await freePort(), await freePort()]
    const host = `127.0.0.1:${await listening(upstream)}`
    const policies = { backendAuth: cloud.standalone }
    const matches = (name: string): object => ({ name, matches: [{ path: { pathPrefix: `/${name}` } }] })
    const file = {
      gateways: { default: { port: http } },
      backends: [{ name: 'shared', host, policies }],
      routes: [
        { ...matches('backend'), backends: [{ host, policies }] },
        { ...matches('route'), policies, backends: [{ host }] },
        { ...matches('named'), backends: [{ backend: 'shared' }] },
        {
          ...matches('provider'),
          backends: [{ ai: { name: 'm', provider: { openAI: {} }, hostOverride: host }, policies }],
        },
        {
          ...matches('group'),
          backends: [
            {
              ai: { groups: [{ providers: [{ name: 'a', provider: { openAI: {} }, hostOverride: host, policies }] }] },
            },
          ],
        },
      ],
      mcp: { port: mcp, targets: [{ name: 'a', mcp: { host }, policies }] },
      binds: [{ port: bind, listeners: [{ routes: [{ backends: [{ host, policies }] }] }] }],
    }
    await serve('gateway.json', JSON.stringify(file))
    const url = `http://127.0.0.1:${http}`
    await firstToken(`${url}/backend`)
    const got = {
      backend: await sent(`${url}/backend`, undefined),
      route: await sent(`${url}/route`, undefined),
      named: await sent(`${url}/named`, undefined),
      provider: await sent(`${url}/provider/v1/chat/completions`, COMPLETION),
      group: await sent(`${url}/group/v1/chat/completions`, COMPLETION),
      target: await sent(`http://127.0.0.1:${mcp}/mcp`, INITIALIZE),
      bind: await sent(`http://127.0.0.1:${bind}/`, undefined),
    }
    const once = [expect.stringMatching(cloud.sent)]
    expect(got).toEqual(Object.fromEntries(Object.keys(got).map((name) => [name, once])))
  },
)

it('standalone files get tokens of token endpoints', async () => {
  const [sts, idp, app] = [await exchangeServer(), await identityProvider(), await applicationServer()]
  onTestFinished(() => [sts, idp, app].forEach((server) => server.close()))
  const port = await freePort()
  const host = `127.0.0.1:${await listening(upstream)}`
  const oauthTokenExchange = {
    backend: 'sts',
    subjectToken: { source: { header: { name: 'authorization', prefix: 'Bearer ' } }, tokenType: 'idToken' },
    clientAuth: { clientId: 'gateway', clientSecret: 'sts-secret' },
  }
  const crossAppAccess = {
    identityProvider: {
      host: `127.0.0.1:${idp.port}`,
      clientAuth: { clientId: 'gateway', clientSecret: { file: 'idp-secret' } },
    },
    resourceAuthorizationServer: {
      target: { host: `127.0.0.1:${app.port}` },
      clientAuth: { clientId: 'gateway-at-app', method: 'clientSecretPost', clientSecret: 'app-secret' },
    },
    audience: APPLICATION,
  }
  writeFileSync(join(folder, 'idp-secret'), 'idp-secret\n')
  const route = (name: string, backendAuth: object): object => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    backends: [{ host, policies: { backendAuth } }],
  })
  const file = {
    gateways: { default: { port } },
    backends: [{ name: 'sts', host: `127.0.0.1:${sts.port}` }],
    routes: [route('exchange', { oauthTokenExchange }), route('cross-app', { crossAppAccess })],
  }
  await serve('gateway.json', JSON.stringify(file))
  const client = `Bearer ${await idToken('ann')}`
  expect(await sent(`http://127.0.0.1:${port}/exchange`, undefined, client)).toEqual(['Bearer ex.ann.1'])
  expect(await sent(`http://127.0.0.1:${port}/cross-app`, undefined, client)).toEqual(['Bearer at.ann.none.1'])
})
