// Chunks of one byte, of clients and of backends: they cost bytes, and others are served meanwhile.
import { afterEach, expect, it } from 'vitest'
import { ChunkedDecoder, CHUNKS_PER_TURN } from './chunked.ts'
import { answering, OK, settled, startProxy, startUpstream } from './server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

/** Of 60 kB each. */
const PIECES_MAX = 4000
const TINY = '1\r\na\r\n'

it('chunks of one range are joined, large ones passed on as they are', () => {
  const pushed: string[] = []
  const target = {
    push: (buffer: Buffer, start: number, end: number) => pushed.push(buffer.toString('latin1', start, end)),
  }
  const decoder = new ChunkedDecoder()
  const large = 'x'.repeat(5000)
  const text = `1\r\na\r\n2;e=1\r\nbc\r\n14\r\n${'d'.repeat(20)}\r\n1388\r\n${large}\r\n1\r\ne\r\n1\r\nf\r\n0\r\n\r\n`
  const bytes = Buffer.from(text)
  expect(decoder.decode(bytes, { start: 0, end: bytes.length }, target)).toBe(bytes.length)
  expect([decoder.isDone, pushed]).toEqual([true, [`abc${'d'.repeat(20)}`, `${large}ef`]])
  expect([decoder.takeCount(), decoder.takeCount()]).toEqual([7, 0])
})

it('of a client reach the backend as few chunks, in order, with turns for others between', async () => {
  const upstream = await startUpstream((socket, text) => {
    if (text.includes('POST') && text.endsWith('0\r\n\r\n')) socket.write(OK)
    else if (text.includes('GET')) answering(OK)(socket, text)
  })
  const proxy = await startProxy(upstream.port)
  open.push(proxy, upstream)
  const flood = await proxy.connect()
  const count = 60 * CHUNKS_PER_TURN
  flood.send(`POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${TINY.repeat(count)}`)
  const other = await proxy.connect()
  await other.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n').sees('ok')
  await flood.send('0\r\n\r\n').sees('ok')
  const seen = upstream.received()
  expect(seen.match(/a/g)?.length).toBeGreaterThanOrEqual(count)
  expect(seen.match(/\r\n[0-9a-f]+\r\na/g)?.length).toBeLessThan(count / 50)
})

it('of a backend reach the client as few chunks, whole', async () => {
  const count = 20 * CHUNKS_PER_TURN
  const response = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${TINY.repeat(count)}0\r\n\r\n`
  const upstream = await startUpstream(answering(response))
  const proxy = await startProxy(upstream.port)
  open.push(proxy, upstream)
  const client = await proxy.connect()
  client.send('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  const text = await client.ends()
  const body = text.slice(text.indexOf('\r\n\r\n') + 4)
  expect(body.replaceAll(/[0-9a-f]+\r\n(a*)\r\n/g, '$1').match(/^a*/)?.[0]).toBe('a'.repeat(count))
  expect(body.split('\r\n').length).toBeLessThan(count / 50)
  expect(body.endsWith('\r\n0\r\n\r\n')).toBe(true)
})

it('a body that yields its turn stays paused when its backend is full', async () => {
  const upstream = await startUpstream((socket) => socket.pause(), { isManual: true })
  const proxy = await startProxy(upstream.port)
  open.push(proxy, upstream)
  const client = await proxy.connect()
  client.send('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n')
  const piece = TINY.repeat(10_000)
  let sent = 0
  await settled(() => {
    while (sent < PIECES_MAX && !client.socket.writableNeedDrain) {
      client.socket.write(piece)
      sent++
    }
    return sent
  })
  // What the sockets in between hold, and no more.
  expect(sent).toBeLessThan(PIECES_MAX)
  client.socket.destroy()
})
