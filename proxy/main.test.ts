// The proxy as it is shipped: real worker entry, a real backend behind it.
import { createServer } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunningProxy } from './main.ts'
import { startProxy } from './main.ts'
import { NO_SECRETS, freePort, relaying, until } from './runtime/config.testing.ts'
import { once, startLoad } from './runtime/load.testing.ts'

const LOOPBACK = { host: '127.0.0.1', port: 0 }
const OPTIONS = {
  workers: 2,
  listenAddress: '127.0.0.1',
  admin: LOOPBACK,
  stats: LOOPBACK,
  readiness: LOOPBACK,
  accessLog: false,
  logLevel: 'error',
} as const
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function start(environment = {}): Promise<RunningProxy> {
  const proxy = await startProxy(OPTIONS, environment)
  closers.push(() => proxy.stop({ isForced: true }))
  return proxy
}

async function backend(body: string): Promise<number> {
  const server = createServer((_request, response) => response.end(body))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  closers.push(() => server.close().closeAllConnections())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe('startProxy', () => {
  it('relays to a backend and counts it, over a change of backends under load', async () => {
    const proxy = await start()
    const port = await freePort()
    await proxy.apply(relaying([port], await backend('from a')), NO_SECRETS)
    const load = startLoad({ port, clients: 4, reconnects: true })
    await until('answers of the first backend', () => (load.result.answers.get('from a') ?? 0) > 50)
    await proxy.apply(relaying([port], await backend('from b')), NO_SECRETS)
    for (let i = 0; i < 4; i++) expect((await once(port)).body).toBe('from b')
    await until('answers of the second backend', () => (load.result.answers.get('from b') ?? 0) > 50)
    const { failures, answers } = await load.stop()
    expect(failures).toEqual([])
    expect([...answers.keys()]).toEqual(['from a', 'from b'])
    const metrics = await (await fetch(`http://127.0.0.1:${proxy.ports.stats}/metrics`)).text()
    const total = /^gw_requests_total\{.*reason="Upstream".*\} (\d+)$/m.exec(metrics)?.[1]
    expect(Number(total)).toBe(load.count() + 4)
    expect(metrics).toMatch(/^gw_upstream_call_duration_seconds_count\{kind="Primary",subtype="Http"\} [1-9]/m)
    expect(metrics).toMatch(/^gw_build_info\{tag="\d+\.\d+\.\d+"\} 1$/m)
  })

  it('refuses settings it cannot use', async () => {
    await expect(startProxy(OPTIONS, { GW_WORKER_THREADS: 'many' })).rejects.toThrow(
      'GW_WORKER_THREADS: the environment variable must be a positive whole number',
    )
  })
})
