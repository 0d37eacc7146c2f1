// `config.backend` of a standalone file through the whole process: what its connections to backends are, as the kernel
// and the backends see them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort, listening } from '#test/ports.ts'
import { ANY_PORTS, GwProcess, until } from './gw.ts'

const CALLS = 8
/** The ticks of `/proc/net/tcp` for each second. */
const TICKS = 100
/** `tr` of a connection whose next timer is a keepalive probe. */
const PROBING = '02'

let folder = ''
let gw: GwProcess | undefined
const servers: net.Server[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-connections-test-'))
})
afterEach(async () => {
  await gw?.stop()
  gw = undefined
  for (const server of servers.splice(0)) server.close()
  rmSync(folder, { recursive: true })
})

interface Backend {
  readonly port: number
  /** Connections that are open now. */
  readonly open: Set<net.Socket>
  /** Requests that wait for `answer`. */
  readonly waiting: (() => void)[]
}

/** A server that holds its answers back. */
async function startBackend(): Promise<Backend> {
  const open = new Set<net.Socket>()
  const waiting: (() => void)[] = []
  const server = createServer({ keepAlive: false }, (_, response) => void waiting.push(() => response.end('done')))
  server.keepAliveTimeout = 600_000
  server.on('connection', (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  servers.push(server)
  return { port: await listening(server), open, waiting }
}

async function start(backend: string, config: string, ...flags: readonly string[]): Promise<string> {
  const port = await freePort()
  const path = join(folder, 'gateway.yaml')
  const routes = `routes:\n  - backends:\n      - ${backend}\n`
  writeFileSync(path, `config:\n  backend: ${config}\ngateways: { default: { port: ${port} } }\n${routes}`)
  gw = new GwProcess(['run', '-f', path, ...ANY_PORTS, '--no-access-log', ...flags])
  await gw.says('gw: serving')
  return `http://127.0.0.1:${port}/`
}

/** So many requests at a time, each with a connection of its own to the backend; all answered. */
async function callAtOnce(url: string, count: number, { waiting }: Backend): Promise<void> {
  const calls = Array.from({ length: count }, async () => await (await fetch(url)).text())
  await until('all requests are at the backend', () => waiting.length === count)
  for (const answer of waiting.splice(0)) answer()
  expect(await Promise.all(calls)).toEqual(Array.from({ length: count }, () => 'done'))
}

interface Timer {
  readonly kind: string
  readonly seconds: number
}

/** The timer of the gateway's side of a connection to this port of the loopback. */
function timerTo(port: number): Timer {
  const peer = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, , remote, state, , timer = ''] = line.trim().split(/\s+/)
    const [kind = '', when = ''] = timer.split(':')
    if (remote === peer && state === '01') return { kind, seconds: Number.parseInt(when, 16) / TICKS }
  }
  throw new Error(`no connection to port ${port}`)
}

async function timerFor(policies: string, config: string): Promise<Timer> {
  const backend = await startBackend()
  const url = await start(`{ host: "127.0.0.1:${backend.port}", policies: ${policies} }`, config)
  await callAtOnce(url, 1, backend)
  return timerTo(backend.port)
}

describe.runIf(process.platform === 'linux')('config.backend.keepalives', () => {
  it('probes after three minutes by default', async () => {
    const { kind, seconds } = await timerFor('{}', '{}')
    expect(kind).toBe(PROBING)
    expect(seconds).toBeGreaterThan(150)
    expect(seconds).toBeLessThanOrEqual(180)
  })

  it('probes after its time', async () => {
    const { kind, seconds } = await timerFor('{}', '{ keepalives: { time: 1h } }')
    expect(kind).toBe(PROBING)
    expect(seconds).toBeGreaterThan(3500)
  })

  it('switches probes off', async () => {
    expect((await timerFor('{}', '{ keepalives: { enabled: false } }')).kind).not.toBe(PROBING)
  })

  it('is overridden by a policy that enables probes, which takes the other fields from it', async () => {
    const { kind, seconds } = await timerFor(
      '{ tcp: { keepalives: { retries: 2 } } }',
      '{ keepalives: { enabled: false, time: 1h } }',
    )
    expect(kind).toBe(PROBING)
    expect(seconds).toBeGreaterThan(3500)
  })

  it('is overridden by a policy that switches probes off', async () => {
    const { kind } = await timerFor('{ tcp: { keepalives: { enabled: false } } }', '{ keepalives: { time: 1h } }')
    expect(kind).not.toBe(PROBING)
  })
})

describe('config.backend', () => {
  it('poolMaxSize: the process keeps so many idle connections for an endpoint', async () => {
    const backend = await startBackend()
    const url = await start(`{ host: "127.0.0.1:${backend.port}" }`, '{ poolMaxSize: 3 }', '--workers', '1')
    await callAtOnce(url, CALLS, backend)
    await until('the surplus is closed', () => backend.open.size === 3)
    await callAtOnce(url, 3, backend)
    expect(backend.open.size).toBe(3)
  })

  it('poolMaxSize: workers share the number', async () => {
    const backend = await startBackend()
    const url = await start(`{ host: "127.0.0.1:${backend.port}" }`, '{ poolMaxSize: 1 }', '--workers', '2')
    await callAtOnce(url, CALLS * 4, backend)
    await until('the surplus is closed', () => backend.open.size <= 1)
    expect(backend.open.size).toBeLessThanOrEqual(1)
  })

  it('poolIdleTimeout: unused connections close', async () => {
    const backend = await startBackend()
    const url = await start(`{ host: "127.0.0.1:${backend.port}" }`, '{ poolIdleTimeout: 1s }')
    await callAtOnce(url, 2, backend)
    expect(backend.open.size).toBe(2)
    await until('both are closed', () => backend.open.size === 0)
  })

  it.each([
    ['{ connectTimeout: 300ms }', '{}'],
    ['{ connectTimeout: 1m }', '{ connectTimeout: 300ms }'],
  ])('connectTimeout: %s, with the policy tcp: %s, ends a handshake without an answer', async (config, tcp) => {
    const silent = net.createServer(() => undefined)
    servers.push(silent)
    const host = `127.0.0.1:${await listening(silent)}`
    const policies = `{ backendTLS: { insecure: true }, tcp: ${tcp} }`
    const url = await start(`{ host: "${host}", policies: ${policies} }`, config)
    const startMs = performance.now()
    expect((await fetch(url)).status).toBe(504)
    expect(performance.now() - startMs).toBeLessThan(5000)
  })
})
