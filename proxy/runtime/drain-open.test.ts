// A proxy that stops while connections of every kind are open: it ends at the end of the drain time whatever its
// clients and backends do, also where minimum and maximum are 0 or equal, and no connection stays open.
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import { afterEach, describe, expect } from 'vitest'
import { testProxy } from '#proxy/main.testing.ts'
import { listeningUntil } from '#test/ports.ts'
import { firstOf } from '#test/run/table.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

const HANDSHAKE =
  'host: a\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n' +
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

/** Switches protocols and stays; answers `/slow` with a head and nothing more; answers nothing else. */
async function backend(): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = []
  const server = http.createServer((request, response) => {
    seen.push(request.url ?? '')
    if (request.url === '/slow') response.writeHead(200).write('begun')
  })
  server.on('upgrade', (request, socket) => {
    seen.push(request.url ?? '')
    socket.on('error', () => {})
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
        'sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
    )
    stops.push(() => socket.destroy())
  })
  stops.push(() => server.closeAllConnections())
  return { port: await listeningUntil(stops, server), seen }
}

const ARRIVING = ['/body', '/chunked', '/h2-body', '/h2-silent', '/h2-ws', '/silent', '/slow', '/ws']

describe('the end of the drain time', () => {
  firstOf(2)([
    [0, 0],
    [1500, 1500],
    [0, 1500],
    [1, 1],
    [1500, 0],
  ])('comes with a minimum of %i ms and a maximum of %i ms', async (minMs, maxMs) => {
    const { port, seen } = await backend()
    const gateway = await testProxy({
      routes: [
        {
          name: 'r',
          prefix: '/',
          backend: { static: { host: '127.0.0.1', port } },
          backendInline: { http: { version: 'HTTP1' } },
        },
      ],
      settings: { drain: { minMs, maxMs } },
    })
    let isStopped = false
    stops.push(() => (isStopped ? undefined : gateway.stop()))
    const closed: Record<string, boolean> = {}
    const open = (name: string, text: string): void => {
      const socket = net.connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true })
      closed[name] = false
      socket.on('error', () => {})
      socket.on('close', () => (closed[name] = true))
      // A client that does not care for the end of the other side.
      socket.on('end', () => setTimeout(() => socket.destroy(), 10))
      socket.resume()
      socket.write(text)
      stops.push(() => socket.destroy())
    }
    open('idle', '')
    open('head', 'GET / HTTP/1.1\r\nho')
    open('body', 'POST /body HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\nabc')
    open('chunked body', 'POST /chunked HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n')
    open('silent backend', 'GET /silent HTTP/1.1\r\nhost: a\r\n\r\n')
    open('slow response', 'GET /slow HTTP/1.1\r\nhost: a\r\n\r\n')
    open('WebSocket', `GET /ws HTTP/1.1\r\n${HANDSHAKE}`)
    const session = http2.connect(`http://127.0.0.1:${gateway.port}`)
    closed['http2'] = false
    session.on('error', () => {})
    session.on('close', () => (closed['http2'] = true))
    stops.push(() => session.destroy())
    await once(session, 'remoteSettings')
    const streams = [
      session.request({ ':path': '/h2-silent' }),
      session.request({ ':path': '/slow' }),
      session.request({ ':method': 'POST', ':path': '/h2-body' }, { endStream: false }),
      session.request(
        { ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/h2-ws', ':scheme': 'http', ':authority': 'a' },
        { endStream: false },
      ),
    ]
    for (const stream of streams) stream.on('error', () => {}).resume()
    streams[2]?.write('abc')
    await expect.poll(() => [...new Set(seen)].toSorted(), { timeout: 4000 }).toEqual(ARRIVING)
    isStopped = true
    await gateway.proxy.stop()
    await expect.poll(() => Object.entries(closed).filter(([, isClosed]) => !isClosed), { timeout: 5000 }).toEqual([])
  })
})
