// A client that does not send its body takes no connection to a backend; whoever may wait for the response does.
import { constants } from 'node:http2'
import { afterEach, describe, expect, it } from 'vitest'
import {
  answering,
  OK,
  type Proxy,
  settled,
  startProxy,
  startUpstream,
  until,
  type Upstream,
} from '../http/server.testing.ts'
import * as http2 from '../http2/bind-server.testing.ts'
import { SMALL_BODY_BYTES } from './await-body.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

async function start(): Promise<{ proxy: Proxy; upstream: Upstream }> {
  const upstream = await startUpstream(answering(OK))
  const proxy = await startProxy(upstream.port)
  open.push(upstream, proxy)
  return { proxy, upstream }
}

const post = (fields: string): string => `POST / HTTP/1.1\r\nhost: a\r\n${fields}\r\n`

describe('HTTP/1', () => {
  it.each([
    ['one byte of a small body', post('content-length: 2\r\n') + 'a'],
    [
      'all but the last byte of the largest small body',
      post(`content-length: ${SMALL_BODY_BYTES}\r\n`) + 'a'.repeat(65_535),
    ],
    ['nothing of a large body', post('content-length: 1000000\r\n')],
    ['nothing of a chunked body', post('transfer-encoding: chunked\r\n')],
    ['half a chunk size', `${post('transfer-encoding: chunked\r\n')}1`],
    ['nothing after 100-continue', post('content-length: 2\r\nexpect: 100-continue\r\n')],
  ])('%s takes no connection', async (_name, text) => {
    const { proxy, upstream } = await start()
    const clients = await Promise.all(Array.from({ length: 20 }, () => proxy.connect()))
    for (const client of clients) client.send(text)
    await until(() => proxy.handled.length === 20)
    const other = await proxy.connect()
    await other.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n').sees('ok')
    expect([upstream.sockets.length, proxy.client.openConnections]).toEqual([1, 1])
    for (const client of clients) client.socket.destroy()
    await until(() => proxy.finished.length === 21 && proxy.server.activeRequests === 0)
    expect(upstream.sockets.length).toBe(1)
  })

  it('continues after the rest has arrived, byte by byte, in order', async () => {
    const { proxy, upstream } = await start()
    const client = await proxy.connect()
    const body = Array.from({ length: 5000 }, (_, i) => String(i % 10)).join('')
    client.send(post(`content-length: ${body.length}\r\n`))
    for (let at = 0; at < body.length; at += 7) {
      client.send(body.slice(at, at + 7))
      if (at % 70 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await client.sees('ok')
    expect(upstream.received().endsWith(`\r\n\r\n${body}`)).toBe(true)
    expect(upstream.received()).toContain(`content-length: ${body.length}\r\n`)
  })

  it('asks for a body with 100-continue', async () => {
    const { proxy, upstream } = await start()
    const client = await proxy.connect()
    client.send(post('content-length: 2\r\nexpect: 100-continue\r\n'))
    await client.sees('100 Continue')
    await client.send('ab').sees('ok')
    expect(upstream.received().endsWith('\r\n\r\nab')).toBe(true)
  })

  it('passes on a large body from its first byte, a chunked one from its first chunk', async () => {
    const { proxy, upstream } = await start()
    const [large, chunked] = [await proxy.connect(), await proxy.connect()]
    large.send(`${post('content-length: 1000000\r\n')}a`)
    chunked.send(`${post('transfer-encoding: chunked\r\n')}1\r\nb\r\n`)
    await until(() => upstream.received().includes('\r\n\r\na') && upstream.received().includes('1\r\nb\r\n'))
    expect(upstream.sockets.length).toBe(2)
  })
})

describe('HTTP/2', () => {
  async function frames(): Promise<{ proxy: http2.Proxy; upstream: Upstream; client: http2.FrameClient }> {
    const upstream = await startUpstream(answering(OK))
    const proxy = await http2.startProxy(upstream.port, { target: { httpVersion: 'HTTP1' } })
    const client = await http2.FrameClient.connect(proxy.port)
    open.push(upstream, proxy, { close: () => client.socket.destroy() })
    return { proxy, upstream, client }
  }
  const withLength = (length: number): (readonly [string, string])[] => [
    ...http2.POST,
    ['content-length', String(length)],
  ]
  const { Data, Reset } = http2.FrameType

  it('part of a small body takes no connection, and continues after the rest has arrived', async () => {
    const { proxy, upstream, client } = await frames()
    client.headers(1, withLength(2), http2.END_HEADERS).write(http2.frame(Data, 0, 1, 'a'))
    await until(() => proxy.handled.length === 1)
    client.headers(3, http2.GET)
    await client.sees(Data, 3)
    expect(upstream.received()).not.toContain('POST')
    client.write(http2.frame(Data, http2.END_STREAM, 1, 'b'))
    await client.sees(Data, 1)
    expect(upstream.received().endsWith('content-length: 2\r\n\r\nab')).toBe(true)
  })

  it.each([
    ['at once', 0],
    ['later', 1],
  ])('content-length 0 and data %s: no backend sees the request', async (_name, pings) => {
    const { proxy, upstream, client } = await frames()
    client.headers(1, withLength(0), http2.END_HEADERS)
    if (pings > 0) {
      await until(() => proxy.handled.length === 1)
      await settled(() => upstream.received().length)
    }
    client.write(http2.frame(Data, 0, 1, 'GET /admin HTTP/1.1\r\n\r\n'))
    expect((await client.sees(Reset, 1)).payload.readUInt32BE(0)).toBe(constants.NGHTTP2_PROTOCOL_ERROR)
    await until(() => proxy.server.activeRequests === 0)
    expect([upstream.received(), upstream.sockets.length]).toEqual(['', 0])
  })

  it('content-length 0 and an empty end is a request', async () => {
    const { upstream, client } = await frames()
    client.headers(1, withLength(0), http2.END_HEADERS).write(http2.frame(Data, http2.END_STREAM, 1))
    await client.sees(Data, 1)
    expect(upstream.received()).toContain('content-length: 0\r\n\r\n')
  })

  it('a stream without a length is opened at once: its client may wait for the response', async () => {
    const { upstream, client } = await frames()
    client.headers(1, http2.POST, http2.END_HEADERS)
    await client.sees(Data, 1)
    expect(upstream.received()).toContain('transfer-encoding: chunked')
  })
})
