import { request } from 'node:http'
import { Effect, Exit, Scope } from 'effect'
import { Profile } from 'pprof-format'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LogLevels } from './log.ts'
import { createMetrics } from './metrics.ts'
import { type ServerPorts, startServers } from './servers.ts'

const LOOPBACK = { host: '127.0.0.1', port: 0 }
let scope: Scope.Closeable
let ports: ServerPorts
let isReady = false

beforeEach(async () => {
  isReady = false
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
  }
  ports = await Effect.runPromise(startServers(parts).pipe(Scope.provide(scope)))
})

afterEach(() => Effect.runPromise(Scope.close(scope, Exit.void)))

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
