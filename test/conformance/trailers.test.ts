// Trailers through a `gw run`: raw HTTP/1.1 sockets and node:http2 on both sides.
import { connect as connectHttp2 } from 'node:http2'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RawClient, startUpstream, type Upstream } from '#proxy/http/server.testing.ts'
import { ask, type Http2Backend, startHttp2Backend } from '#proxy/http2/bind-server.testing.ts'
import { freePort } from '#test/ports.ts'
import { forwarding } from './suite/manifests.ts'
import { startSampleProxy, type SampleProxy } from './suite/process.ts'

const RESPONSE =
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nx-sum: abc\r\nset-cookie: no\r\n\r\n'
const REST =
  ' HTTP/1.1\r\nhost: a\r\nte: trailers\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 12\r\n\r\n'

let gateway: SampleProxy
let plain: Upstream
let http2: Http2Backend
let port: number
const seen: string[] = []

beforeAll(async () => {
  plain = await startUpstream((socket, text, at) => {
    seen[at] = text
    if (/\r\n0\r\n(?:.+\r\n)*\r\n$/.test(text)) socket.write(RESPONSE)
  })
  http2 = await startHttp2Backend((stream) => {
    stream.on('trailers', (trailers) => seen.push(`h2 ${String(trailers['x-sum'])}`))
    stream.resume()
    stream.once('end', () => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'abc' }))
      stream.end('body')
    })
  })
  port = await freePort()
  gateway = await startSampleProxy()
  const at = (backend: number, version: string): object => ({
    static: { host: '127.0.0.1', port: backend },
    policies: { http: { version } },
  })
  const backends = { http1: at(plain.port, 'HTTP1'), http2: at(http2.port, 'HTTP2') }
  await gateway.serve(forwarding({ port, backends }), port)
})
afterAll(async () => {
  await gateway.stop()
  await Promise.all([plain.close(), http2.close()])
})

it.each(['http1', 'http2'] as const)('HTTP/1.1 client, backend of %s', async (backend) => {
  seen.length = 0
  const client = await RawClient.connect(port)
  await client.send(`POST /${backend}${REST}`).sees('\r\n4\r\nbody\r\n0\r\nx-sum: abc\r\n\r\n')
  expect(seen.join('')).toMatch(backend === 'http1' ? /\r\n0\r\nx-sum: 12\r\n\r\n$/ : /^h2 12$/)
  client.socket.destroy()
})

it.each(['http1', 'http2'] as const)('HTTP/2 client, backend of %s', async (backend) => {
  seen.length = 0
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  const answer = await ask(session, { ':method': 'POST', ':path': `/${backend}` }, 'hi', { 'x-sum': '12' })
  expect([answer.body, Object.entries(answer.trailers ?? {})]).toEqual(['body', [['x-sum', 'abc']]])
  expect(seen.join('')).toMatch(backend === 'http1' ? /\r\n0\r\nx-sum: 12\r\n\r\n$/ : /^h2 12$/)
  session.destroy()
})
