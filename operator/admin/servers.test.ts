import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Effect, Exit, Scope } from 'effect'
import { Profile } from 'pprof-format'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ControllerOverview, GatewayDetail } from '#api/admin/controller-overview.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { LogLevels } from './log.ts'
import { createMetrics } from './metrics.ts'
import { type ServerPorts, startServers } from './servers.ts'

const DETAIL: GatewayDetail = {
  gateway: {
    key: 'shop/web',
    listeners: 1,
    routes: 2,
    backends: 0,
    policies: 0,
    addresses: [],
    proxies: [],
    revision: 'a',
    programmed: undefined,
  },
  conditions: [],
  problems: [],
}
const SET = [{ name: 'authorization', value: 'Bearer hunter2' }]
/** More than the server sends in one piece, and than a socket takes at once. */
const CONFIG: RenderedConfig = {
  ...emptyConfig(),
  binds: [{ key: '80/shop/web', port: 80 }],
  routes: Array.from({ length: 20_000 }, (_, i) => ({
    key: `shop/web.${i}`,
    name: { kind: 'HTTPRoute', namespace: 'shop', name: 'web' },
    hostnames: [],
    matches: [],
    backends: [],
    inlinePolicies: { requestHeaderModifier: { set: SET } },
  })),
}

const LOOPBACK = { host: '127.0.0.1', port: 0 }
let scope: Scope.Closeable
let ports: ServerPorts
let isReady = false
let overview: ControllerOverview | undefined
let folder: string

beforeEach(async () => {
  isReady = false
  overview = undefined
  folder = mkdtempSync(join(tmpdir(), 'gw-controller-ui-'))
  scope = Effect.runSync(Scope.make())
  const metrics = createMetrics({ hasRuntimeMetrics: false, build: { commit: 'abc', date: '2026-01-01' } })
  metrics.observer.run({ queue: 'publisher', key: 'shop/web', isSuccess: true, seconds: 0.01 })
  const parts = {
    settings: { health: LOOPBACK, metrics: LOOPBACK, admin: LOOPBACK },
    levels: new LogLevels('info'),
    metrics,
    isReady: () => isReady,
    pending: () => ['HTTPRoute'],
    snapshot: () => ({ Gateway: ['shop/web'] }),
    overview: () => overview,
    gateway: (key: string) => (key === 'shop/web' ? DETAIL : undefined),
    configuration: (key: string) => (key === 'shop/web' ? CONFIG : undefined),
    uiFolder: pathToFileURL(`${folder}/`),
  }
  ports = await Effect.runPromise(startServers(parts).pipe(Scope.provide(scope)))
})

afterEach(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true })
})

async function ask(port: number, path: string, options: RequestInit = {}): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, options)
  return `${response.status} ${await response.text()}`
}

describe('the servers of the operator', () => {
  it('are ready when everything was seen', async () => {
    expect(await ask(ports.health, '/readyz')).toBe('503 not synced: HTTPRoute\n')
    isReady = true
    expect(await ask(ports.health, '/readyz')).toBe('200 ready\n')
    expect(await ask(ports.health, '/')).toMatch(/^404/)
  })

  it('show metrics', async () => {
    const text = await ask(ports.metrics, '/metrics')
    expect(text).toContain(
      'gw_controller_reconciliations_total{controller="publisher",namespace="shop",name="web",result="success"} 1',
    )
    expect(text).toMatch(/gw_controller_build_info\{version="[^"]+"/)
  })

  it('have the files of the web UI, with a policy that allows only this server', async () => {
    expect(await ask(ports.admin, '/ui/')).toMatch(/^404 the web UI was not built/)
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'index.html'), '<p>page')
    writeFileSync(join(folder, 'assets/app.js'), 'run()')
    expect(await ask(ports.admin, '/ui')).toBe('200 <p>page')
    expect(await ask(ports.admin, '/ui/assets/app.js')).toBe('200 run()')
    const { headers } = await fetch(`http://127.0.0.1:${ports.admin}/ui/assets/app.js`)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(await ask(ports.admin, '/ui/../overview')).toMatch(/^503/)
    expect(await ask(ports.admin, '/ui/assets/other.js')).toMatch(/^404 not found/)
  })

  it('have an overview after the start', async () => {
    expect(await ask(ports.admin, '/overview')).toBe('503 the controller is starting\n')
    const totals = { gateways: 0, conditions: 0, problems: 0 }
    const lists = { gateways: [], conditions: [], problems: [] }
    overview = { version: '1', isLeading: true, pending: [], objects: {}, totals, ...lists }
    expect(await ask(ports.admin, '/overview')).toBe(`200 ${JSON.stringify(overview)}\n`)
  })

  it('have one Gateway with what concerns it', async () => {
    expect(await ask(ports.admin, '/gateway?name=shop/web')).toBe(`200 ${JSON.stringify(DETAIL)}\n`)
    expect(await ask(ports.admin, '/gateway?name=shop/other')).toMatch(/^404 this controller serves no Gateway/)
    expect(await ask(ports.admin, '/gateway')).toMatch(/^400 name a Gateway/)
  })

  it('have the translated configuration of a Gateway without credentials', async () => {
    const text = await ask(ports.admin, '/configuration?name=shop/web')
    expect(text).not.toContain('hunter2')
    const read = JSON.parse(text.replace(/^200 /, '')) as RenderedConfig
    expect(read.routes.map(({ key }) => key)).toEqual(CONFIG.routes.map(({ key }) => key))
    expect({ ...read, routes: [] }).toEqual({ ...CONFIG, routes: [] })
    expect(await ask(ports.admin, '/configuration?name=shop/other')).toMatch(/^404/)
    expect(await ask(ports.admin, '/configuration')).toMatch(/^400/)
  })

  it('survive a client that leaves while a configuration is sent', async () => {
    const left = new AbortController()
    const response = await fetch(`http://127.0.0.1:${ports.admin}/configuration?name=shop/web`, { signal: left.signal })
    await response.body?.getReader().read()
    left.abort()
    expect(await ask(ports.admin, '/version')).toMatch(/^200/)
  })

  it.each(['cross-site', 'same-site'])('reject requests that a browser sends from another site: %s', async (site) => {
    expect(await ask(ports.admin, '/overview', { headers: { 'sec-fetch-site': site } })).toMatch(/^403/)
    expect(await ask(ports.admin, '/ui', { headers: { 'sec-fetch-site': site } })).toMatch(/^403/)
  })

  it('accept requests of their own pages, and not of pages on other ports of this machine', async () => {
    const own = { origin: `http://127.0.0.1:${ports.admin}`, 'sec-fetch-site': 'same-origin' }
    expect(await ask(ports.admin, '/version', { headers: own })).toMatch(/^200/)
    expect(await ask(ports.admin, '/version', { headers: { origin: 'http://127.0.0.1:1' } })).toMatch(/^403/)
  })

  it('show and change log levels by POST only', async () => {
    expect(await ask(ports.admin, '/logging')).toMatch(/^405/)
    expect(await ask(ports.admin, '/logging', { method: 'POST' })).toContain('translator: info')
    expect(await ask(ports.admin, '/logging?translator=debug', { method: 'POST' })).toContain('translator: debug')
    expect(await ask(ports.admin, '/logging?translator=', { method: 'POST' })).toMatch(/^400/)
    expect(await ask(ports.admin, '/version')).toMatch(/^200 .*"version"/)
    expect(await ask(ports.admin, '/snapshots')).toBe('200 {"Gateway":["shop/web"]}\n')
  })

  it('profile the controller, one reader at a time', async () => {
    const cpu = fetch(`http://127.0.0.1:${ports.admin}/debug/pprof/profile?seconds=1&frequency=1000`)
    const heap = (): Promise<Response> => fetch(`http://127.0.0.1:${ports.admin}/debug/pprof/heap`)
    const early = await heap()
    const profile = await cpu
    expect([early.status, profile.status, profile.headers.get('content-type')]).toEqual([
      503,
      200,
      'application/octet-stream',
    ])
    const { stringTable, sample } = Profile.decode(new Uint8Array(await profile.arrayBuffer()))
    expect(stringTable.strings).toContain('nanoseconds')
    expect(sample.length).toBeGreaterThan(0)
    const inUse = Profile.decode(new Uint8Array(await (await heap()).arrayBuffer()))
    expect(inUse.stringTable.strings).toContain('inuse_space')
    expect(await ask(ports.admin, '/debug/pprof/heap', { method: 'POST' })).toMatch(/^405/)
    expect(await ask(ports.admin, '/debug/pprof/trace')).toMatch(/^404/)
    const origin = { headers: { origin: 'http://evil.example' } }
    expect(await ask(ports.admin, '/debug/pprof/heap', origin)).toMatch(/^403/)
  })

  it('refuse browsers of other origins and other host names', async () => {
    const origin = { method: 'POST', headers: { origin: 'http://evil.example' } }
    expect(await ask(ports.admin, '/logging', origin)).toMatch(/^403/)
    const status = await new Promise((resolve) => {
      request(
        { port: ports.admin, host: '127.0.0.1', path: '/version', headers: { host: 'evil.example' } },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      ).end()
    })
    expect(status).toBe(403)
  })
})
