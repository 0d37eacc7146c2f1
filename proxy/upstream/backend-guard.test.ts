// What backends may lead to in a cluster: on every way out, checked is what is connected to.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ownAddresses } from '#api/net/address-guard.ts'
import { ADMITTED_ADDRESSES, DENIED_ADDRESSES } from '#api/net/address-table.testing.ts'
import { connectHttp2 } from './http2-connect.ts'
import { HeaderList } from '../message/headers.ts'
import { DeadlineWheel } from '../socket/deadlines.ts'
import type { DialOutcome } from './dial.ts'
import { dial } from './dial-tunnel.ts'
import { type BackendExceptions, backendGuard } from './backend-guard.ts'
import { createUpstreamClient } from './client.ts'
import { DnsCache } from './dns-cache.ts'
import type { UpstreamTarget } from './target.ts'

const NOTHING: BackendExceptions = { addresses: [], unixPaths: [] }
const OWN = '10.1.2.3'

const cleanup: (() => unknown)[] = []
afterEach(async () => {
  for (const each of cleanup.splice(0).reverse()) await each()
})

describe('backendGuard', () => {
  const guard = backendGuard(NOTHING, [OWN])

  it.each(DENIED_ADDRESSES)('%s is not allowed as a backend, except for the process itself', (address) => {
    expect(guard.admits(address, undefined)).toBe(false)
    expect(guard.admits(address, 'Service')).toBe(false)
    expect(guard.admits(address, 'Process')).toBe(true)
  })

  it.each(ADMITTED_ADDRESSES)('%s is one', (address) => {
    expect(guard.admits(address, undefined)).toBe(true)
    expect(guard.admits(address, 'Service')).toBe(true)
  })

  it('an address of this pod is one as an endpoint of a Service only', () => {
    expect([guard.admits(OWN, undefined), guard.admits(OWN, 'Service')]).toEqual([false, true])
  })

  it('takes the addresses of this pod from the system', () => {
    const own = ownAddresses()
    const admitted = own.filter((address) => backendGuard(NOTHING).admits(address, undefined))
    expect([own.length > 0, admitted]).toEqual([true, []])
  })

  it('admits the addresses that an administrator allows, of endpoints as well', () => {
    const open = backendGuard({ ...NOTHING, addresses: ['127.0.0.0/8', OWN] }, [OWN])
    for (const address of ['127.0.0.1', OWN])
      expect([open.admits(address, undefined), open.admits(address, 'Service')]).toEqual([true, true])
    expect(open.admits('169.254.169.254', undefined)).toBe(false)
  })

  it('admits no unix path unless an administrator allows it', () => {
    expect(guard.admitsPath('/run/app/app.sock')).toBe(false)
    const open = backendGuard({ ...NOTHING, unixPaths: ['/run/app/', '/run/one.sock'] }, [])
    const paths = ['/run/app/app.sock', '/run/app/deep/app.sock', '/run/one.sock']
    expect(paths.map((path) => open.admitsPath(path))).toEqual([true, true, true])
  })

  it.each([
    '/run/apps.sock',
    '/run/one.sock.other',
    '/run/app/../secret.sock',
    '/run/app/./app.sock',
    '/run/app//app.sock',
    'run/app/app.sock',
    '\0/run/app/app.sock',
    '',
  ])('%j is in no folder that is allowed', (path) => {
    const open = backendGuard({ ...NOTHING, unixPaths: ['/run/app', '/run/one.sock'] }, [])
    expect(open.admitsPath(path)).toBe(false)
  })
})

interface Served {
  readonly port: number
  readonly connections: () => number
}

/** A server of this host. */
async function serve(at: { readonly host: string } | { readonly path: string }): Promise<Served> {
  let connections = 0
  const server = http.createServer((_request, response) => response.end('inside'))
  server.on('connection', () => connections++)
  server.listen('path' in at ? at : { ...at, port: 0 })
  await once(server, 'listening')
  cleanup.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    connections: () => connections,
  }
}

function names(exceptions: BackendExceptions = NOTHING, address = '127.0.0.1'): DnsCache {
  return new DnsCache((_host, done) => done(undefined, [address]), undefined, backendGuard(exceptions, []))
}

function targetOf(parts: Partial<UpstreamTarget>): UpstreamTarget {
  const { host = '', port = 0, unixPath } = parts
  const key = JSON.stringify(parts)
  return { host, port, tls: undefined, connectTimeoutMs: 2000, ...parts, unixPath, key }
}

/** The answer, or why there is none: by HTTP/1.1 and HTTP/2. */
async function byHttp(target: UpstreamTarget, dns: DnsCache): Promise<string> {
  const client = createUpstreamClient({ dns })
  cleanup.push(() => client.close())
  const request = { method: 'GET', pathAndQuery: '/', authority: 'a', headers: new HeaderList(), body: undefined }
  try {
    const response = await client.send(target, request, { deadlineMs: performance.now() + 5000, signal: undefined })
    return (await response.body.collect(1000)).toString()
  } catch (error) {
    return String(error)
  }
}

/** As connections of TCP and TLS routes. */
async function byBytes(target: UpstreamTarget, dns: DnsCache): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<DialOutcome>()
  dial(target, dns, resolve)
  const outcome = await promise
  if (!('socket' in outcome)) return `${outcome.code}: ${JSON.stringify(outcome.detail)}`
  outcome.socket.destroy()
  return 'inside'
}

/** As calls to services that policies ask. */
function byGrpc(target: UpstreamTarget, dns: DnsCache): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  connectHttp2({
    target,
    dns,
    wheel: new DeadlineWheel(),
    opened: (session) => {
      session.destroy()
      resolve('inside')
    },
    failed: (detail, code) => resolve(`${code}: ${JSON.stringify(detail)}`),
  })
  return promise
}

const WAYS: Readonly<Record<string, (target: UpstreamTarget, dns: DnsCache) => Promise<string>>> = {
  'HTTP/1.1': byHttp,
  'HTTP/2': (target, dns) => byHttp({ ...target, httpVersion: 'HTTP2' }, dns),
  bytes: byBytes,
  gRPC: byGrpc,
}

describe.each(Object.entries(WAYS))('a backend by %s', (way, ask) => {
  it('that leads to this host by name or address is not connected to', async () => {
    const { port, connections } = await serve({ host: '127.0.0.1' })
    const named = await ask(targetOf({ host: 'inside.test', port }), names())
    expect(named).toContain(
      'address 127.0.0.1 of inside.test is not allowed for backends; allow it with GW_BACKEND_ALLOW_ADDRESSES',
    )
    const literal = await ask(targetOf({ host: '127.0.0.1', port }), names())
    expect(literal).toContain('address 127.0.0.1 is not allowed for backends')
    const endpoint = await ask(targetOf({ host: '127.0.0.1', port, namedBy: 'Service' }), names())
    expect(endpoint).toContain('address 127.0.0.1 is not allowed for backends')
    expect(connections()).toBe(0)
  })

  it('that leads to this host is reached where an administrator allows it', async () => {
    const { port, connections } = await serve({ host: '127.0.0.1' })
    await ask(targetOf({ host: 'inside.test', port }), names({ ...NOTHING, addresses: ['127.0.0.1'] }))
    expect(connections()).toBe(1)
    if (way !== 'gRPC' && way !== 'HTTP/2')
      expect(await ask(targetOf({ host: '127.0.0.1', port, namedBy: 'Process' }), names())).toBe('inside')
  })

  it('that is a unix socket is connected to only in a folder that an administrator allows', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-guard-'))
    cleanup.push(() => rmSync(folder, { recursive: true }))
    const unixPath = join(folder, 'a.sock')
    const { connections } = await serve({ path: unixPath })
    expect(await ask(targetOf({ unixPath }), names())).toContain(
      `unix path ${unixPath} is not allowed for backends; allow it with GW_BACKEND_ALLOW_UNIX_PATHS`,
    )
    expect(connections()).toBe(0)
    await ask(targetOf({ unixPath }), names({ ...NOTHING, unixPaths: [folder] }))
    expect(connections()).toBe(1)
  })

  it('behind a proxy: neither the proxy nor what it is asked for may be this host', async () => {
    const { port, connections } = await serve({ host: '127.0.0.1' })
    const target = targetOf({ host: 'proxy.test', port })
    const proxy = { target, other: () => undefined, begin: () => {}, end: () => {} }
    const tunnel = { key: 'way', way: { pick: () => proxy, headers: [] } }
    const toProxy = await ask(targetOf({ host: 'far.test', port: 80, tunnel }), names())
    expect(toProxy).toContain('address 127.0.0.1 of proxy.test is not allowed')
    const open = names({ ...NOTHING, addresses: ['127.0.0.1'] })
    for (const host of ['169.254.169.254', 'metadata.google.internal', '0x7f.2', '::1'])
      expect(await ask(targetOf({ host, port: 80, tunnel }), open)).toContain(`address ${host} is not allowed`)
    expect(connections()).toBe(0)
  })
})

it('a name that leads elsewhere later is checked again for each connection', async () => {
  const { port, connections } = await serve({ host: '127.0.0.1' })
  let nowMs = 0
  let address = '192.0.2.1'
  const dns = new DnsCache(
    (_host, done) => done(undefined, [address], 0),
    () => nowMs,
    backendGuard(NOTHING, []),
  )
  const target = targetOf({ host: 'rebind.test', port, connectTimeoutMs: 50 })
  expect(await byHttp(target, dns)).not.toContain('not allowed')
  address = '127.0.0.1'
  nowMs = 60_000
  expect(await byHttp(target, dns)).toContain('address 127.0.0.1 of rebind.test is not allowed')
  expect(connections()).toBe(0)
})

it('of several addresses those that are allowed are used', async () => {
  const { port, connections } = await serve({ host: '127.0.0.2' })
  const inside = net.createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
  await once(inside, 'listening')
  cleanup.push(() => inside.close())
  const guard = backendGuard({ ...NOTHING, addresses: ['127.0.0.2'] }, [])
  const dns = new DnsCache((_host, done) => done(undefined, ['127.0.0.1', '127.0.0.2']), undefined, guard)
  for (let count = 1; count <= 4; count++) {
    expect(await byHttp(targetOf({ host: `n${count}.test`, port }), dns)).toBe('inside')
    expect(connections()).toBe(count)
  }
})
