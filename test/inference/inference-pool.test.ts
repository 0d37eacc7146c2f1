// config/samples/inference end to end: operator, proxy, three model servers, and an endpoint picker behind TLS that
// selects a server by the model of the request.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { startProxy, type RunningProxy } from '#proxy/main.ts'
import {
  bodyOf,
  headers,
  piece,
  startProcessor,
  unchanged,
  type Processor,
  type Script,
} from '#proxy/policy/external/ext-proc/processor.testing.ts'
import { certificateFor } from '../certificates.ts'
import { send, type Got } from '../../proxy/policy/external/ext-proc/proxy.testing.ts'
import { deliveryOf } from '#test/fakekube/delivery.ts'
import { FakeKube } from '../fakekube/server.ts'
import type { FakeObject } from '../fakekube/store.ts'
import { configFor, testOperator, type TestOperator } from '../../operator/controllers/operator.testing.ts'
import { closeServer, freePort } from '../ports.ts'
import { ON_LOOPBACK } from '../../proxy/main.testing.ts'
import { until } from '../wait.ts'

const SAMPLE = join(import.meta.dirname, '../../config/samples/inference/inference-pool.yaml')
const NAMESPACE = 'inference'
const POOLS = 'inferencepools.inference.networking.k8s.io'
/** The model servers of the pool, by the model for which the picker selects them. All listen on one port. */
const SERVERS = { small: '127.0.0.1', medium: '127.0.0.2', large: '127.0.0.3' } as const
const RESOURCES: Readonly<Record<string, string>> = {
  GatewayClass: 'gatewayclasses.gateway.networking.k8s.io',
  Namespace: 'namespaces',
  Service: 'services',
  Gateway: 'gateways.gateway.networking.k8s.io',
  HTTPRoute: 'httproutes.gateway.networking.k8s.io',
  GwPolicy: 'gwpolicies.gw.dev',
  InferencePool: POOLS,
}

let kube: FakeKube
let operator: TestOperator
let proxy: RunningProxy
let picker: Processor
let url: string
let modelPort: number
const servers: Server[] = []

/** Waits for the whole body, then returns the endpoint of its model and the body. */
const byModel: Script = (request, talk) => {
  const { request: part } = request
  if (part.case === 'requestHeaders') return
  if (part.case !== 'requestBody') {
    const reply = unchanged(request)
    if (reply !== undefined) talk.reply(reply)
    return
  }
  if (!part.value.endOfStream) return
  const body = bodyOf(talk.seen, 'requestBody')
  const { model } = JSON.parse(body) as { model: keyof typeof SERVERS } // the tests send it
  const endpoint = `${SERVERS[model]}:${modelPort}`
  talk.reply(headers('requestHeaders', { 'x-gateway-destination-endpoint': endpoint }))
  talk.reply(piece('requestBody', Buffer.from(body), true))
}

beforeAll(async () => {
  modelPort = await freePort()
  for (const [name, host] of Object.entries(SERVERS)) servers.push(await modelServer(name, host))
  const { certificate, privateKey } = certificateFor({ commonName: 'picker' })
  picker = await startProcessor({ tls: { key: privateKey, certificate } })
  const listenerPort = await freePort()
  url = `http://127.0.0.1:${listenerPort}`
  kube = await FakeKube.start({ absent: [POOLS] })
  for (const object of sampleObjects(listenerPort)) kube.store.create(RESOURCES[object.kind] ?? '', object)
  for (const [name, ip] of Object.entries(SERVERS)) kube.store.create('pods', pod(name, ip))
  kube.store.create('endpointslices.discovery.k8s.io', pickerSlice())
  operator = await testOperator({ config: configFor(kube.url), environment: { GW_ENABLE_INFER_EXT: 'true' } })
  proxy = await startProxy({
    ...ON_LOOPBACK,
    accessLog: false,
    logLevel: 'error',
  })
})

afterAll(async () => {
  await proxy.stop({ isForced: true })
  await operator.stop()
  await kube.stop()
  picker.stop()
  for (const server of servers) closeServer(server)
})

async function modelServer(name: string, host: string): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => response.end(JSON.stringify({ name, body: Buffer.concat(chunks).toString('utf8') })))
  })
  server.listen(modelPort, host)
  await once(server, 'listening')
  return server
}

/** The manifests with the ports of this test. */
function sampleObjects(listenerPort: number): FakeObject[] {
  const text = readFileSync(SAMPLE, 'utf8').replace('port: 8080', `port: ${listenerPort}`)
  return parseAllDocuments(text.replace('number: 8000', `number: ${modelPort}`)).map(
    (document) => document.toJS() as FakeObject, // manifests of the repository
  )
}

function pod(name: string, podIP: string): FakeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, labels: { app: 'model-server' } },
    status: { podIP, conditions: [{ type: 'Ready', status: 'True' }] },
  }
}

/** The objects that a cluster creates for the Service of the picker. */
function pickerSlice(): FakeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'picker', namespace: NAMESPACE, labels: { 'kubernetes.io/service-name': 'endpoint-picker' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
    ports: [{ name: 'grpc', port: picker.port }],
  }
}

/** Waits until the delivery of the operator satisfies the condition, then applies it. */
async function follow(isThere: (text: string) => boolean): Promise<void> {
  await until('the delivery', async () => {
    const { config, secrets } = deliveryOf(kube.store, NAMESPACE, 'inference') ?? {}
    if (config === undefined || secrets === undefined) return false
    if (!isThere(JSON.stringify(config))) return false
    const applied = await proxy.apply(config, secrets)
    if ('problem' in applied) throw new Error(applied.problem.message)
    return true
  })
}

function ask(model: string): Promise<Got> {
  return send(`${url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ model, messages: [] }) })
}

function conditions(resource: string, name: string): string[] {
  const object = kube.store.get(resource, `${NAMESPACE}/${name}`) as
    | { status?: { parents?: { conditions: { type: string; status: string; reason: string }[] }[] } }
    | undefined // routes and pools have such a status
  const parents = object?.status?.parents ?? []
  return parents.flatMap((parent) => parent.conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`))
}

describe('the sample of an InferencePool', () => {
  it('is not used before its kind exists', async () => {
    expect.hasAssertions()
    await until('ready', () => operator.operator.isReady())
    const broken = ['Accepted=True Accepted', 'ResolvedRefs=False BackendNotFound']
    await until('status of the route', () => conditions(RESOURCES['HTTPRoute'] ?? '', 'chat').join() === broken.join())
    kube.serveResource(POOLS)
    const whole = ['Accepted=True Accepted', 'ResolvedRefs=True ResolvedRefs']
    await until('status of the pool', () => conditions(POOLS, 'models').join() === whole.join())
    await until('status of the route', () => conditions(RESOURCES['HTTPRoute'] ?? '', 'chat').join() === whole.join())
    expect(conditions(POOLS, 'models')).toEqual(whole)
  })

  it('sends requests to the server that the picker selects by the body', async () => {
    picker.script = byModel
    await follow((text) => text.includes(SERVERS.large))
    for (const model of Object.keys(SERVERS)) {
      const got = await ask(model)
      expect(got.status).toBe(200)
      const answer = JSON.parse(got.body) as { name: string; body: string } // modelServer writes it
      expect(answer).toEqual({ name: model, body: JSON.stringify({ model, messages: [] }) })
    }
  })

  it('sends no requests to a server that has left the pool', async () => {
    kube.store.delete('pods', `${NAMESPACE}/large`)
    await follow((text) => !text.includes(SERVERS.large))
    expect((await ask('large')).status).toBe(503)
    expect((await ask('small')).status).toBe(200)
  })

  it('rejects requests without a picker, unless the pool fails open; the status has the reason', async () => {
    kube.store.delete('services', `${NAMESPACE}/endpoint-picker`)
    await until('status of the pool', () =>
      conditions(POOLS, 'models').includes('ResolvedRefs=False InvalidExtensionRef'),
    )
    await follow((text) => text.includes('endpoint-picker') && text.includes('invalid'))
    expect((await ask('small')).status).toBe(500)
    const pool = kube.store.get(POOLS, `${NAMESPACE}/models`) as FakeObject & {
      spec: { endpointPickerRef: object }
    } // the one of the sample
    const endpointPickerRef = { ...pool.spec.endpointPickerRef, failureMode: 'FailOpen' }
    kube.store.update(POOLS, { ...pool, spec: { ...pool.spec, endpointPickerRef } }, false)
    await follow((text) => text.includes('FailOpen'))
    expect((await ask('small')).status).toBe(200)
  })

  it('removes the status entry when no route uses the pool', async () => {
    kube.store.delete(RESOURCES['HTTPRoute'] ?? '', `${NAMESPACE}/chat`)
    await until('status of the pool', () => conditions(POOLS, 'models').length === 0)
    expect(kube.store.get(POOLS, `${NAMESPACE}/models`)).toMatchObject({ status: { parents: [] } })
  })
})

describe('if InferencePools are not enabled', () => {
  it('neither they nor Pods are requested', async () => {
    const before = kube.requests.length
    const other = await testOperator({ config: configFor(kube.url), identity: 'other' })
    await until('ready', () => other.operator.isReady())
    await other.stop()
    const paths = kube.requests.slice(before).map(({ path }) => path)
    expect(paths.length).toBeGreaterThan(10)
    expect(operator.operator.cache.count('Pod')).toBe(2)
    expect(other.operator.cache.kinds()).not.toContain('Pod')
    expect(other.operator.cache.kinds()).not.toContain('InferencePool')
  })
})
