// Destinations that clients choose: what is checked is what is connected to, and their number is bounded.
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { addressGuard } from '#api/net/address-guard.ts'
import { DENIED_ADDRESSES } from '#api/net/address-table.testing.ts'
import type { DialOutcome } from './dial.ts'
import { dial } from './dial-tunnel.ts'
import { HeaderList } from '../message/headers.ts'
import { createUpstreamClient } from './client.ts'
import { DnsCache } from './dns-cache.ts'
import { dynamicForwarding } from './dynamic.ts'
import type { Lookup } from './lookup.ts'
import type { UpstreamClient, UpstreamTarget } from './target.ts'

const cleanup: (() => unknown)[] = []
afterEach(async () => {
  for (const each of cleanup.splice(0).reverse()) await each()
})

/** Serves on the loopback address given; counts requests. */
async function server(host: string, port = 0): Promise<{ port: number; hits: () => number }> {
  let hits = 0
  const one = http.createServer((_request, response) => {
    hits++
    response.end(host)
  })
  one.listen(port, host)
  await once(one, 'listening')
  cleanup.push(() => {
    one.closeAllConnections()
    one.close()
  })
  return { port: (one.address() as net.AddressInfo).port, hits: () => hits } // a listening TCP server has one
}

function targetOf(host: string, port: number, dns: DnsCache, extra: Partial<UpstreamTarget> = {}): UpstreamTarget {
  const guard = { dns, admits: addressGuard({ allowed: ['127.0.0.1'], own: [] }) }
  const key = `${host}:${port}|${extra.httpVersion ?? ''}`
  return { key, host, port, unixPath: undefined, tls: undefined, connectTimeoutMs: 2000, guard, ...extra }
}

async function ask(client: UpstreamClient, target: UpstreamTarget): Promise<string> {
  const request = {
    method: 'GET',
    pathAndQuery: '/',
    authority: target.host,
    headers: new HeaderList(),
    body: undefined,
  }
  const response = await client.send(target, request, { deadlineMs: performance.now() + 5000, signal: undefined })
  return (await response.body.collect(1000)).toString()
}

function clientOf(): UpstreamClient {
  const client = createUpstreamClient()
  cleanup.push(() => client.close())
  return client
}

describe('a name that resolves to', () => {
  it('an admitted address is reached, one that does not is not, also over HTTP/2 and as bytes', async () => {
    const denied = await server('127.0.0.2')
    const lookup: Lookup = (_host, done) => done(undefined, ['127.0.0.2', '169.254.169.254'])
    const dns = new DnsCache(lookup)
    const client = clientOf()
    const detail = /evil.test resolves to 127.0.0.2, 169.254.169.254|169.254.169.254, 127.0.0.2/
    await expect(ask(client, targetOf('evil.test', denied.port, dns))).rejects.toThrow(detail)
    await expect(ask(client, targetOf('evil.test', denied.port, dns, { httpVersion: 'HTTP2' }))).rejects.toThrow(detail)
    const { promise, resolve } = Promise.withResolvers<DialOutcome>()
    dial(targetOf('evil.test', denied.port, dns), dns, resolve)
    expect(await promise).toMatchObject({ code: 'destinationDenied' })
    expect(denied.hits()).toBe(0)
  })

  it('both: only the admitted one is tried', async () => {
    const admitted = await server('127.0.0.1')
    const denied = await server('127.0.0.2', admitted.port)
    const dns = new DnsCache((_host, done) => done(undefined, ['127.0.0.2', '127.0.0.1']))
    const client = clientOf()
    for (let i = 0; i < 4; i++) expect(await ask(client, targetOf(`n${i}.test`, admitted.port, dns))).toBe('127.0.0.1')
    expect([admitted.hits(), denied.hits()]).toEqual([4, 0])
  })

  it('another address every time is asked once: no name leads elsewhere between check and connection', async () => {
    const admitted = await server('127.0.0.1')
    const denied = await server('127.0.0.2', admitted.port)
    let lookups = 0
    const dns = new DnsCache((_host, done) => done(undefined, [lookups++ === 0 ? '127.0.0.1' : '127.0.0.2'], 0))
    const client = clientOf()
    expect(await ask(client, targetOf('rebind.test', admitted.port, dns))).toBe('127.0.0.1')
    expect([lookups, denied.hits()]).toEqual([1, 0])
  })

  it.each(['127.2', '2130706434', '0x7f.2', 'localhost', 'a.localhost', 'ip6-loopback', 'metadata.google.internal'])(
    'this host in disguise (%s) is rejected without a lookup',
    async (host) => {
      const asked: string[] = []
      const dns = new DnsCache((name, done) => {
        asked.push(name)
        done(undefined, ['192.0.2.1'])
      })
      const guard = { dns, admits: addressGuard({ allowed: [], own: [] }) }
      await expect(ask(clientOf(), targetOf(host, 80, dns, { guard }))).rejects.toThrow(/names this host/)
      expect(asked).toEqual([])
    },
  )

  it.each(DENIED_ADDRESSES)('%s is rejected as a destination', async (address) => {
    const dns = new DnsCache((_host, done) => done(undefined, [address]))
    const { guard } = dynamicForwarding([], { names: dns })
    await expect(ask(clientOf(), targetOf('evil.test', 80, dns, { guard }))).rejects.toThrow(/evil.test resolves to/)
  })
})

it('a time to live is kept within bounds', () => {
  let now = 0
  let lookups = 0
  const ttl = { ms: 0 }
  const lookup: Lookup = (_host, done) => {
    lookups++
    done(undefined, ['127.0.0.1'], ttl.ms)
  }
  const dns = new DnsCache(lookup, () => now)
  const resolve = (): void => dns.resolve('a.test', () => {})
  for (const at of [0, 4999, 5000]) {
    now = at
    resolve()
  }
  expect(lookups).toBe(2)
  ttl.ms = 1e9
  now = 10_000
  resolve()
  for (const at of [309_999, 310_000]) {
    now = at
    resolve()
  }
  expect(lookups).toBe(4)
})

it('names without an answer are bounded', () => {
  const dns = new DnsCache(() => {})
  const refused: string[] = []
  for (let i = 0; i < 4100; i++) {
    dns.resolve(`n${i}.test`, (_addresses, error) => refused.push(error?.message ?? ''))
  }
  expect(refused).toEqual(Array.from({ length: 4 }, () => 'too many names are being resolved'))
})

it('destinations at a time are bounded', { tags: ['full'] }, async () => {
  const silent = net.createServer((socket) => socket.on('error', () => {}).resume())
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as net.AddressInfo // a listening TCP server has one
  const sockets: net.Socket[] = []
  silent.on('connection', (socket) => sockets.push(socket))
  const dns = new DnsCache((_host, done) => done(undefined, ['127.0.0.1']))
  const { client } = dynamicForwarding([], { names: dns })
  cleanup.push(() => {
    client.close()
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const calls = Array.from({ length: 1030 }, (_, index) =>
    ask(client, targetOf(`n${index}.test`, port, dns)).catch((error: unknown) => String(error)),
  )
  const overloaded = await Promise.all(calls.slice(1024))
  for (const error of overloaded) expect(error).toContain('too many destinations')
  client.close()
  expect((await Promise.all(calls.slice(0, 1024))).filter((error) => error.includes('too many'))).toEqual([])
})
