// DATA frames of one byte: joined, in order, whole; a few at the beginning pass at once.
import { afterEach, expect, it } from 'vitest'
import { OK, startUpstream, until } from '../http/server.testing.ts'
import { SmallFrames } from './small-frames.ts'
import * as http2 from './bind-server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

it('passes on the first ones and large ones at once, holds others for the turn, keeps the order', async () => {
  const passed: string[] = []
  const frames = new SmallFrames((chunk) => passed.push(chunk.toString()))
  for (const letter of 'abcdefghijk') frames.take(Buffer.from(letter))
  expect(passed).toEqual('abcdefgh'.split(''))
  const large = 'x'.repeat(1024)
  frames.take(Buffer.from(large))
  // What is held goes out in two pieces: most of it is one.
  expect(passed.slice(8)).toEqual(['i', 'jk', large])
  frames.take(Buffer.from('l'))
  frames.take(Buffer.from('m'))
  await until(() => passed.length === 13)
  frames.take(Buffer.from('n'))
  frames.flush()
  frames.flush()
  expect(passed.slice(11)).toEqual(['l', 'm', 'n'])
})

it('of a client reach an HTTP/1.1 backend as few chunks, whole and in order', async () => {
  const upstream = await startUpstream((socket, text) => {
    if (text.endsWith('\r\n0\r\n\r\n')) socket.write(OK)
  })
  const proxy = await http2.startProxy(upstream.port, { target: { httpVersion: 'HTTP1' } })
  const client = await http2.FrameClient.connect(proxy.port)
  open.push(upstream, proxy, { close: () => client.socket.destroy() })
  const count = 20_000
  const digits = Array.from({ length: count }, (_, i) => String(i % 10))
  client.headers(1, http2.POST, http2.END_HEADERS)
  client.write(...digits.map((digit) => http2.frame(http2.FrameType.Data, 0, 1, digit)))
  client.write(http2.frame(http2.FrameType.Data, http2.END_STREAM, 1))
  await client.sees(http2.FrameType.Data, 1)
  const body = upstream.received().split('\r\n\r\n').slice(1).join('\r\n\r\n')
  const chunks = [...body.matchAll(/([0-9a-f]+)\r\n(\d*)\r\n/g)].map(([, , data = '']) => data)
  expect(chunks.join('')).toBe(digits.join(''))
  expect(chunks.length).toBeLessThan(count / 20)
})

it('of a backend reach the client as few frames, whole and in order', async () => {
  const count = 5000
  const backend = await http2.startHttp2Backend((stream) => {
    stream.respond({ ':status': 200 })
    for (let i = 0; i < count; i++) stream.write(String(i % 10))
    stream.end()
  })
  const proxy = await http2.startProxy(backend.port, { target: { httpVersion: 'HTTP2' } })
  const session = http2.connect(proxy.port)
  open.push(backend, proxy, session)
  const { body } = await http2.ask(session, { ':path': '/' })
  expect(body).toBe(Array.from({ length: count }, (_, i) => String(i % 10)).join(''))
})
