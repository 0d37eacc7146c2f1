// Both sides of the engine together: bodies in both directions, backpressure, broken peers, upgrades.
import { createHash } from 'node:crypto'
import http from 'node:http'
import { once } from 'node:events'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  portOf,
  type Proxy,
  type ProxyOptions,
  settled,
  startProxy,
  startUpstream,
  until,
  type Upstream,
} from './server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function start(
  onText: (socket: net.Socket, text: string, connection: number) => void,
  options: ProxyOptions & { isManual?: boolean } = {},
): Promise<{ proxy: Proxy; upstream: Upstream }> {
  const upstream = await startUpstream(onText, { isManual: options.isManual ?? false })
  const proxy = await startProxy(upstream.port, options)
  open.push(proxy, upstream)
  return { proxy, upstream }
}

const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
const MIB = 1024 * 1024

/** An upstream that answers each body with its digest and the framing it saw. */
async function digesting(): Promise<number> {
  const server = http.createServer((request, response) => {
    const hash = createHash('sha256')
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      hash.update(chunk)
      bytes += chunk.length
    })
    request.on('end', () => {
      response.end(`${bytes} ${hash.digest('hex')} ${request.headers['transfer-encoding'] ?? 'length'}`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({
    close() {
      server.closeAllConnections()
      server.close()
    },
  })
  return portOf(server)
}

function pattern(bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes)
  for (let i = 0; i < bytes; i += 4) buffer.writeUInt32LE((i * 2_654_435_761) >>> 0, i)
  return buffer
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

describe('bodies', () => {
  it.each([
    ['content-length', 64 * MIB],
    ['content-length', 65_536],
    ['content-length', 4],
    ['chunked', 8 * MIB],
    ['chunked', 4],
  ])('request with %s, %i bytes, arrives byte for byte', async (framing, size) => {
    const proxy = await startProxy(await digesting())
    open.push(proxy)
    const bytes = pattern(size)
    const request = http.request({ port: proxy.port, method: 'POST', agent: false })
    if (framing === 'content-length') request.setHeader('content-length', size)
    for (let at = 0; at < size; at += MIB) {
      if (!request.write(bytes.subarray(at, at + MIB))) await once(request, 'drain')
    }
    request.end()
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    let text = ''
    for await (const chunk of response) text += String(chunk)
    const isSmall = size <= 4
    expect(text.startsWith(`${size} ${digest(bytes)} `)).toBe(true)
    // A small chunked body may have become one with a length: both are right.
    if (!isSmall) expect(text.endsWith(framing === 'chunked' ? 'chunked' : 'length')).toBe(true)
  })

  it.each([
    ['content-length', 64 * MIB],
    ['chunked', 16 * MIB],
    ['close', 3 * MIB],
  ])('response with %s, %i bytes, arrives byte for byte', async (framing, size) => {
    const bytes = pattern(size)
    const { proxy } = await start((socket) => {
      if (framing === 'content-length') {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`)
        socket.write(bytes)
      } else if (framing === 'chunked') {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
        for (let at = 0; at < size; at += 100_000) {
          const part = bytes.subarray(at, at + 100_000)
          socket.write(`${part.length.toString(16).toUpperCase()};ext=1\r\n`)
          socket.write(part)
          socket.write('\r\n')
        }
        socket.write('0\r\nx-trailer: dropped\r\n\r\n')
      } else {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.end(bytes)
      }
    })
    const request = http.get({ port: proxy.port, agent: false })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    const hash = createHash('sha256')
    let got = 0
    for await (const chunk of response) {
      if (!Buffer.isBuffer(chunk)) throw new Error('not a buffer')
      hash.update(chunk)
      got += chunk.length
    }
    expect(got).toBe(size)
    expect(hash.digest('hex')).toBe(digest(bytes))
    expect(response.trailers).toEqual({})
    await until(() => proxy.finished.length === 1)
    expect(proxy.finished[0]?.exchange.responseBytes).toBe(size)
  })

  it('holds little for a client that does not read, and stops the backend', async () => {
    const total = 256 * MIB
    let sent = 0
    const { proxy, upstream } = await start((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`)
      const block = Buffer.alloc(65_536, 'x')
      const more = (): void => {
        while (sent < total) {
          sent += block.length
          if (!socket.write(block)) {
            socket.once('drain', more)
            return
          }
        }
      }
      more()
    })
    const client = await proxy.connect()
    client.socket.pause()
    client.send(GET)
    await until(() => proxy.server.bufferedBytes > 0)
    await settled(() => sent)
    expect(proxy.server.bufferedBytes).toBeLessThan(256 * 1024)
    expect(sent).toBeLessThan(64 * MIB)
    expect(upstream.sockets[0]?.writableLength).toBeGreaterThan(0)
    client.socket.resume()
    await until(() => client.bytes > total)
  })

  it('holds little for a backend that does not read, and stops the client', async () => {
    const { proxy, upstream } = await start(
      (socket) => {
        socket.pause()
      },
      { isManual: true },
    )
    const client = await proxy.connect()
    const total = 256 * MIB
    client.send(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${total}\r\n\r\n`)
    let sent = 0
    const block = Buffer.alloc(65_536, 'x')
    const more = (): void => {
      while (sent < total) {
        sent += block.length
        if (!client.socket.write(block)) {
          client.socket.once('drain', more)
          return
        }
      }
    }
    more()
    await until(() => upstream.sockets.length === 1)
    await settled(() => sent)
    expect(sent).toBeGreaterThan(MIB)
    expect(sent).toBeLessThan(64 * MIB)
    let got = 0
    upstream.sockets[0]?.on('data', (chunk: Buffer) => {
      got += chunk.length
    })
    upstream.sockets[0]?.resume()
    await until(() => got > total)
  })

  it('streams: each chunk of an event stream reaches the client before the next is sent', async () => {
    let socket: net.Socket | undefined
    const { proxy } = await start((own) => {
      socket = own
      own.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
    })
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('transfer-encoding: chunked\r\n\r\n')
    for (const word of ['one', 'two', 'three']) {
      socket?.write(`${word.length}\r\n${word}\r\n`)
      await client.sees(`\r\n${word}\r\n`)
    }
    socket?.write('0\r\n\r\n')
    await client.sees('\r\n0\r\n\r\n')
    expect(client.text.endsWith('three\r\n0\r\n\r\n')).toBe(true)
  })

  it('a response before the end of the request: delivered, both connections closed', async () => {
    const { proxy, upstream } = await start((socket) => {
      socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig')
    })
    const client = await proxy.connect()
    client.send(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n${'x'.repeat(20_000)}`)
    const text = await client.ends()
    expect(text).toContain('HTTP/1.1 413')
    expect(text).toContain('connection: close')
    expect(text.endsWith('big')).toBe(true)
    await until(() => upstream.sockets[0]?.readableEnded === true || upstream.sockets[0]?.destroyed === true)
    expect(proxy.client.idleConnections).toBe(0)
  })
})

describe('broken peers', () => {
  it.each([
    ['content-length', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    ['chunked', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ])('backend dies in a %s response: the client sees a cut message', async (framing, bytes) => {
    let socket: net.Socket | undefined
    const { proxy } = await start((own) => {
      socket = own
      own.write(bytes)
    })
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('abc')
    socket?.destroy()
    const text = await client.ends()
    if (framing === 'chunked') expect(text).not.toContain('0\r\n\r\n')
    else expect(text).toContain('content-length: 10')
    await until(() => proxy.finished.length === 1)
    expect(proxy.finished[0]?.isComplete).toBe(false)
  })

  it('bad chunks of a backend cut the response', async () => {
    const { proxy, upstream } = await start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n')
    })
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('abc')
    upstream.sockets[0]?.write('zz\r\n')
    const text = await client.ends()
    expect(text).not.toContain('0\r\n\r\n')
    expect(proxy.client.idleConnections).toBe(0)
  })

  it('a client that leaves in the middle of its body never completes it', async () => {
    const { proxy, upstream } = await start(() => {})
    const client = await proxy.connect()
    client.send('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n')
    await until(() => upstream.received().includes('abc'))
    client.socket.destroy()
    await until(() => upstream.sockets[0]?.readableEnded === true || upstream.sockets[0]?.destroyed === true)
    expect(upstream.received()).not.toContain('0\r\n\r\n')
    expect(proxy.finished.map((each) => each.isComplete)).toEqual([false])
    expect(proxy.client.openConnections).toBe(0)
  })

  it('a client that leaves in the middle of a response frees the backend', async () => {
    const { proxy, upstream } = await start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n')
    })
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('abc')
    client.socket.destroy()
    await until(() => upstream.sockets[0]?.readableEnded === true || upstream.sockets[0]?.destroyed === true)
    await until(() => proxy.server.activeRequests === 0)
    expect(proxy.client.openConnections).toBe(0)
  })
})

describe('upgrades', () => {
  const UPGRADE = 'GET /ws HTTP/1.1\r\nhost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n\r\n'
  const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nx-accept: 1\r\n\r\n'

  it('joins the sockets after a 101, early bytes of both sides included', async () => {
    const { proxy, upstream } = await start((socket, text) => {
      const end = text.indexOf('\r\n\r\n') + 4
      if (socket.bytesWritten === 0) socket.write(`${SWITCH}early`)
      const echo = text.slice(end + Math.max(0, socket.bytesWritten - SWITCH.length - 5))
      socket.write(echo)
    })
    const client = await proxy.connect()
    client.send(`${UPGRADE}first `)
    await client.sees('early')
    await client.sees('first ')
    client.send('second ')
    await client.sees('second ')
    expect(upstream.received()).toContain(
      'GET /ws HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    )
    expect(client.text).toContain('HTTP/1.1 101 Switching Protocols\r\nx-accept: 1\r\n')
    expect(client.text).toContain('connection: upgrade\r\nupgrade: websocket\r\n\r\n')
    client.socket.end()
    await client.ends()
    await until(() => proxy.finished.length === 1 && proxy.server.openConnections === 0)
    expect(proxy.finished[0]?.exchange.responseBytes).toBe('earlyfirst second '.length)
  })

  it('passes on half a close, and the rest of the other direction', async () => {
    const { proxy } = await start((socket) => {
      if (socket.bytesWritten > 0) return
      socket.write(SWITCH)
      socket.on('end', () => {
        socket.end('bye')
      })
    })
    const client = await proxy.connect()
    client.send(UPGRADE)
    await client.sees('upgrade: websocket')
    client.socket.end()
    expect((await client.ends()).endsWith('bye')).toBe(true)
    await until(() => proxy.server.openConnections === 0)
  })

  it.each([
    ['another protocol', 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n'],
    ['no protocol', 'HTTP/1.1 101 Switching\r\n\r\n'],
  ])('a 101 with %s is a 502', async (_name, response) => {
    const { proxy } = await start((socket) => {
      socket.write(response)
    })
    const client = await proxy.connect()
    client.send(UPGRADE)
    await client.sees('request upgrade failed')
    expect(client.text).toContain('HTTP/1.1 502')
  })

  it('a 101 without an upgrade request is a 502', async () => {
    const { proxy } = await start((socket) => {
      socket.write(SWITCH)
    })
    const client = await proxy.connect()
    client.send(GET)
    await client.sees('HTTP/1.1 502')
    expect(proxy.finished[0]?.exchange.reason).toBe('UpstreamFailure')
  })

  it('passes on a refusal, and the connection continues', async () => {
    const { proxy } = await start((socket) => {
      socket.write('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 2\r\n\r\nno')
    })
    const client = await proxy.connect()
    client.send(UPGRADE)
    await client.sees('HTTP/1.1 426')
    client.send(GET)
    await until(() => client.text.split('HTTP/1.1 426').length === 3)
    expect(proxy.server.openConnections).toBe(1)
  })

  it('CONNECT: a tunnel to the target', async () => {
    const { proxy } = await start(
      (socket) => {
        socket.write('server speaks first')
        socket.on('data', (chunk: Buffer) => {
          socket.write(chunk)
        })
      },
      {
        isManual: true,
        handle(exchange, respond, own) {
          own.client.tunnel(exchange, own.target, respond)
        },
      },
    )
    const client = await proxy.connect()
    client.send('CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n')
    await client.sees('server speaks first')
    client.send('ping')
    await client.sees('ping')
    expect(client.text.startsWith('HTTP/1.1 200 OK\r\n')).toBe(true)
    expect(client.text).not.toContain('content-length')
  })

  it('holds little for the slow end of a tunnel', async () => {
    let sent = 0
    const total = 256 * MIB
    const { proxy } = await start((socket) => {
      socket.write(SWITCH)
      const block = Buffer.alloc(65_536, 'x')
      const more = (): void => {
        while (sent < total) {
          sent += block.length
          if (!socket.write(block)) {
            socket.once('drain', more)
            return
          }
        }
      }
      more()
    })
    const client = await proxy.connect()
    client.socket.pause()
    client.send(UPGRADE)
    await until(() => proxy.server.bufferedBytes > 0)
    await settled(() => sent)
    expect(sent).toBeLessThan(64 * MIB)
    client.socket.resume()
    await until(() => client.bytes > total)
  })
})
