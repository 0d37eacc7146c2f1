// Virtual models: each model that one of them chooses gets its own credential, and never that of another.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { stringify } from 'yaml'
import { loadSource } from '#cli/source.ts'
import type { CloudEndpoints } from '#proxy/credentials/cloud-endpoints.testing.ts'
import { startProxy, type RunningProxy } from '#proxy/main.ts'
import { ON_LOOPBACK } from '#proxy/main.testing.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { until } from '#test/wait.ts'
import { startClouds } from './clouds.ts'
import { service } from './places.ts'

const API = 'gateway.networking.k8s.io/v1'

/** What each model has, and what its server must get: the third has no credential. */
const MODELS = {
  first: { auth: { key: 'planted-first-key' }, gets: 'Bearer planted-first-key' },
  second: {
    auth: { cloudB: { managedIdentity: { clientId: 'c', objectId: '', resourceId: '' } } },
    gets: 'Bearer planted-azure-token',
  },
  third: { auth: undefined, gets: 'Bearer of-client' },
}
type Name = keyof typeof MODELS
const NAMES = Object.keys(MODELS) as Name[]

let folder: string
let clouds: CloudEndpoints
let servers: Server[]
let proxy: RunningProxy | undefined
let received: Record<Name, Set<unknown>>
let down: Set<Name>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-models-test-'))
  clouds = await startClouds(folder)
  received = { first: new Set(), second: new Set(), third: new Set() }
  down = new Set()
  servers = NAMES.map((name) =>
    createServer((request, response) => {
      received[name].add(request.headers.authorization)
      response.writeHead(down.has(name) ? 503 : 200, { 'content-type': 'application/json' })
      request.resume().on('end', () => response.end('{"choices": []}'))
    }),
  )
})

afterEach(async () => {
  await proxy?.stop({ isForced: true })
  await clouds.stop()
  vi.unstubAllEnvs()
  for (const one of servers) closeServer(one)
  rmSync(folder, { recursive: true })
})

const named = (name: string): object => ({ name, namespace: 'default' })

function model(name: string, spec: object): object {
  const fields = { parentRefs: [{ name: 'edge' }], ...spec }
  return { apiVersion: 'gw.dev/v1alpha1', kind: 'GwModel', metadata: named(name), spec: fields }
}

/** `virtualModel`: of the model `any`. */
async function serve(virtualModel: object): Promise<string> {
  const http = await freePort()
  const ports = await Promise.all(servers.map((one) => listening(one)))
  const health = { unhealthyCondition: 'response.code >= 500', eviction: { duration: '1h', consecutiveFailures: 1 } }
  const listener = {
    name: 'http',
    port: http,
    protocol: 'HTTP',
    allowedRoutes: { kinds: [{ group: 'gw.dev', kind: 'GwModel' }] },
  }
  const objects = [
    { apiVersion: API, kind: 'GatewayClass', metadata: { name: 'gw' }, spec: { controllerName: 'gw.dev/controller' } },
    {
      apiVersion: API,
      kind: 'Gateway',
      metadata: named('edge'),
      spec: { gatewayClassName: 'gw', listeners: [listener] },
    },
    ...NAMES.flatMap((name, index) => [
      ...service(name, ports[index] ?? 0),
      model(name, {
        provider: 'Custom',
        custom: { backendRef: { name, port: 80 }, formats: [{ type: 'Completions' }] },
        policies: { health, ...(MODELS[name].auth !== undefined && { auth: MODELS[name].auth }) },
      }),
    ]),
    model('any', { virtualModel }),
  ]
  const file = join(folder, 'manifests.yaml')
  writeFileSync(file, objects.map((object) => stringify(object)).join('---\n'))
  const source = await loadSource(file)
  if ('problem' in source || source.rendered === undefined) throw new Error(JSON.stringify(source).slice(0, 2000))
  expect(source.problems).toEqual([])
  proxy = await startProxy({ ...ON_LOOPBACK, accessLog: false, logLevel: 'error' })
  const applied = await proxy.apply(source.rendered.config, source.rendered.secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
  return `http://127.0.0.1:${http}/v1/chat/completions`
}

async function ask(url: string): Promise<number> {
  const headers = { authorization: 'Bearer of-client', 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: '{"model": "any", "messages": []}' })
  await response.arrayBuffer()
  return response.status
}

/** Of each model, the credentials that its server got. */
const got = (): object => Object.fromEntries(NAMES.map((name) => [name, [...received[name]]]))
const OWN = Object.fromEntries(NAMES.map((name) => [name, [MODELS[name].gets]]))

it('the next model of a failover gets its own credential', async () => {
  const targets = NAMES.map((name, priority) => ({ modelRef: { name }, priority }))
  const url = await serve({ failover: { targets } })
  for (const name of NAMES) {
    // The first token may take long on a busy machine.
    await until(`${name} has a request`, async () => {
      await ask(url)
      return received[name].size > 0
    })
    down.add(name)
  }
  expect(got()).toEqual(OWN)
})

it('each model of a choice by weight gets its own credential', async () => {
  const url = await serve({ weighted: { targets: NAMES.map((name) => ({ modelRef: { name }, weight: 1 })) } })
  await until('each has a request', async () => {
    await ask(url)
    return NAMES.every((name) => received[name].size > 0)
  })
  expect(got()).toEqual(OWN)
})
