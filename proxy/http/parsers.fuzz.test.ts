// Arbitrary bytes against a live server: it never crashes, never hangs, never leaks a connection, and still serves
// others.
import { once } from 'node:events'
import http from 'node:http'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import { answering, OK, type Proxy, startProxy, startUpstream, until, type Upstream } from './server.testing.ts'

let upstream: Upstream
let proxy: Proxy
beforeAll(async () => {
  upstream = await startUpstream(answering(OK))
  proxy = await startProxy(upstream.port)
})
afterAll(async () => {
  proxy.close()
  await upstream.close()
})

const PIECES = [
  'GET / HTTP/1.1\r\n',
  'POST /a HTTP/1.1\r\n',
  'GET http://a/b HTTP/1.0\r\n',
  'host: a\r\n',
  'content-length: 5\r\n',
  'transfer-encoding: chunked\r\n',
  'connection: close\r\n',
  'connection: upgrade, x\r\nupgrade: websocket\r\n',
  'expect: 100-continue\r\n',
  'x: y\r\n',
  '\r\n',
  '\n',
  '\r',
  ' ',
  '\0',
  '5\r\nhello\r\n',
  '0\r\n\r\n',
  'ffffffff\r\n',
  'hello',
]

it('survives any bytes in any parts', async () => {
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...PIECES).map((text) => Buffer.from(text, 'latin1')) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(piece, { maxLength: 12 }), { maxLength: 3 }), async (writes) => {
      const client = await proxy.connect()
      for (const write of writes) {
        client.send(Buffer.concat(write))
        await new Promise((resolve) => {
          setImmediate(resolve)
        })
      }
      client.socket.end()
      await client.ends()
      client.socket.destroy()
    }),
    { numRuns: runs(400) },
  )
  await until(() => proxy.server.openConnections === 0, 'all connections closed')
  expect(proxy.server.activeRequests).toBe(0)
  expect(proxy.handled.length).toBe(proxy.finished.length)
  const client = await proxy.connect()
  client.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await client.sees('ok')
})

const RESPONSE_PIECES = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 204 No Content\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\n',
  'HTTP/1.0 200 OK\r\n',
  'content-length: 5\r\n',
  'transfer-encoding: chunked\r\n',
  'connection: close\r\n',
  'x: y\r\n',
  '\r\n',
  '\n',
  '\0',
  'hello',
  '5\r\nhello\r\n',
  '0\r\n\r\n',
]

/** A strict parser of another make judges what we send: `ok`, or the code of its error. */
async function codeSeenBy(port: number): Promise<string> {
  const request = http.get({ port, agent: false })
  try {
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    for await (const chunk of response) void chunk
    return 'ok'
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}

it('survives any answer of a backend, and passes on nothing malformed', async () => {
  let answers: Buffer[] = []
  const hostile = await startUpstream((socket) => {
    for (const answer of answers) socket.write(answer)
    socket.end()
  })
  const own = await startProxy(hostile.port)
  const piece = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...RESPONSE_PIECES).map((text) => Buffer.from(text, 'latin1')) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (parts) => {
      answers = parts
      expect(await codeSeenBy(own.port)).not.toMatch(/^HPE_/)
    }),
    { numRuns: runs(400) },
  )
  await until(() => own.server.openConnections === 0 && own.client.openConnections === own.client.idleConnections)
  expect(own.finished.length).toBe(own.handled.length)
  own.close()
  await hostile.close()
})
