// One client cannot take all connections to a backend: something is always left for the next one.
import { afterEach, describe, expect, it } from 'vitest'
import {
  answering,
  OK,
  type Proxy,
  type RawClient,
  startProxy,
  startUpstream,
  until,
  type Upstream,
} from '../http/server.testing.ts'
import { clientOf, ClientShares, mayTakeMore } from './client-shares.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

describe('clientOf', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['', ''],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['2001:db8::1:2:3:4:6', '2001:db8:0:1'],
    ['::1', '0:0:0:0'],
    ['fe80::', 'fe80:0:0:0'],
  ])('%s is %s', (address, client) => expect(clientOf(address)).toBe(client))
})

it('shares: a client alone gets three quarters, many together leave something', () => {
  const shares = new ClientShares()
  for (const [clients, used] of [
    [1, 3072],
    [2, 3510],
    [50, 4068],
  ] as const) {
    let free = 4096
    let hasTaken = true
    while (hasTaken) {
      hasTaken = false
      for (let i = 0; i < clients; i++) {
        const share = shares.of(`10.${clients}.0.${i}`)
        if (!mayTakeMore(share, free)) continue
        share.count++
        free--
        hasTaken = true
      }
    }
    expect(4096 - free).toBeGreaterThanOrEqual(used)
    expect(free).toBeGreaterThan(0)
    expect(mayTakeMore(shares.of('10.255.0.1'), free)).toBe(true)
  }
  shares.of('10.1.0.0').count = 0
  shares.sweep()
  expect(shares.of('10.50.0.1').count).toBeGreaterThan(0)
})

describe('connections to a backend', () => {
  const SLOW = 'GET /slow HTTP/1.1\r\nhost: a\r\n\r\n'
  const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
  /** Requests come from the address that they name. */
  const from = (address: string, request: string): string => request.replace('host: a', `host: a\r\nx-from: ${address}`)

  async function start(): Promise<{ proxy: Proxy; upstream: Upstream; ask: (request: string) => Promise<RawClient> }> {
    const upstream = await startUpstream((socket, text) => {
      if (text.includes('/slow') && !text.includes('GET / ')) return
      answering(OK)(socket, text)
    })
    const proxy = await startProxy(upstream.port, {
      client: { limits: { openPerTargetMax: 8 } },
      handle(exchange, respond, { client, target }) {
        const address = exchange.request.headers.get('x-from')
        if (address !== undefined) Object.defineProperty(exchange.connection, 'sourceAddress', { value: address })
        client.forward(exchange, target, 'a', respond)
      },
    })
    open.push(upstream, proxy)
    const ask = async (request: string): Promise<RawClient> => (await proxy.connect()).send(request)
    return { proxy, upstream, ask }
  }

  it('a client that holds many is refused before it has all; others are served, also again', async () => {
    const { proxy, upstream, ask } = await start()
    const clients: RawClient[] = []
    for (let i = 0; i < 10; i++) clients.push(await ask(from('10.0.0.1', SLOW)))
    await until(() => clients.filter(({ text }) => text.includes('HTTP/1.1 503 ')).length === 4)
    expect(proxy.finished[0]?.exchange.errorDetail).toContain('this client has too many connections')
    await until(() => upstream.sockets.length === 6)
    for (let i = 0; i < 3; i++) await (await ask(from('10.0.0.2', GET))).sees('ok')
    // The idle connection of the other one is not a way around.
    expect(proxy.client.idleConnections).toBe(1)
    await (await ask(from('10.0.0.1', GET))).sees('HTTP/1.1 503 ')
    for (const client of clients) client.socket.destroy()
    await until(() => proxy.client.openConnections === 1)
    await (await ask(from('10.0.0.1', GET))).sees('ok')
  })

  it('are given back, whatever becomes of the request', async () => {
    const { proxy, ask } = await start()
    for (let round = 0; round < 5; round++) {
      const clients: RawClient[] = []
      for (let i = 0; i < 6; i++) clients.push(await ask(from('10.0.0.1', i % 2 === 0 ? SLOW : GET)))
      await until(() => proxy.finished.length >= 3 + round * 6)
      for (const client of clients) client.socket.destroy()
      await until(() => proxy.server.activeRequests === 0 && proxy.finished.length === (round + 1) * 6)
    }
    expect(proxy.finished.filter(({ exchange }) => exchange.failure === 'overloaded')).toEqual([])
  })
})
