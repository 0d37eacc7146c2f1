// The operator fetches key sets, and again when a proxy meets tokens whose keys it does not have. The issuer listens on
// loopback, which a control plane is allowed only by its administrator.
import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keySetId, type UnknownKeys } from '#api/delivery/unknown-keys.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import { configFor, type TestOperator, testOperator } from '#operator/controllers/operator.testing.ts'
import { closeServer, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'

const GATEWAY_API = 'gateway.networking.k8s.io'
const STORED = 'app.kubernetes.io/component'

let idpPort: number
let issuer: Server
let asked: number
let kube: FakeKube
let operator: TestOperator

beforeEach(async () => {
  asked = 0
  issuer = createServer((_request, response) => {
    asked++
    response.end(JSON.stringify({ keys: [{ kid: String(asked), kty: 'oct', k: 'AA' }] }))
  })
  idpPort = await listening(issuer)
  kube = await FakeKube.withNamespaces('gw-system', 'shop')
  operator = await start({ GW_KEY_SET_ALLOW_ADDRESSES: '127.0.0.1' })
})

afterEach(async () => {
  await operator.stop()
  await kube.stop()
  closeServer(issuer)
})

const start = (environment: Readonly<Record<string, string>>): Promise<TestOperator> =>
  testOperator({ config: configFor(kube.url), environment })

const RESOURCES = {
  Gateway: ['gateways', `${GATEWAY_API}/v1`],
  GwBackend: ['gwbackends', 'gw.dev/v1alpha1'],
  GwPolicy: ['gwpolicies', 'gw.dev/v1alpha1'],
} as const

function make(kind: keyof typeof RESOURCES, name: string, spec: unknown): void {
  const [plural, apiVersion] = RESOURCES[kind]
  const object = { apiVersion, kind, metadata: { name, namespace: 'shop' }, spec }
  kube.store.create(`${plural}.${apiVersion.slice(0, apiVersion.indexOf('/'))}`, object)
}

function makeAll(): void {
  make('Gateway', 'web', {
    gatewayClassName: 'gw',
    listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
  })
  make('GwBackend', 'idp', { static: { host: '127.0.0.1', port: idpPort } })
  const backendRef = { group: 'gw.dev', kind: 'GwBackend', name: 'idp' }
  const provider = { issuer: 'https://idp.example', jwks: { remote: { jwksPath: '/keys', backendRef } } }
  make('GwPolicy', 'jwt', {
    targetRefs: [{ group: GATEWAY_API, kind: 'Gateway', name: 'web' }],
    traffic: { jwtAuthentication: { mode: 'Strict', providers: [provider] } },
  })
}

/** The requests whose answers are kept. */
function stored(): { requestKey: string; jwks: string }[] {
  return kube.store
    .list('configmaps')
    .filter(({ metadata }) => metadata.labels?.[STORED] === 'jwks-store')
    .map((object) => JSON.parse((object as { data?: Record<string, string> }).data?.['jwks-store'] ?? '{}'))
}

function say(byPod: Readonly<Record<string, UnknownKeys | undefined>>): void {
  const object = kube.store.get('configmaps', 'shop/web-acknowledgements')
  if (object === undefined) throw new Error('no acknowledgements')
  const word = { generation: 0, gatewayGeneration: 0, gatewayUid: '', revision: '', reads: 2 }
  const data = Object.fromEntries(
    Object.entries(byPod).map(([pod, unknownKeys]) => [pod, JSON.stringify({ ...word, unknownKeys })]),
  )
  kube.store.update('configmaps', { ...object, data }, false)
}

it('fetches a key set early when proxies miss keys of it', async () => {
  makeAll()
  await until('the keys', () => stored().length === 1)
  await until('acknowledgements', () => kube.store.get('configmaps', 'shop/web-acknowledgements') !== undefined)
  const id = keySetId(stored()[0]?.requestKey ?? '')
  say({ one: undefined })
  say({ one: { [id]: 1 } })
  await until('a second fetch', () => asked === 2)
  await until('newer keys', () => stored()[0]?.jwks.includes('"2"') === true)
  expect(stored()).toHaveLength(1)
})

it('asks no address of its own host unless its administrator allows it', async () => {
  await operator.stop()
  operator = await start({})
  makeAll()
  const refusal = 'address 127.0.0.1 is not allowed for key sets; allow it with GW_KEY_SET_ALLOW_ADDRESSES'
  await until('the refusal in the log', () => operator.log.some((line) => line.includes(refusal)))
  expect([asked, stored()]).toEqual([0, []])
})
