// Trailers through a real proxy with its worker threads: raw HTTP/1.1 sockets and node:http2 on either side.
import { connect as connectHttp2 } from 'node:http2'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RawClient, startUpstream, type Upstream } from '#proxy/http/test-support.ts'
import { ask, type Http2Backend, startHttp2Backend } from '#proxy/http2/test-support.ts'
import { startTlsProxy, type TlsTestProxy } from '#proxy/tls/proxy.testing.ts'
import { freePort } from '#test/ports.ts'

const RESPONSE =
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nx-sum: abc\r\nset-cookie: no\r\n\r\n'
const REQUEST =
  'POST / HTTP/1.1\r\nhost: a\r\nte: trailers\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 12\r\n\r\n'

let gateway: TlsTestProxy
let plain: Upstream
let http2: Http2Backend
const ports = { http1: 0, http2: 0 }
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
  ports.http1 = await freePort()
  ports.http2 = await freePort()
  gateway = await startTlsProxy({
    listeners: [
      { name: 'one', port: ports.http1, protocol: 'HTTP', backends: [['one', 1]] },
      { name: 'two', port: ports.http2, protocol: 'HTTP', backends: [['two', 1]] },
    ],
    backends: {
      one: {
        static: { host: '127.0.0.1', port: plain.port },
        inlinePolicies: { http: { version: 'HTTP1' } },
      },
      two: {
        static: { host: '127.0.0.1', port: http2.port },
        inlinePolicies: { http: { version: 'HTTP2' } },
      },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await Promise.all([plain.close(), http2.close()])
})

it.each(['http1', 'http2'] as const)('HTTP/1.1 client, backend of %s', async (backend) => {
  seen.length = 0
  const client = await RawClient.connect(ports[backend])
  await client.send(REQUEST).sees('\r\n4\r\nbody\r\n0\r\nx-sum: abc\r\n\r\n')
  expect(seen.join('')).toMatch(backend === 'http1' ? /\r\n0\r\nx-sum: 12\r\n\r\n$/ : /^h2 12$/)
  client.socket.destroy()
})

it.each(['http1', 'http2'] as const)('HTTP/2 client, backend of %s', async (backend) => {
  seen.length = 0
  const session = connectHttp2(`http://127.0.0.1:${ports[backend]}`)
  const answer = await ask(session, { ':method': 'POST', ':path': '/' }, 'hi', { 'x-sum': '12' })
  expect([answer.body, Object.entries(answer.trailers ?? {})]).toEqual(['body', [['x-sum', 'abc']]])
  expect(seen.join('')).toMatch(backend === 'http1' ? /\r\n0\r\nx-sum: 12\r\n\r\n$/ : /^h2 12$/)
  session.destroy()
})
