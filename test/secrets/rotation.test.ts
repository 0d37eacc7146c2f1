// A Secret with a credential for a backend changes: from the API server through the operator, its delivery and the
// proxy, which serves requests all the time.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { ClusterSource } from '#proxy/config/cluster/cluster-source.ts'
import { createKubeClient } from '#proxy/config/cluster/kube-client.ts'
import { verifySignature } from '#proxy/credentials/cloud-a/verifier.testing.ts'
import { ON_LOOPBACK } from '#proxy/main.testing.ts'
import { type RunningProxy, startProxy } from '#proxy/main.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'

const GATEWAY_API = 'gateway.networking.k8s.io'
const ROUNDS = ['old', 'new'] as const
type Round = (typeof ROUNDS)[number]

/** What each kind sends, as the backend sees it. */
const KINDS = ['key', 'more', 'aws', 'exchange', 'cross'] as const
type Kind = (typeof KINDS)[number]

let kube: FakeKube
let operator: TestOperator
let proxy: RunningProxy
let source: ClusterSource
let backend: Server
/** Gives each client secret a token of its own. */
let tokens: Server
let folder: string
let port: number
const seen: Record<Kind, string[]> = { key: [], more: [], aws: [], exchange: [], cross: [] }

/** Values of the Secret, in base64 as the API server has them. */
function secretOf(round: Round): object {
  const values = {
    key: `key-${round}`,
    more: `more-${round}`,
    accessKey: `AKIA${round}`,
    secretKey: `secret-${round}`,
    clientSecret: `client-${round}`,
  }
  const data = Object.entries(values).map(([name, value]) => [name, Buffer.from(value).toString('base64')])
  const metadata = { name: 'credentials', namespace: 'shop' }
  return { apiVersion: 'v1', kind: 'Secret', metadata, data: Object.fromEntries(data) }
}

/** The round of the credential; anything else is a failure. */
function roundOf({ method = '', url = '', headers }: IncomingMessage): string {
  const { pathname, searchParams } = new URL(url, 'http://h')
  if (pathname === '/key') return String(headers.authorization).replace('Bearer key-', '')
  if (pathname === '/more') return String(searchParams.get('api_key')).replace('more-', '')
  if (pathname === '/exchange' || pathname === '/cross')
    return String(headers.authorization).replace('Bearer token-', '')
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  const request = { method, target: url, headers: lower, body: Buffer.alloc(0) }
  return verifySignature(request, (id) => id.replace('AKIA', 'secret-')).accessKeyId.replace('AKIA', '')
}

beforeEach(async () => {
  for (const kind of KINDS) seen[kind].length = 0
  backend = createServer((request, response) => {
    const kind = KINDS.find((one) => request.url?.startsWith(`/${one}`) === true)
    try {
      const round = roundOf(request)
      if (kind !== undefined) seen[kind].push(round)
      response.statusCode = ROUNDS.some((one) => one === round) ? 200 : 401
    } catch {
      response.statusCode = 401
    }
    response.end()
  })
  tokens = createServer((request, response) => {
    let form = ''
    request.on('data', (chunk: Buffer) => (form += chunk.toString()))
    request.on('end', () => {
      const round = new URLSearchParams(form).get('client_secret')?.replace('client-', '')
      const isAssertion = request.url === '/identity'
      const issued = {
        access_token: `${isAssertion ? 'assertion' : 'token'}-${round}`,
        token_type: isAssertion ? 'N_A' : 'Bearer',
        expires_in: 3600,
        ...(isAssertion && { issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag' }),
      }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(issued))
    })
  })
  kube = await FakeKube.start()
  folder = mkdtempSync(join(tmpdir(), 'gw-rotation-'))
  port = await freePort()
  for (const name of ['gw-system', 'shop'])
    kube.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  kube.store.create('secrets', secretOf('old') as never) // an object of Kubernetes
  makeAll(await listening(backend), await listening(tokens))
  operator = await testOperator({ config: configFor(kube.url) })
  proxy = await startProxy({ ...ON_LOOPBACK, workers: 2, accessLog: false, logLevel: 'error' })
  source = new ClusterSource({
    namespace: 'shop',
    gateway: 'web',
    pod: 'web-1',
    mountPath: folder,
    client: createKubeClient({ server: kube.url, ca: undefined, token: () => 't' }),
    logger: proxy.logger('delivery'),
    apply: (config, secrets) => proxy.apply(config, secrets),
    supersede: () => proxy.supersede(),
  })
  await source.start()
})

afterEach(async () => {
  await source.stop()
  await proxy.stop({ isForced: true })
  await operator.stop()
  await kube.stop()
  closeServer(backend)
  closeServer(tokens)
  rmSync(folder, { recursive: true })
})

function make(resource: string, kind: string, name: string, spec: unknown): void {
  const group = resource.slice(resource.indexOf('.') + 1)
  const apiVersion = group === 'gw.dev' ? 'gw.dev/v1alpha1' : `${GATEWAY_API}/v1`
  kube.store.create(resource, { apiVersion, kind, metadata: { name, namespace: 'shop' }, spec })
}

function makeAll(target: number, tokenPort: number): void {
  const secretRef = { name: 'credentials' }
  const backendRef = { group: 'gw.dev', kind: 'GwBackend', name: 'tokens' }
  const clientAuth = { clientId: 'gateway', method: 'ClientSecretPost', secretRef }
  const auth: Record<Kind, object> = {
    key: { secretRef: { ...secretRef, key: 'key' } },
    more: {
      credentials: [{ secretRef: { ...secretRef, key: 'more' }, location: { queryParameter: { name: 'api_key' } } }],
    },
    aws: { cloudA: { secretRef, region: 'eu-west-1', serviceName: 'execute-api' } },
    exchange: {
      oauthTokenExchange: {
        backendRef,
        clientAuth,
      },
    },
    cross: {
      crossAppAccess: {
        identityProvider: { backendRef, path: '/identity', clientAuth },
        resourceAuthorizationServer: { backendRef, path: '/application', clientAuth },
        audience: 'https://app.test',
      },
    },
  }
  make(`gateways.${GATEWAY_API}`, 'Gateway', 'web', {
    gatewayClassName: 'gw',
    listeners: [{ name: 'http', port, protocol: 'HTTP' }],
  })
  make('gwbackends.gw.dev', 'GwBackend', 'tokens', { static: { host: '127.0.0.1', port: tokenPort } })
  for (const kind of KINDS) {
    make('gwbackends.gw.dev', 'GwBackend', kind, {
      static: { host: '127.0.0.1', port: target },
      policies: { auth: auth[kind] },
    })
    make(`httproutes.${GATEWAY_API}`, 'HTTPRoute', kind, {
      parentRefs: [{ name: 'web' }],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: `/${kind}` } }],
          backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: kind }],
        },
      ],
    })
  }
}

const ask = async (kind: Kind): Promise<number> => {
  const response = await fetch(`http://127.0.0.1:${port}/${kind}`, { headers: { authorization: 'Bearer of-client' } })
  await response.arrayBuffer()
  return response.status
}

/** False while nothing listens. */
const isServed = async (kind: Kind): Promise<boolean> => {
  try {
    return (await ask(kind)) === 200
  } catch {
    return false
  }
}

it('takes effect without a restart and without a failed request', { tags: ['full'] }, async () => {
  for (const kind of KINDS) await until(`${kind} is served`, () => isServed(kind))
  for (const kind of KINDS) expect(new Set(seen[kind])).toEqual(new Set(['old']))
  const failures: string[] = []
  const sending = new AbortController()
  const load = KINDS.map(async (kind) => {
    while (!sending.signal.aborted) {
      const status = await ask(kind)
      if (status !== 200) failures.push(`${kind} ${status}`)
      await delay(5)
    }
  })
  kube.store.apply('secrets', secretOf('new') as never, 'user') // an object of Kubernetes
  for (const kind of KINDS) await until(`${kind} has the new credential`, () => seen[kind].includes('new'))
  const counts = KINDS.map((kind) => seen[kind].length)
  await until('more requests', () => KINDS.every((kind, i) => seen[kind].length > (counts[i] ?? 0) + 20))
  sending.abort()
  await Promise.all(load)
  expect(failures).toEqual([])
  for (const kind of KINDS) expect(new Set(seen[kind].slice(-10))).toEqual(new Set(['new']))
})
