// A Secret with credentials of a cloud changes while clients send requests: from the API server over controller and
// proxy to the token endpoint. No request fails, and the new credential is used. Loopback only.
// @module-tag full
import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { AUTHORITY, CLIENT, granted, metadataOfIssuer, TENANT } from '#proxy/credentials/cloud-b/endpoints.testing.ts'
import { USER } from '#proxy/credentials/cloud-c/endpoints.testing.ts'
import { CloudEndpoints, type Seen } from '#proxy/credentials/cloud-endpoints.testing.ts'
import { ON_LOOPBACK } from '#proxy/main.testing.ts'
import { runProxy } from '#proxy/runtime/proxy.ts'
import { createRestartHistory } from '#proxy/runtime/restart-policy.ts'
import type { RunningProxy } from '#proxy/runtime/running-proxy.ts'
import { resolveSettings } from '#proxy/runtime/settings.ts'
import { configFor, type TestOperator, testOperator } from '../../operator/controllers/operator.testing.ts'
import { deliveryOf } from '../fakekube/delivery.ts'
import { FakeKube } from '../fakekube/server.ts'
import type { FakeObject } from '../fakekube/store.ts'
import { closeServer, freePort, listening } from '../ports.ts'
import { until } from '../wait.ts'

const GATEWAY_API = 'gateway.networking.k8s.io'
/** Requests that are under way at the same time. */
const CLIENTS = 4

interface Rotated {
  readonly auth: object
  /** Entries of the Secret with this credential. */
  readonly entries: (credential: string) => Readonly<Record<string, string>>
  /** The credential that a token endpoint got. */
  readonly credentialOf: (form: URLSearchParams) => string | null
}

const CLOUDS: Readonly<Record<string, Rotated>> = {
  cloudB: {
    auth: { cloudB: { secretRef: { name: 'cloud' } } },
    entries: (clientSecret) => ({ clientID: CLIENT, tenantID: TENANT, clientSecret }),
    credentialOf: (form) => form.get('client_secret'),
  },
  cloudC: {
    auth: { cloudC: { secretRef: { name: 'cloud' } } },
    entries: (refreshToken) => ({ 'credentials.json': JSON.stringify({ ...USER, refresh_token: refreshToken }) }),
    credentialOf: (form) => form.get('refresh_token'),
  },
}

let kube: FakeKube
let operator: TestOperator | undefined
let endpoints: CloudEndpoints
let backend: Server
let proxy: RunningProxy | undefined

beforeEach(async () => {
  kube = await FakeKube.start()
  endpoints = new CloudEndpoints()
  await endpoints.start()
  vi.stubEnv('GW_TEST_CLOUDS', endpoints.authority)
  backend = createServer((request, response) => response.end(request.headers.authorization ?? ''))
})

afterEach(async () => {
  await proxy?.stop({ isForced: true })
  await operator?.stop()
  await endpoints.stop()
  await kube.stop()
  closeServer(backend)
  vi.unstubAllEnvs()
})

function make(resource: string, apiVersion: string, kind: string, spec: object): void {
  kube.store.create(resource, { apiVersion, kind, metadata: { name: 'cloud', namespace: 'shop' }, ...spec })
}

function secret(entries: Readonly<Record<string, string>>): FakeObject {
  const data = Object.entries(entries).map(([name, text]) => [name, Buffer.from(text).toString('base64')])
  const metadata = { name: 'cloud', namespace: 'shop' }
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: Object.fromEntries(data) }
}

async function start(port: number, auth: object): Promise<RunningProxy> {
  kube.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const listeners = [{ name: 'http', port, protocol: 'HTTP' }]
  make(`gateways.${GATEWAY_API}`, `${GATEWAY_API}/v1`, 'Gateway', { spec: { gatewayClassName: 'gw', listeners } })
  const rules = [{ backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'cloud' }] }]
  make(`httproutes.${GATEWAY_API}`, `${GATEWAY_API}/v1`, 'HTTPRoute', {
    spec: { parentRefs: [{ name: 'cloud' }], rules },
  })
  const address = { host: '127.0.0.1', port: await listening(backend) }
  make('gwbackends.gw.dev', 'gw.dev/v1alpha1', 'GwBackend', { spec: { static: address, policies: { auth } } })
  operator = await testOperator({ config: configFor(kube.url) })
  const { settings } = resolveSettings({ ...ON_LOOPBACK, workers: 2, accessLog: false, logLevel: 'error' }, process.env)
  return runProxy(settings, {
    modelTraits: [],
    workerEntry: new URL('./cloud-worker.testing.ts', import.meta.url),
    restartHistory: createRestartHistory,
  })
}

/** Applies the delivery as soon as it has the credential. */
async function follow(running: RunningProxy, credential: string): Promise<void> {
  await until('the delivery', async () => {
    const { config, secrets } = deliveryOf(kube.store, 'shop', 'cloud') ?? {}
    if (config === undefined || secrets === undefined) return false
    if (!JSON.stringify(secrets).includes(credential)) return false
    const applied = await running.apply(config, secrets)
    if ('problem' in applied) throw new Error(applied.problem.message)
    return true
  })
}

it.each(Object.entries(CLOUDS))(
  'a new Secret for %s is used without a failed request',
  async (_, { auth, entries, credentialOf }) => {
    const answer = (seen: Seen) => granted(`token-of-${credentialOf(new URLSearchParams(seen.body))}`)
    metadataOfIssuer(endpoints)
    endpoints.on(`${AUTHORITY}/${TENANT}/oauth2/v2.0/token`, answer)
    endpoints.on('oauth2.googleapis.com/token', answer)
    kube.store.create('secrets', secret(entries('planted-old')))
    const port = await freePort()
    const running = (proxy = await start(port, auth))
    await follow(running, 'planted-old')
    const ask = async (): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${port}/`)
      return `${response.status} ${await response.text()}`
    }
    // The libraries of a cloud are loaded for the first token.
    await until('the first token', async () => (await ask()) === '200 Bearer token-of-planted-old')

    const answers = new Map<string, number>()
    const over = new AbortController()
    const client = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const text = await ask()
        answers.set(text, (answers.get(text) ?? 0) + 1)
      }
    }
    const clients = Array.from({ length: CLIENTS }, client)
    await until('requests', () => (answers.get('200 Bearer token-of-planted-old') ?? 0) > 50)
    kube.store.update('secrets', secret(entries('planted-new')), false)
    await follow(running, 'planted-new')
    await until('the new token', () => (answers.get('200 Bearer token-of-planted-new') ?? 0) > 50)
    over.abort()
    await Promise.all(clients)
    expect([...answers.keys()].toSorted()).toEqual([
      '200 Bearer token-of-planted-new',
      '200 Bearer token-of-planted-old',
    ])
    expect(await ask()).toBe('200 Bearer token-of-planted-new')
  },
)
