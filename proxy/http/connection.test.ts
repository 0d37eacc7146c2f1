// Time limits of one connection, with the sweep called by hand; and bugs behind the seam.
import { once } from 'node:events'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Exchange } from '../exchange/exchange.ts'
import { ServerConnection } from './connection.ts'
import { DEFAULT_LIMITS, type RequestHandler } from './handler.ts'
import { HttpResponse } from '../message/message.ts'
import { portOf, RawClient, settled, startProxy, until } from './server.testing.ts'
import { Transport } from '../socket/transport.ts'
import { WriteStall } from '../socket/write-stall.ts'

const open: { close(): unknown }[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

async function pair(
  handle: (exchange: Exchange, respond: (exchange: Exchange) => void) => void,
): Promise<{ connection: ServerConnection; client: RawClient; finished: boolean[] }> {
  const finished: boolean[] = []
  const handler: RequestHandler = {
    limits: DEFAULT_LIMITS,
    handle,
    finished: (_exchange, isComplete) => void finished.push(isComplete),
    transferred() {},
    refused() {},
  }
  const listener = net.createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const [client, [socket]] = (await Promise.all([
    RawClient.connect(portOf(listener)),
    once(listener, 'connection'),
  ])) as [RawClient, [net.Socket]]
  const owner = {
    isDraining: false,
    http2: undefined,
    requestStarted() {},
    requestFinished() {},
    connectionClosed() {},
  }
  const facts = { sourceAddress: '', sourcePort: 0, localAddress: '', localPort: 0, isTls: false, sni: undefined }
  const connection = new ServerConnection({
    owner,
    slot: { current: handler },
    facts,
    open: (user) => Transport.ofSocket(socket, user),
  })
  open.push(listener, { close: () => socket.destroy() }, { close: () => client.socket.destroy() })
  return { connection, client, finished }
}

const SECOND = 1000

describe('time limits', () => {
  it('a head that has begun must be complete within 30 s though connections may idle for minutes', async () => {
    const { connection, client } = await pair(() => {})
    connection.sweep(1)
    connection.sweep(1 + 31 * SECOND)
    client.send('GET / HT')
    await settled(() => connection.bufferedBytes)
    connection.sweep(100 * SECOND)
    // More bytes do not count as progress.
    client.send('TP/1.1\r\nx')
    await settled(() => connection.bufferedBytes)
    connection.sweep(129 * SECOND)
    expect(client.isEnded).toBe(false)
    connection.sweep(130 * SECOND)
    expect(await client.ends()).toContain('HTTP/1.1 408 ')
  })

  it('a client that takes nothing for 60 s is dropped; one that takes a little is not', async () => {
    const { connection, client, finished } = await pair((exchange, respond) => {
      exchange.response = HttpResponse.local(200, 'x'.repeat(64 * 1024 * 1024))
      respond(exchange)
    })
    client.socket.pause()
    client.send(GET)
    await until(() => connection.bufferedBytes > 0)
    await settled(() => connection.bufferedBytes)
    connection.sweep(SECOND)
    connection.sweep(59 * SECOND)
    const before = client.bytes
    client.socket.resume()
    await until(() => client.bytes > before + 8 * 1024 * 1024)
    client.socket.pause()
    await settled(() => client.bytes)
    connection.sweep(120 * SECOND)
    expect(finished).toEqual([])
    connection.sweep(179 * SECOND)
    expect(finished).toEqual([])
    connection.sweep(180 * SECOND)
    await until(() => finished.length === 1)
    expect(finished).toEqual([false])
  })

  it('a client that keeps its side open after the last response is dropped', async () => {
    const { connection, client } = await pair((exchange, respond) => {
      exchange.response = HttpResponse.local(200, 'bye')
      respond(exchange)
    })
    client.send('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    await client.sees('bye')
    await client.ends()
    connection.sweep(SECOND)
    client.send('more')
    connection.sweep(3 * SECOND)
    await until(() => client.isClosed || client.socket.writable)
    client.send('more')
    await until(() => client.isClosed)
    expect(client.text.split('HTTP/1.1').length).toBe(2)
  })
})

describe('WriteStall', () => {
  it('is overdue 60 s after the last progress while bytes wait, never when none do', () => {
    const transport = { writableLength: 0, flushedBytes: 0 }
    const stall = new WriteStall()
    // Only these two are read of a transport.
    const isOverdue = (nowMs: number): boolean => stall.isOverdue(transport as unknown as Transport, nowMs)
    expect([isOverdue(1000), isOverdue(500_000)]).toEqual([false, false])
    transport.writableLength = 10
    expect([isOverdue(501_000), isOverdue(560_999), isOverdue(561_000)]).toEqual([false, false, true])
    transport.flushedBytes = 1
    expect([isOverdue(562_000), isOverdue(621_999), isOverdue(622_000)]).toEqual([false, false, true])
    transport.writableLength = 0
    expect(isOverdue(900_000)).toBe(false)
  })

  it('a backend that stops reading costs the call a 504', async () => {
    const backend = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.pause()
    })
    backend.listen(0, '127.0.0.1')
    await once(backend, 'listening')
    const proxy = await startProxy(portOf(backend))
    open.push(proxy, backend)
    const client = await proxy.connect()
    client.send('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 268435456\r\n\r\n')
    const block = Buffer.alloc(1024 * 1024)
    for (let i = 0; i < 256; i++) client.socket.write(block)
    await settled(() => client.socket.writableLength)
    const now = performance.now()
    const { client: upstream } = proxy
    if (!('sweep' in upstream) || typeof upstream.sweep !== 'function') throw new Error('no sweep')
    upstream.sweep(now + SECOND)
    upstream.sweep(now + 61 * SECOND)
    await client.sees('HTTP/1.1 504')
    expect(client.text).toContain('upstream call timeout')
  })
})

describe('bugs behind the seam', () => {
  it('a handler that throws costs one request', async () => {
    const { client, finished } = await pair(() => {
      throw new Error('bug')
    })
    client.send(GET)
    await client.sees('HTTP/1.1 503')
    expect(client.text).not.toContain('bug')
    client.send(GET)
    await until(() => client.text.split('HTTP/1.1 503').length === 3)
    expect(finished).toEqual([true, true])
  })

  it('a body that is forwarded twice is a 503, not a crash', async () => {
    const backend = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', () => socket.write('HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n'))
    })
    backend.listen(0, '127.0.0.1')
    await once(backend, 'listening')
    const proxy = await startProxy(portOf(backend), {
      handle(exchange, respond, own) {
        own.client.forward(exchange, own.target, 'a', () => {
          own.client.forward(exchange, own.target, 'a', respond)
        })
      },
    })
    open.push(proxy, backend)
    const client = await proxy.connect()
    client.send('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc')
    await client.sees('HTTP/1.1 503')
    expect(proxy.finished[0]?.exchange.errorDetail).toBe('the request body was already read')
  })
})
